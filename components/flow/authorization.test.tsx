import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { flow as words } from "#words/en/flow";
import {
  consent,
  deviceAuthorization,
  longAuthorization,
  unlistedAuthorization,
} from "../gallery/payloads.ts";
import { Authorization } from "./authorization.tsx";

const draw = (value: unknown) => render(<Authorization value={value} words={words} language="en" />);
const items = () => screen.getAllByRole("listitem").map(({ textContent }) => textContent);

test("an application is named with what it asks for in plain words, and where the user goes on", () => {
  draw(consent.authorization);
  expect(screen.getByRole("link", { name: "The shop" }).getAttribute("href")).toBe(
    "https://shop.example.com/",
  );
  expect(items()).toEqual(["know that it is you", "see your email address"]);
  expect(screen.getByText("Then you go on to shop.example.com.")).toBeTruthy();
});

test("what was allowed before is marked, and APIs stand with their scopes", () => {
  draw(longAuthorization);
  expect(items()).toEqual([
    "know that it is you · allowed before",
    "see your name, username, picture and language",
    "see your email address · allowed before",
    "see your phone number",
    "see which reading groups you are in",
    "keep this access while you are signed out",
    "use https://api.example.com/orders for you: orders:read, orders:write",
    "see which books you have · Loans",
    "renew your loans · Loans",
    "use Loans for you: loans:x",
  ]);
  expect(screen.getAllByRole("link").map(({ textContent }) => textContent)).toEqual([
    "The library reader",
    "Privacy policy",
    "Terms of service",
  ]);
});

test("what scopes allow is said in the language of the page, else in English", () => {
  render(<Authorization value={longAuthorization} words={words} language="de" />);
  expect(items()).toContain("sehen, welche Bücher Sie haben · Loans");
  expect(items()).toContain("renew your loans · Loans");
  expect(items()).toContain("sehen, in welchen Lesekreisen Sie sind");
});

test("A102 an address that is a script is no link, and a scope that is not known stands by its name", () => {
  const client = {
    id: "evil",
    name: "<b>Evil</b>",
    uri: "javascript:alert(1)",
    policy_uri: "data:text/html,x",
  };
  draw({ ...longAuthorization, client, scopes: ["toString", "orders:read"], resources: [] });
  expect(screen.queryByRole("link")).toBeNull();
  expect(screen.getByText("<b>Evil</b>")).toBeTruthy();
  expect(items()).toEqual(["toString", "orders:read"]);
});

test("what a scope of the operator allows is said in the operator's words, which replace none of the page", () => {
  const texts = { email: { en: "see nothing" }, groups: { fr: "voir vos groupes" } };
  draw({ ...longAuthorization, texts, scopes: ["email", "groups", "toString"], resources: [], allowed: [] });
  expect(items()).toEqual(["see your email address", "voir vos groupes", "toString"]);
});

test("of a program on the device that describes itself, the host of its document is named, and for how long it asks", () => {
  draw(unlistedAuthorization);
  expect(items()).toEqual([
    "know that it is you",
    "use https://api.example.com/orders for you: orders:read",
    "use https://api.example.com/mcp for you",
  ]);
  const texts = [...document.querySelectorAll("p")].map(({ textContent }) => textContent);
  expect(texts).toContain("agent.example.org describes this application. It has not been verified.");
  expect(texts).toContain(
    "Then you go on to an application on this device. It asks again after 90 days. You can end its access earlier, in your account.",
  );
});

test("of a device its code and its place are named, and that it stays signed in", () => {
  draw(deviceAuthorization);
  const texts = [...document.querySelectorAll("p")].map(({ textContent }) => textContent);
  expect(texts).toContain(
    "Go on only if you have started this on a device of your own, and it shows the code WDJB-MJHT. The device is here: Android (Chrome), Lisbon, Portugal, 203.0.113.*.",
  );
  expect(texts).toContain("The device stays signed in when you sign out here.");
});

test("of a device whose place is not known, its code alone is named", () => {
  draw({ ...deviceAuthorization, device: { code: "WDJB-MJHT" } });
  expect(screen.getByText("WDJB-MJHT")).toBeTruthy();
  expect(document.body.textContent).not.toContain("The device is here");
});

test("one that has registered itself says so, and a time below a day is told in hours", () => {
  const client = { ...unlistedAuthorization.client, origin: "registration" };
  draw({ ...unlistedAuthorization, client, lifetime: 7200 });
  expect(screen.getByText("This application has registered itself. It has not been verified.")).toBeTruthy();
  expect(screen.getByText(/It asks again after 2 hours\./)).toBeTruthy();
});
