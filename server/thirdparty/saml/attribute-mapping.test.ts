import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AssertionStatement } from "./assertion.ts";
import { commonAttributeNames, mapAttributes } from "./attribute-mapping.ts";

const persistent = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
const emailAddress = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";
const claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims";

type Settings = Parameters<typeof mapAttributes>[1]["settings"];

function facts(
  attributes: Record<string, string[]>,
  settings: Partial<Settings> = {},
  nameId: AssertionStatement["nameId"] = { value: "u-1", format: persistent },
) {
  const statement = {
    id: "_1",
    nameId,
    attributes: new Map(Object.entries(attributes)),
    expiresAt: new Date(),
  };
  return mapAttributes(
    statement,
    {
      entityId: "urn:idp",
      settings: {
        domains: ["example.org"],
        skip_email_verification: false,
        satisfies_mfa: false,
        attribute_map: {},
        ...settings,
      },
    },
    120,
  );
}

test.each([
  ["OIDs", ["urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42", "urn:oid:2.5.4.4", "urn:oid:2.5.4.3"]],
  ["claims", [`${claims}/emailaddress`, `${claims}/givenname`, `${claims}/surname`, "displayName"]],
  ["plain names", ["email", "firstName", "lastName", "name"]],
])("recognizes common attribute names: %s", (_, [email, given, family, name]) => {
  const attributes = {
    [String(email)]: ["Ada@Example.org"],
    [String(given)]: ["Ada"],
    [String(family)]: ["Lovelace"],
    [String(name)]: ["Ada Lovelace"],
  };
  expect(facts(attributes)).toEqual({
    provider: "saml:urn:idp",
    subject: "u-1",
    email: "ada@example.org",
    emailVerified: false,
    name: "Ada Lovelace",
    givenName: "Ada",
    familyName: "Lovelace",
    satisfiesMfa: false,
    skipEmailVerification: false,
  });
});

test("reads a mapped fact only from its attribute", () => {
  const attributes = {
    email: ["wrong@example.org"],
    "urn:custom:mail": ["right@example.org", "second@example.org"],
  };
  expect(facts(attributes, { attribute_map: { email: "urn:custom:mail" } })?.email).toBe("right@example.org");
  expect(
    facts({ email: ["wrong@example.org"] }, { attribute_map: { email: "urn:custom:mail" } })?.email,
  ).toBeNull();
  const byName = { value: "wrong@example.org", format: emailAddress };
  expect(facts({}, { attribute_map: { email: "urn:custom:mail" } }, byName)?.email).toBeNull();
  expect(facts({ uid: ["u-2"] }, { attribute_map: { subject: "uid" } })?.subject).toBe("u-2");
  expect(facts({}, { attribute_map: { subject: "uid" } })).toBeNull();
});

test("takes a name identifier as the address if its format allows it", () => {
  const value = "ada@example.org";
  expect(facts({}, {}, { value, format: emailAddress })?.email).toBe(value);
  expect(facts({}, {}, { value, format: "" })?.email).toBe(value);
  expect(facts({}, {}, { value, format: persistent })?.email).toBeNull();
  expect(facts({}, {}, { value: "u-1", format: "" })?.email).toBeNull();
  expect(facts({ mail: ["other@example.org"] }, {}, { value, format: emailAddress })?.email).toBe(
    "other@example.org",
  );
});

test("rejects a transient name identifier as the subject", () => {
  const transient = { value: "u-1", format: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" };
  expect(facts({}, {}, transient)).toBeNull();
  expect(facts({ uid: ["u-2"] }, { attribute_map: { subject: "uid" } }, transient)?.subject).toBe("u-2");
});

test("a trusted provider verifies addresses of its own domains only", () => {
  const trust = { skip_email_verification: true };
  const verified = { emailVerified: true, skipEmailVerification: true };
  const unverified = { emailVerified: false, skipEmailVerification: false };
  expect(facts({ email: ["ada@EXAMPLE.org"] }, trust)).toMatchObject(verified);
  for (const email of ["ada@example.com", "ada@sub.example.org", "ada@notexample.org", "no address"])
    expect(facts({ email: [email] }, trust)).toMatchObject(unverified);
  expect(facts({}, trust)).toMatchObject(unverified);
  expect(facts({ email: ["ada@example.org"] })).toMatchObject(unverified);
});

test("the guide lists the attribute names of each fact in their order", () => {
  const guide = readFileSync(new URL("../../../docs/saml.md", import.meta.url), "utf8");
  for (const [fact, names] of Object.entries(commonAttributeNames)) {
    const row = guide.split("\n").find((line) => line.startsWith(`| \`${fact}\` |`));
    expect(row).toContain(names.map((name) => `\`${name}\``).join(", "));
  }
});
