import { expect, it } from "vitest";
import { emittedEventNames, subscribableEventNames } from "../config/event-names.ts";
import { claimsOf, isOutdated, subscriptionsCovering } from "./events.ts";

it("covers an event by its name and every name that precedes it by whole segments", () => {
  expect(subscriptionsCovering("user.update.email.create")).toEqual([
    "user",
    "user.update",
    "user.update.email",
    "user.update.email.create",
  ]);
  expect(subscriptionsCovering("session.delete.passive.limit")).not.toContain("session.delete.pass");
});

it("lets a webhook subscribe to every event and to every name above one, except `email` and `sms`", () => {
  const all = new Set(emittedEventNames.flatMap(subscriptionsCovering));
  all.delete("email");
  all.delete("sms");
  expect(new Set(subscribableEventNames)).toEqual(all);
  expect(new Set(subscribableEventNames).size).toBe(subscribableEventNames.length);
});

it("lists every name of the published interface", () => {
  const published = [
    "user",
    "user.login",
    "user.create",
    "user.delete",
    "user.update",
    "user.update.email",
    "user.update.email.create",
    "user.update.email.delete",
    "user.update.email.primary",
    "user.update.username",
    "user.update.username.create",
    "user.update.username.delete",
    "user.update.username.update",
    "email.send",
  ];
  expect(subscribableEventNames).toEqual(expect.arrayContaining(published));
});

it("states the language of a mail, and of nothing else, as a claim", () => {
  expect(claimsOf("email.send", { language: "de", subject: "…" })).toEqual({ language: "de" });
  expect(claimsOf("user.login", { language: "de" })).toEqual({});
  expect(claimsOf("email.send", null)).toEqual({});
});

it("regards the mail of an expired code as outdated, and no other event", () => {
  const now = new Date("2030-01-01T12:00:00Z");
  const mail = (valid_until?: number) => ({ data: valid_until === undefined ? {} : { valid_until } });
  const seconds = now.getTime() / 1000;
  expect(isOutdated("email.send", mail(seconds), now)).toBe(true);
  expect(isOutdated("email.send", mail(seconds + 1), now)).toBe(false);
  expect(isOutdated("email.send", mail(), now)).toBe(false);
  expect(isOutdated("user.login", mail(seconds), now)).toBe(false);
});
