import { describe, expect, test } from "vitest";
import type { UafRejectionReason } from "../../failures/uaf.ts";
import {
  createUafAuthenticator,
  type UafAuthenticator,
} from "../../testing/uaf-authenticator/authenticator.ts";
import type { Overrides, StoredKey, UafCall, UafSettings } from "../../testing/uaf-authenticator/call.ts";
import {
  exportUafKey,
  keyFormatsOf,
  makeUafKey,
  type UafAlgorithm,
  uafAlgorithms,
} from "../../testing/uaf-authenticator/keys.ts";
import { item, nestedTlv } from "../../testing/uaf-authenticator/tlv.ts";
import { type AcceptedAuthenticator, authenticatorMetadata } from "./metadata.ts";
import { createAuthenticationRequest } from "./requests.ts";
import {
  type ExpectedAuthentication,
  type RegisteredKey,
  verifyUafAuthentication,
} from "./verify-authentication.ts";

const facetId = "https://login.example";
const aaid = "006F#0001";
const asked = {
  appId: "https://login.example/authenticator/facets",
  challenge: Buffer.from("a challenge of thirty-two bytes!").toString("base64url"),
};
const text = "Pay 1,000 € to Bob?";

interface Case {
  instead?: Overrides;
  extensions?: UafCall["extensions"] & {};
  transaction?: string | null;
  model?: Partial<AcceptedAuthenticator>;
  stored?: Partial<RegisteredKey>;
  expected?: Partial<ExpectedAuthentication>;
}

const held = (algorithm: UafAlgorithm, id = Buffer.alloc(32, 1)): StoredKey => ({
  id,
  appId: asked.appId,
  username: "ada",
  privateKey: makeUafKey(algorithm),
  signCounter: 0,
});

const usual = held(0x0002);
const other = held(0x0002, Buffer.alloc(32, 2));

const storedOf = ({ id, privateKey }: StoredKey, stored: Partial<RegisteredKey> = {}): RegisteredKey => ({
  aaid,
  keyId: id.toString("base64url"),
  publicKey: exportUafKey(privateKey, 0x0101),
  keyFormat: 0x0101,
  algorithm: 0x0002,
  signCounter: 0,
  ...stored,
});

function answerOf(
  { instead = {}, extensions = [], transaction = null }: Case,
  authenticator: UafAuthenticator = createUafAuthenticator({ keys: [usual] }),
): string {
  const keys = [{ aaid, keyId: usual.id.toString("base64url") }];
  const request = createAuthenticationRequest({ ...asked, transaction, keys });
  return authenticator.authenticate(request, {
    facetId,
    extensions,
    overrides: { ignorePolicy: true, ...instead },
  });
}

function judged(answer: string, { model, stored, transaction = null, expected }: Case = {}) {
  return verifyUafAuthentication(answer, {
    ...asked,
    facets: [facetId],
    transaction,
    accepted: [authenticatorMetadata({ aaid, ...model })],
    keys: [storedOf(usual, stored)],
    strict: true,
    ...expected,
  });
}

const verdict = (one: Case) => judged(answerOf(one), one);

function expectRejection(one: Case, reason: UafRejectionReason) {
  expect(verdict(one)).toMatchObject({ ok: false, reason });
}

