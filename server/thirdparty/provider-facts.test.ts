import { describe, expect, test } from "vitest";
import { providerFacts, toProviderFacts } from "./provider-facts.ts";

const trust = { provider: "google", satisfiesMfa: false };
const facts = (stated: Parameters<typeof toProviderFacts>[0]) => toProviderFacts(stated, trust, 120);

describe("the subject", () => {
  test.each([
    ["abc", "abc"],
    [" Abc ", " Abc "],
    [583_231, "583231"],
    [0, "0"],
    ["x".repeat(512), "x".repeat(512)],
  ])("is accepted as text: %j", (subject, text) => {
    expect(facts({ subject })?.subject).toBe(text);
  });

  test.each([
    undefined,
    null,
    "",
    true,
    {},
    ["a"],
    1.5,
    2 ** 60,
    Number.NaN,
    "x".repeat(513),
    "a\0b",
    "\ud800",
  ])("is rejected: %j", (subject) => {
    expect(facts({ subject })).toBeNull();
  });
});

describe("the address", () => {
  test("is normalized", () => {
    expect(facts({ subject: "1", email: " Ada@Example.COM " })?.email).toBe("ada@example.com");
  });

  test.each([
    undefined,
    null,
    "",
    "ada",
    1,
    {},
    "a@b@c.example",
    `${"a".repeat(64)}@${"b".repeat(60)}.example`,
  ])("is absent and unverified if invalid: %j", (email) => {
    expect(facts({ subject: "1", email, emailVerified: true })).toMatchObject({
      email: null,
      emailVerified: false,
    });
  });

  test.each([
    [true, true],
    ["true", true],
    [false, false],
    ["false", false],
    ["yes", false],
    [1, false],
    [undefined, false],
    [null, false],
    [{}, false],
  ])("A43 with email_verified %j is verified: %s", (emailVerified, verified) => {
    expect(facts({ subject: "1", email: "a@example.com", emailVerified })?.emailVerified).toBe(verified);
  });
});

describe("names and the picture", () => {
  test("lose characters that the database rejects, and surplus length", () => {
    expect(
      facts({
        subject: "1",
        name: " Ada\0\n\u202eLovelace\ud800 ",
        givenName: "A".repeat(300),
        familyName: 7,
      }),
    ).toMatchObject({ name: "Ada \u202eLovelace\ufffd", givenName: "A".repeat(256) });
  });

  test.each([
    ["", "blank"],
    ["  \n ", "blank"],
    [null, "null"],
    [{ first: "Ada" }, "not text"],
  ])("leave out %j: %s", (name, _why) => {
    expect(facts({ subject: "1", name })).not.toHaveProperty("name");
  });

  test.each([
    "javascript:alert(1)",
    "data:image/png;base64,x",
    "/picture",
    "x",
    7,
    `https://p.example/${"x".repeat(2048)}`,
  ])("leave out the picture %.40s", (picture) => {
    expect(facts({ subject: "1", picture })).not.toHaveProperty("picture");
  });
});

test("facts survive serialization between the callback and the exchange", () => {
  const made = facts({ subject: "1", email: "a@example.com", name: "A", picture: "https://p.example/a" });
  expect(providerFacts.parse(JSON.parse(JSON.stringify(made)))).toEqual(made);
});
