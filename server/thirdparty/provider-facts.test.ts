import { describe, expect, test } from "vitest";
import { providerFacts, toProviderFacts } from "./provider-facts.ts";

const trust = { provider: "google", satisfiesMfa: false };
const facts = (stated: Parameters<typeof toProviderFacts>[0]) => toProviderFacts(stated, trust, 120);

describe("a subject", () => {
  test.each([
    ["abc", "abc"],
    [" Abc ", " Abc "],
    [583_231, "583231"],
    [0, "0"],
    ["x".repeat(512), "x".repeat(512)],
  ])("%j is taken as it stands", (subject, taken) => {
    expect(facts({ subject })?.subject).toBe(taken);
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
  ])("%j is none", (subject) => {
    expect(facts({ subject })).toBeNull();
  });
});

describe("an address", () => {
  test("is brought into canonical form", () => {
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
  ])("%j is none, and nothing is verified", (email) => {
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
  ])("A43 is verified by %j: %s", (emailVerified, verified) => {
    expect(facts({ subject: "1", email: "a@example.com", emailVerified })?.emailVerified).toBe(verified);
  });
});

describe("names and pictures", () => {
  test("are kept as words that a database takes", () => {
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
    [null, "nothing"],
    [{ first: "Ada" }, "no text"],
  ])("%j is left out: %s", (name, _why) => {
    expect(facts({ subject: "1", name })).not.toHaveProperty("name");
  });

  test.each([
    "javascript:alert(1)",
    "data:image/png;base64,x",
    "/picture",
    "x",
    7,
    `https://p.example/${"x".repeat(2048)}`,
  ])("a picture at %.40s is left out", (picture) => {
    expect(facts({ subject: "1", picture })).not.toHaveProperty("picture");
  });
});

test("facts are what rests between the callback and the exchange", () => {
  const made = facts({ subject: "1", email: "a@example.com", name: "A", picture: "https://p.example/a" });
  expect(providerFacts.parse(JSON.parse(JSON.stringify(made)))).toEqual(made);
});
