import { expect, it } from "vitest";
import { claimsOf, type EventName, events, subscribableNames, subscriptionsCovering } from "./events.ts";

const names = Object.keys(events) as EventName[];

it("covers an event by its name and every name that precedes it by whole segments", () => {
  expect(subscriptionsCovering("user.update.email.create")).toEqual([
    "user",
    "user.update",
    "user.update.email",
    "user.update.email.create",
  ]);
  expect(subscriptionsCovering("session.delete.passive.limit")).not.toContain("session.delete.pass");
});

it("lets a webhook subscribe to every event and to every name above one, except `email`", () => {
  const all = new Set(names.flatMap(subscriptionsCovering));
  all.delete("email");
  expect(new Set(subscribableNames)).toEqual(all);
  expect(new Set(subscribableNames).size).toBe(subscribableNames.length);
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
  expect(subscribableNames).toEqual(expect.arrayContaining(published));
});

it("states the language of a mail, and of nothing else, as a claim", () => {
  expect(claimsOf("email.send", { language: "de", subject: "…" })).toEqual({ language: "de" });
  expect(claimsOf("user.login", { language: "de" })).toEqual({});
  expect(claimsOf("email.send", null)).toEqual({});
});
