import { describe, expect, test } from "vitest";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import { trustedFacets } from "./facets.ts";
import { authenticatorMetadata } from "./metadata.ts";
import {
  createAuthenticationRequest,
  createDeregistrationRequest,
  createRegistrationRequest,
} from "./requests.ts";
import { modelThatCannotShow } from "./transaction.ts";
import { verifyUafAuthentication } from "./verify-authentication.ts";
import { verifyUafRegistrationResponse } from "./verify-registration.ts";

type Model = ReturnType<typeof authenticatorMetadata>;

const appId = "https://login.example/authenticator/facets";
const challenge = Buffer.alloc(32, 7).toString("base64url");
const hanko = authenticatorMetadata({ aaid: "006F#0001" });
const other = authenticatorMetadata({ aaid: "0123#ABCD", attestation: "full" });
const bad = authenticatorMetadata({ aaid: "0BAD#0BAD", revoked: true });

const v1_1 = { major: 1, minor: 1 };
const v1_0 = { major: 1, minor: 0 };
const read = (request: string) => JSON.parse(request) as unknown;

describe("a registration request", () => {
  test("accepts any model that is not revoked, by AAID alone", () => {
    const request = createRegistrationRequest({
      appId,
      challenge,
      username: "ada",
      accepted: [hanko, other, bad],
    });
    const members = {
      challenge,
      username: "ada",
      policy: { accepted: [[{ aaid: ["006F#0001"] }], [{ aaid: ["0123#ABCD"] }]] },
    };
    expect(read(request)).toEqual([
      { header: { upv: v1_1, op: "Reg", appID: appId }, ...members },
      { header: { upv: v1_0, op: "Reg", appID: appId }, ...members },
    ]);
  });

  test("names the authenticators that must not register", () => {
    const disallowed = [
      { aaid: "006F#0001", keyId: "AQ" },
      { aaid: "006F#0001", keyId: "Ag" },
      { aaid: "0123#ABCD" },
      { aaid: "0123#ABCD", keyId: "Aw" },
    ];
    const request = createRegistrationRequest({
      appId,
      challenge,
      username: "ada",
      accepted: [hanko],
      disallowed,
    });
    expect(read(request)).toMatchObject([
      { policy: { disallowed: [{ aaid: ["006F#0001"], keyIDs: ["AQ", "Ag"] }, { aaid: ["0123#ABCD"] }] } },
      {},
    ]);
  });
});

describe("an authentication request", () => {
  test("accepts any of the keys, grouped by model", () => {
    const keys = [
      { aaid: "006F#0001", keyId: "AQ" },
      { aaid: "0123#ABCD", keyId: "Aw" },
      { aaid: "006F#0001", keyId: "Ag" },
    ];
    const members = {
      challenge,
      policy: {
        accepted: [
          [{ aaid: ["006F#0001"], keyIDs: ["AQ", "Ag"] }],
          [{ aaid: ["0123#ABCD"], keyIDs: ["Aw"] }],
        ],
      },
    };
    expect(read(createAuthenticationRequest({ appId, challenge, transaction: null, keys }))).toEqual([
      { header: { upv: v1_1, op: "Auth", appID: appId }, ...members },
      { header: { upv: v1_0, op: "Auth", appID: appId }, ...members },
    ]);
  });

  test("has its transaction text in base64url without padding", () => {
    const keys = [{ aaid: "006F#0001", keyId: "AQ" }];
    expect(
      read(createAuthenticationRequest({ appId, challenge, transaction: "Zahle 5 €?", keys })),
    ).toMatchObject([
      { transaction: [{ contentType: "text/plain", content: "WmFobGUgNSDigqw_" }] },
      { transaction: [{ contentType: "text/plain", content: "WmFobGUgNSDigqw_" }] },
    ]);
  });
});

test("a deregistration request names keys, or all of them", () => {
  for (const authenticators of [[{ aaid: "006F#0001", keyID: "AQ" }], [{ aaid: "", keyID: "" }]])
    expect(read(createDeregistrationRequest({ appId, authenticators }))).toEqual([
      { header: { upv: v1_1, op: "Dereg", appID: appId }, authenticators },
      { header: { upv: v1_0, op: "Dereg", appID: appId }, authenticators },
    ]);
});

describe("a transaction text", () => {
  const [short, long, revoked] = [
    { aaid: "0000#0001" },
    { aaid: "0000#0002", max_transaction_bytes: 1000 },
    { aaid: "0000#0003", max_transaction_bytes: 1, revoked: true },
  ].map((model) => authenticatorMetadata(model)) as [Model, Model, Model];
  const accepted = [long, revoked, short];
  const shown = (text: string, ...models: Model[]) => modelThatCannotShow(text, accepted, models);

  test("has by default at most 200 characters in base64url", () => {
    const longest = "x".repeat(short.maxTransactionBytes);
    expect(Buffer.from(longest).toString("base64url")).toHaveLength(200);
    expect(shown(longest, short)).toBeNull();
    expect(shown(`${longest}x`, short)).toBe(short);
    expect(shown("€".repeat(50), short)).toBeNull();
    expect(shown("€".repeat(51), short)).toBe(short);
  });

  test("is limited by the models that may respond", () => {
    expect(shown("x".repeat(1000), long)).toBeNull();
    expect(shown("x".repeat(1001), long)).toBe(long);
    expect(shown("x".repeat(151), long, short)).toBe(short);
    expect(shown("x".repeat(151), long, revoked)).toBeNull();
  });

  test("is limited by all accepted models if none is known to respond", () => {
    expect(shown("x".repeat(150))).toBeNull();
    expect(shown("x".repeat(151))).toBe(short);
    expect(shown("x".repeat(151), revoked)).toBe(short);
    expect(modelThatCannotShow("x".repeat(9000), [], [])).toBeNull();
  });
});

test("the list of trusted facets is the same for both versions", () => {
  const ids = ["https://login.example", "ios:bundle-id:com.example"];
  expect(trustedFacets(ids)).toEqual({
    trustedFacets: [
      { version: v1_0, ids },
      { version: v1_1, ids },
    ],
  });
});

test("a client registers, authenticates, confirms and deregisters by these requests", () => {
  const authenticator = createUafAuthenticator({ counts: true });
  const facetId = "https://login.example";
  const call = { facetId, trustedFacets: trustedFacets([facetId]) };
  const common = { appId, challenge, facets: [facetId], accepted: [hanko], strict: true };
  const registered = verifyUafRegistrationResponse(
    authenticator.register(
      createRegistrationRequest({ appId, challenge, username: "ada", accepted: [other, hanko] }),
      call,
    ),
    { ...common, now: new Date() },
  );
  if (!registered.ok) throw new Error(registered.message);
  const [key] = registered.registrations;
  if (!key) throw new Error("no key");
  for (const transaction of [null, "x".repeat(hanko.maxTransactionBytes)]) {
    const request = createAuthenticationRequest({ appId, challenge, transaction, keys: [key] });
    const answer = authenticator.authenticate(request, call);
    expect(verifyUafAuthentication(answer, { ...common, transaction, keys: [key] })).toMatchObject({
      ok: true,
    });
  }
  const { aaid, keyId: keyID } = key;
  expect(
    authenticator.deregister(createDeregistrationRequest({ appId, authenticators: [{ aaid, keyID }] }), call),
  ).toBe("[{}]");
  expect(authenticator.keys).toEqual([]);
});
