import { expect, test } from "vitest";
import type { AssertionStatement } from "./assertion.ts";
import { mapAttributes } from "./attribute-mapping.ts";

const persistent = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
const emailAddress = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";
const claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims";

type Trust = Parameters<typeof mapAttributes>[1];

function facts(
  attributes: Record<string, string[]>,
  trust: Partial<Trust> = {},
  nameId: AssertionStatement["nameId"] = { value: "u-1", format: persistent },
) {
  const stated = { id: "_1", nameId, attributes: new Map(Object.entries(attributes)), expiresAt: new Date() };
  return mapAttributes(
    stated,
    {
      entityId: "urn:idp",
      domains: ["example.org"],
      skipEmailVerification: false,
      satisfiesMfa: false,
      attributeMap: {},
      ...trust,
    },
    120,
  );
}

test.each([
  ["OIDs", ["urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42", "urn:oid:2.5.4.4", "urn:oid:2.5.4.3"]],
  ["claims", [`${claims}/emailaddress`, `${claims}/givenname`, `${claims}/surname`, "displayName"]],
  ["plain names", ["email", "firstName", "lastName", "name"]],
])("the usual names are known: %s", (_, [email, given, family, name]) => {
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

test("what the tenant maps is read from there alone", () => {
  const attributes = {
    email: ["wrong@example.org"],
    "urn:custom:mail": ["right@example.org", "second@example.org"],
  };
  expect(facts(attributes, { attributeMap: { email: "urn:custom:mail" } })?.email).toBe("right@example.org");
  expect(
    facts({ email: ["wrong@example.org"] }, { attributeMap: { email: "urn:custom:mail" } })?.email,
  ).toBeNull();
  const byName = { value: "wrong@example.org", format: emailAddress };
  expect(facts({}, { attributeMap: { email: "urn:custom:mail" } }, byName)?.email).toBeNull();
  expect(facts({ uid: ["u-2"] }, { attributeMap: { subject: "uid" } })?.subject).toBe("u-2");
  expect(facts({}, { attributeMap: { subject: "uid" } })).toBeNull();
});

test("a name identifier is an address where it may be one", () => {
  const value = "ada@example.org";
  expect(facts({}, {}, { value, format: emailAddress })?.email).toBe(value);
  expect(facts({}, {}, { value, format: "" })?.email).toBe(value);
  expect(facts({}, {}, { value, format: persistent })?.email).toBeNull();
  expect(facts({}, {}, { value: "u-1", format: "" })?.email).toBeNull();
  expect(facts({ mail: ["other@example.org"] }, {}, { value, format: emailAddress })?.email).toBe(
    "other@example.org",
  );
});

test("nobody is known by a name that is another one tomorrow", () => {
  const transient = { value: "u-1", format: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient" };
  expect(facts({}, {}, transient)).toBeNull();
  expect(facts({ uid: ["u-2"] }, { attributeMap: { subject: "uid" } }, transient)?.subject).toBe("u-2");
});

test("a trusted provider vouches for its own domains, and for no others", () => {
  const trust = { skipEmailVerification: true };
  const vouched = { emailVerified: true, skipEmailVerification: true };
  const not = { emailVerified: false, skipEmailVerification: false };
  expect(facts({ email: ["ada@EXAMPLE.org"] }, trust)).toMatchObject(vouched);
  for (const email of ["ada@example.com", "ada@sub.example.org", "ada@notexample.org", "no address"])
    expect(facts({ email: [email] }, trust)).toMatchObject(not);
  expect(facts({}, trust)).toMatchObject(not);
  expect(facts({ email: ["ada@example.org"] })).toMatchObject(not);
});