describe("an authentication", () => {
  test("of the published Android client is accepted, with and without a transaction", () => {
    const assertions = [
      { aaid, keyId: usual.id.toString("base64url"), signCounter: 0, authenticatorVersion: 1 },
    ];
    expect(verdict({})).toEqual({ ok: true, assertions });
    expect(verdict({ transaction: text })).toEqual({ ok: true, assertions });
  });

  const named = Object.keys(uafAlgorithms).map((id) => Number(id) as UafAlgorithm);
  const everyWay = named.flatMap((algorithm) =>
    keyFormatsOf(algorithm).map((keyFormat) => [algorithm, keyFormat] as const),
  );

  test.each(everyWay)("is accepted with algorithm %i and key format %i", (algorithm, keyFormat) => {
    const key = held(algorithm);
    const settings: UafSettings = { algorithm, keys: [key], counts: true, nonceLength: 64 };
    const publicKey = exportUafKey(key.privateKey, keyFormat);
    const stored = storedOf(key, { publicKey, keyFormat, algorithm });
    const expected = { keys: [stored] };
    const one: Case = { model: { algorithms: [algorithm] }, expected, transaction: text };
    const answer = answerOf(one, createUafAuthenticator(settings));
    expect(judged(answer, one)).toMatchObject({ ok: true, assertions: [{ signCounter: 1 }] });
  });

  test("is accepted with another algorithm of the same key", () => {
    const raw: Case = { model: { algorithms: [0x0001, 0x0002] } };
    const authenticator = createUafAuthenticator({ algorithm: 0x0001, keys: [usual] });
    expect(judged(answerOf(raw, authenticator), raw)).toMatchObject({ ok: true });
  });

  test("is read in an array, alone, and wrapped", () => {
    const array = answerOf({});
    const alone = JSON.stringify((JSON.parse(array) as unknown[])[0]);
    for (const answer of [array, alone, JSON.stringify({ uafProtocolMessage: array })])
      expect(judged(answer).ok).toBe(true);
  });

  test("ignores non-critical extensions, and rejects critical ones", () => {
    const extension = { id: "com.example", data: Buffer.from("x"), critical: false };
    expect(verdict({ extensions: [extension] })).toMatchObject({ ok: true });
    expectRejection({ extensions: [{ ...extension, critical: true }] }, "assertion_malformed");
  });

  test("keeps the valid assertions of several, each key once", () => {
    const [first] = JSON.parse(answerOf({})) as [{ assertions: unknown[]; fcParams: string; header: object }];
    const sent = (instead: Overrides, authenticator?: UafAuthenticator) =>
      (
        JSON.parse(answerOf({ instead: { fcParams: first.fcParams, ...instead } }, authenticator)) as [
          typeof first,
        ]
      )[0].assertions;
    const second = sent({}, createUafAuthenticator({ keys: [other] }));
    const wrong = sent({ signature: "flipped" });
    const malformed = { assertionScheme: "UAFV1TLV", assertion: "AA" };
    const expected = { keys: [storedOf(usual), storedOf(other)] };
    const together = (...assertions: unknown[]) =>
      judged(JSON.stringify([{ ...first, assertions }]), { expected });
    const ids = (answer: ReturnType<typeof together>) =>
      answer.ok && answer.assertions.map(({ keyId }) => keyId);
    const [one, two] = expected.keys.map(({ keyId }) => keyId);
    expect(ids(together(...wrong, malformed, ...second, ...first.assertions))).toEqual([two, one]);
    expect(ids(together(...first.assertions, ...first.assertions))).toEqual([one]);
    expect(together(malformed, ...wrong)).toMatchObject({ ok: false, reason: "assertion_malformed" });
    expect(together(...wrong, malformed)).toMatchObject({ ok: false, reason: "signature_not_verified" });
  });
});

describe("a message is rejected with", () => {
  test.each<[string, Case, UafRejectionReason]>([
    ["another operation", { instead: { header: { op: "Reg" } } }, "operation_mismatch"],
    ["a future version", { instead: { header: { upv: { major: 2, minor: 0 } } } }, "version_not_offered"],
    ["A72 another application", { instead: { header: { appID: facetId } } }, "app_id_mismatch"],
    [
      "A72 another challenge",
      { instead: { finalChallengeParams: { challenge: "AAAAAAAAAAA" } } },
      "challenge_mismatch",
    ],
    [
      "A72 another application in the final challenge",
      { instead: { finalChallengeParams: { appID: facetId } } },
      "final_challenge_app_id_mismatch",
    ],
    [
      "A72 another facet",
      { instead: { finalChallengeParams: { facetID: "https://evil.example" } } },
      "facet_not_trusted",
    ],
    [
      "A72 a channel binding, which the server cannot verify",
      { instead: { finalChallengeParams: { channelBinding: { cid_pubkey: "unused" } } } },
      "channel_binding_refused",
    ],
    [
      "A72 a final challenge that was not signed",
      { instead: { finalChallengeHash: Buffer.alloc(32, 7) } },
      "final_challenge_hash_mismatch",
    ],
    ["another scheme", { instead: { assertionScheme: "uafv1tlv" } }, "scheme_unknown"],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));
});

