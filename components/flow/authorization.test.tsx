import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { flow as words } from "#words/en/flow";
import { consent, longAuthorization } from "../gallery/payloads.ts";
import { Authorization } from "./authorization.tsx";

const draw = (value: unknown) => render(<Authorization value={value} words={words} />);
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
    "keep this access while you are signed out",
    "use https://api.example.com/orders for you: orders:read, orders:write",
  ]);
  expect(screen.getAllByRole("link").map(({ textContent }) => textContent)).toEqual([
    "The library reader",
    "Privacy policy",
    "Terms of service",
  ]);
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