describe("A75 an assertion is rejected with", () => {
  test.each<[string, Overrides]>([
    ["a missing member", { tlv: [{ leaveOut: "nonce" }] }],
    ["no transaction content hash, not even an empty one", { tlv: [{ leaveOut: "transactionContentHash" }] }],
    ["no signature", { tlv: [{ leaveOut: "signature" }] }],
    ["a duplicate member", { tlv: [{ repeat: "counters" }] }],
    ["two signatures", { tlv: [{ repeat: "signature" }] }],
    ["members in another order", { tlv: [{ swap: ["nonce", "finalChallengeHash"] }] }],
    ["a signature before the signed data", { tlv: [{ swap: ["signedData", "signature"] }] }],
    ["an assertion of the other kind", { tlv: [{ of: "authAssertion", tag: 0x3e01 }] }],
    ["a nonce of seven bytes", { nonce: Buffer.alloc(7) }],
    ["a truncated transaction content hash", { transactionContentHash: Buffer.alloc(33) }],
    ["the assertion info of a registration", { tlv: [{ of: "assertionInfo", value: Buffer.alloc(7) }] }],
    ["the counters of a registration", { tlv: [{ of: "counters", value: Buffer.alloc(8) }] }],
    ["a length beyond the input", { tlv: [{ of: "keyId", statedLength: 0x7fff }] }],
    ["trailing bytes", { tlv: [{ after: "authAssertion", put: Buffer.of(0) }] }],
    [
      "an item after the signature",
      { tlv: [{ after: "signature", put: item("extension", Buffer.alloc(0)) }] },
    ],
    ["a thousand levels", { tlv: [{ after: "counters", put: nestedTlv(900) }] }],
    ["ten thousand levels", { tlv: [{ after: "counters", put: nestedTlv(10_000) }] }],
  ])("%s", (_what, instead) => expectRejection({ instead }, "assertion_malformed"));
});

describe("A74 a key is rejected that is", () => {
  test.each<[string, Case, UafRejectionReason]>([
    ["not requested", { expected: { keys: [] } }, "key_unknown"],
    ["another key of the same authenticator", { expected: { keys: [storedOf(other)] } }, "key_unknown"],
    [
      "named as one of another model",
      { expected: { keys: [storedOf(usual, { aaid: "006F#0002" })] } },
      "key_unknown",
    ],
    ["of an unknown model", { instead: { aaid: "0000#0000" } }, "aaid_unknown"],
    ["of a model that is no longer accepted", { expected: { accepted: [] } }, "aaid_unknown"],
    ["of a model that was revoked since", { model: { revoked: true } }, "authenticator_revoked"],
    ["of a version that is no longer accepted", { model: { version: 2 } }, "version_too_old"],
    [
      "another key under the id of the right one",
      { instead: { signWith: other.privateKey } },
      "signature_not_verified",
    ],
    ["malformed in the database", { stored: { publicKey: Buffer.alloc(91) } }, "public_key_unacceptable"],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));

  test("A77 the right key under the id of another", () => {
    const authenticator = createUafAuthenticator({ keys: [other] });
    const answer = answerOf({ instead: { keyId: usual.id } }, authenticator);
    expect(judged(answer)).toMatchObject({ ok: false, reason: "signature_not_verified" });
  });
});

describe("A75 an algorithm is rejected that is", () => {
  test.each<[string, Case, UafRejectionReason]>([
    ["not one of the model", { model: { algorithms: [0x0001] } }, "algorithm_unacceptable"],
    ["for another curve", { instead: { algorithm: 0x0006 } }, "algorithm_unacceptable"],
    ["for RSA", { instead: { algorithm: 0x0003 } }, "algorithm_unacceptable"],
    [
      "undefined",
      { instead: { algorithm: 0x0000 }, model: { algorithms: [0x0000] } },
      "algorithm_unacceptable",
    ],
    [
      "SM2, which is not supported",
      { instead: { algorithm: 0x0007 }, model: { algorithms: [0x0007] } },
      "algorithm_unacceptable",
    ],
    ["for another signature encoding", { instead: { algorithm: 0x0001 } }, "signature_not_verified"],
    ["unknown in the database", { stored: { algorithm: 0x00ff } }, "algorithm_unacceptable"],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));
});

describe("A73 the counter", () => {
  test.each([
    [0, 0],
    [0, 1],
    [1, 2],
    [1, 0xffffffff],
    [0xfffffffe, 0xffffffff],
  ])("is accepted after %i as %i", (before, now) => {
    expect(verdict({ stored: { signCounter: before }, instead: { signCounter: now } })).toMatchObject({
      ok: true,
      assertions: [{ signCounter: now }],
    });
  });

  test.each([
    [1, 1],
    [2, 1],
    [1, 0],
    [0xffffffff, 0],
    [0xffffffff, 0xffffffff],
  ])("is rejected after %i as %i", (before, now) => {
    const one: Case = { stored: { signCounter: before }, instead: { signCounter: now } };
    expect(verdict(one)).toMatchObject({ ok: false, reason: "sign_counter", code: 1492 });
  });

  test("is not reported if the key has not signed it", () => {
    const one: Case = { stored: { signCounter: 5 }, instead: { signCounter: 4, signature: "flipped" } };
    expectRejection(one, "signature_not_verified");
  });
});

describe("A76 a confirmation is rejected with", () => {
  test.each<[string, Case, UafRejectionReason]>([
    ["another text", { transaction: text, instead: { transaction: `${text} ` } }, "transaction_mismatch"],
    [
      "no text if one was requested",
      { transaction: text, instead: { transaction: null } },
      "mode_unacceptable",
    ],
    ["a text if none was requested", { instead: { transaction: text } }, "mode_unacceptable"],
    ["a text without its mode", { transaction: text, instead: { mode: 1 } }, "mode_unacceptable"],
    [
      "a hash without its mode",
      { instead: { transactionContentHash: Buffer.alloc(32) } },
      "transaction_mismatch",
    ],
    [
      "the mode without a hash",
      { transaction: text, instead: { transactionContentHash: Buffer.alloc(0) } },
      "transaction_mismatch",
    ],
    [
      "half of a hash",
      { transaction: text, instead: { transactionContentHash: Buffer.alloc(16) } },
      "transaction_mismatch",
    ],
    ["the mode if no text was requested", { instead: { mode: 2 } }, "mode_unacceptable"],
    ["an unknown mode", { instead: { mode: 3 } }, "mode_unacceptable"],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));

  test("the hash of the base64url of the text", async () => {
    const { createHash } = await import("node:crypto");
    const content = Buffer.from(text).toString("base64url");
    const transactionContentHash = createHash("sha256").update(content).digest();
    expectRejection({ transaction: text, instead: { transactionContentHash } }, "transaction_mismatch");
  });
});

describe("a signature is rejected with", () => {
  test.each<[string, Overrides]>([
    ["one bit changed", { signature: "flipped" }],
    ["other bytes", { signature: Buffer.alloc(70, 1) }],
    ["a negative r", { signature: "negative r" }],
  ])("%s", (_what, instead) => expectRejection({ instead }, "signature_not_verified"));

  test("a negative r only if strict", () => {
    expect(verdict({ instead: { signature: "negative r" }, expected: { strict: false } })).toMatchObject({
      ok: true,
    });
  });
});
