import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { UafRejectionReason } from "../../failures/uaf.ts";
import { type Certificate, makeAuthority, makeCertificate } from "../../lib/certificates.ts";
import { der, octetString, utf8 } from "../../lib/der-encoding.ts";
import type { FullAttestation } from "../../testing/uaf-authenticator/assertions.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import type { Overrides, UafCall, UafSettings } from "../../testing/uaf-authenticator/call.ts";
import {
  exportUafKey,
  keyFormatsOf,
  makeUafKey,
  type UafAlgorithm,
  uafAlgorithms,
} from "../../testing/uaf-authenticator/keys.ts";
import { item, nestedTlv } from "../../testing/uaf-authenticator/tlv.ts";
import { type AcceptedAuthenticator, authenticatorMetadata } from "./metadata.ts";
import { createRegistrationRequest } from "./requests.ts";
import { type ExpectedRegistration, verifyUafRegistrationResponse } from "./verify-registration.ts";

const facetId = "https://login.example";
const aaid = "006F#0001";
const asked = {
  appId: "https://login.example/authenticator/facets",
  challenge: Buffer.from("a challenge of thirty-two bytes!").toString("base64url"),
};

const day = 86_400_000;
const now = new Date();
const pemOf = ({ der }: Certificate) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
const authority = makeAuthority();
const stranger = makeAuthority("Stranger");
const intermediate = makeCertificate({ subject: { CN: "Intermediate" }, issuer: authority, ca: true });

interface Case {
  settings?: UafSettings;
  instead?: Overrides;
  extensions?: UafCall["extensions"] & {};
  model?: Partial<AcceptedAuthenticator>;
  expected?: Partial<ExpectedRegistration>;
}

function answerOf({ settings = {}, instead = {}, extensions = [] }: Case): string {
  const accepted = [authenticatorMetadata({ aaid })];
  const request = createRegistrationRequest({ ...asked, username: "ada", accepted });
  return createUafAuthenticator(settings).register(request, {
    facetId,
    extensions,
    overrides: { ignorePolicy: true, ...instead },
  });
}

function judged(answer: string, { model, expected }: Case = {}) {
  return verifyUafRegistrationResponse(answer, {
    ...asked,
    facets: [facetId],
    accepted: [authenticatorMetadata({ aaid, ...model })],
    now,
    strict: true,
    ...expected,
  });
}

interface Sent {
  assertions: [{ assertion: string; assertionScheme: string }];
}

const verdict = (one: Case) => judged(answerOf(one), one);

function expectRejection(one: Case, reason: UafRejectionReason) {
  expect(verdict(one)).toMatchObject({ ok: false, reason });
}

const full = (details: Partial<FullAttestation> = {}): UafSettings => ({
  attestation: { authority, ...details },
});
const trustedModel: Partial<AcceptedAuthenticator> = { attestation: "full", roots: [pemOf(authority)] };

describe("a registration", () => {
  test("of the published Android client is accepted, with all facts to store", () => {
    const authenticator = createUafAuthenticator();
    const accepted = [authenticatorMetadata({ aaid })];
    const request = createRegistrationRequest({ ...asked, username: "ada", accepted });
    const answer = authenticator.register(request, { facetId });
    const [key] = authenticator.keys;
    if (!key) throw new Error("no key");
    expect(judged(answer)).toEqual({
      ok: true,
      registrations: [
        {
          aaid,
          keyId: key.id.toString("base64url"),
          publicKey: exportUafKey(key.privateKey, 0x0101),
          keyFormat: 0x0101,
          algorithm: 0x0002,
          signCounter: 0,
          regCounter: 0,
          authenticatorVersion: 1,
          attestation: "surrogate",
        },
      ],
    });
  });

  const named = Object.keys(uafAlgorithms).map((id) => Number(id) as UafAlgorithm);
  const everyWay = named.flatMap((algorithm) =>
    keyFormatsOf(algorithm).map((keyFormat) => [algorithm, keyFormat] as const),
  );

  test.each(everyWay)("is accepted with algorithm %i and key format %i", (algorithm, keyFormat) => {
    for (const [settings, model] of [
      [{}, {}],
      [full(), trustedModel],
    ] as const) {
      expect(
        verdict({
          settings: { ...settings, algorithm, keyFormat },
          model: { ...model, algorithms: [algorithm] },
        }),
      ).toMatchObject({ ok: true, registrations: [{ algorithm, keyFormat }] });
    }
  });

  test("is accepted with an RSA key in the other format of some devices", () => {
    const settings: UafSettings = { algorithm: 0x0003, keyFormat: 0x0103 };
    expect(verdict({ settings, instead: { spki: true } })).toMatchObject({ ok: true });
  });

  test("is accepted with SHA-1 only if the model allows it", () => {
    expectRejection({ settings: { algorithm: 0x000f } }, "algorithm_unacceptable");
  });

  test("keeps the authenticator's counter", () => {
    const one: Case = { instead: { signCounter: 0xffffffff, regCounter: 7 } };
    expect(verdict(one)).toMatchObject({ registrations: [{ signCounter: 0xffffffff, regCounter: 7 }] });
  });

  test("is read in an array, alone, and wrapped, once", () => {
    const array = answerOf({});
    const alone = JSON.stringify((JSON.parse(array) as unknown[])[0]);
    const wrap = (uafProtocolMessage: string) => JSON.stringify({ uafProtocolMessage, additionalData: {} });
    for (const answer of [array, alone, wrap(array), wrap(alone)]) expect(judged(answer).ok).toBe(true);
    expect(judged(wrap(wrap(array)))).toMatchObject({ ok: false, reason: "message_malformed", code: 1400 });
  });

  test("is for the facet if the request has no AppID", () => {
    const request = createRegistrationRequest({
      ...asked,
      appId: "",
      username: "ada",
      accepted: [authenticatorMetadata({ aaid })],
    });
    const answer = createUafAuthenticator().register(request, { facetId });
    expect(judged(answer, { expected: { appId: "" } })).toMatchObject({ ok: true });
    expect(judged(answer)).toMatchObject({ ok: false, reason: "app_id_mismatch" });
  });

  test("keeps the transaction display", () => {
    const png = {
      width: 320,
      height: 480,
      bitDepth: 16,
      colorType: 2,
      compression: 0,
      filter: 0,
      interlace: 0,
    };
    const [message] = JSON.parse(answerOf({})) as [{ assertions: object[] }];
    Object.assign(message.assertions[0] ?? {}, { tcDisplayPNGCharacteristics: [png] });
    expect(judged(JSON.stringify([message]))).toMatchObject({
      registrations: [{ tcDisplayPNGCharacteristics: [png] }],
    });
    Object.assign(message.assertions[0] ?? {}, { tcDisplayPNGCharacteristics: [{ ...png, width: -1 }] });
    expect(judged(JSON.stringify([message]))).toMatchObject({ ok: false, reason: "message_malformed" });
  });

  test("ignores non-critical extensions, and rejects critical ones", () => {
    const extension = { id: "com.example", data: Buffer.from("x"), critical: false };
    expect(verdict({ extensions: [extension, extension] })).toMatchObject({ ok: true });
    expectRejection({ extensions: [{ ...extension, critical: true }] }, "assertion_malformed");
    const exts = (fail_if_unknown: boolean) => [{ id: "com.example", data: "x", fail_if_unknown }];
    expect(verdict({ instead: { header: { exts: exts(false) } } })).toMatchObject({ ok: true });
    expectRejection({ instead: { header: { exts: exts(true) } } }, "extension_unknown");
  });

  test("keeps the valid assertions of several, each key once", () => {
    const [first] = JSON.parse(answerOf({})) as [{ assertions: unknown[] }];
    const sent = (one: Case) => (JSON.parse(answerOf(one)) as [typeof first])[0].assertions;
    const together = (...assertions: unknown[]) => judged(JSON.stringify([{ ...first, assertions }]));
    const ids = (answer: ReturnType<typeof together>) =>
      answer.ok && answer.registrations.map(({ keyId }) => keyId);
    const [one] = ids(together(...first.assertions)) || [];
    const second = sent({});
    const [two] = ids(together(...second)) || [];
    const stranger = sent({ instead: { aaid: "0000#0000" } });
    const malformed = { assertionScheme: "UAFV1TLV", assertion: "AA" };
    expect(ids(together(...stranger, malformed, ...second, ...first.assertions))).toEqual([two, one]);
    expect(ids(together(...first.assertions, ...first.assertions))).toEqual([one]);
    expect(together(malformed, ...stranger)).toMatchObject({ ok: false, reason: "assertion_malformed" });
    expect(together(...stranger, malformed)).toMatchObject({ ok: false, reason: "aaid_unknown" });
  });

  test("accepts an AAID in any case", () => {
    for (const [known, told] of [
      ["00ab#00cd", "00AB#00CD"],
      ["00AB#00CD", "00ab#00cd"],
    ] as const) {
      const answer = judged(answerOf({ instead: { aaid: told } }), { model: { aaid: known } });
      expect(answer).toMatchObject({ ok: true, registrations: [{ aaid: "00AB#00CD" }] });
    }
  });
});

describe("a message is rejected with", () => {
  test.each<[string, Case, UafRejectionReason]>([
    ["another operation", { instead: { header: { op: "Auth" } } }, "operation_mismatch"],
    ["no operation", { instead: { header: { op: undefined } } }, "message_malformed"],
    ["a future version", { instead: { header: { upv: { major: 1, minor: 2 } } } }, "version_not_offered"],
    ["an incomplete version", { instead: { header: { upv: { major: 1 } } } }, "message_malformed"],
    [
      "A72 another application",
      { instead: { header: { appID: "https://evil.example" } } },
      "app_id_mismatch",
    ],
    ["A72 no application", { instead: { header: { appID: undefined } } }, "app_id_mismatch"],
    [
      "changed server data",
      { instead: { header: { serverData: "b" } }, expected: { serverData: "a" } },
      "server_data_mismatch",
    ],
    ["missing server data", { expected: { serverData: "a" } }, "server_data_mismatch"],
    ["A75 another scheme", { instead: { assertionScheme: "UAFV2TLV" } }, "scheme_unknown"],
    ["a malformed assertion", { instead: { before: ["AT4"] } }, "message_malformed"],
    [
      "too many assertions",
      { instead: { after: Array(8).fill({ assertionScheme: "a", assertion: "b" }) } },
      "message_malformed",
    ],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));

  test("malformed content", () => {
    const valid = JSON.parse(answerOf({})) as [object];
    const [message] = valid;
    for (const answer of [
      "",
      "null",
      "1",
      "[]",
      "{}",
      "[{}]",
      "[[]]",
      "\ufeff[]",
      "\u0000",
      "[".repeat(100_000),
      JSON.stringify([message, message]),
      JSON.stringify([valid]),
      JSON.stringify(message).replace('"fcParams"', '"fcParams":"a","fcParams"'),
      JSON.stringify(message).replace('"fcParams"', '"__proto__":{},"fcParams"'),
      JSON.stringify({ ...message, assertions: [] }),
      JSON.stringify({ ...message, assertions: null }),
      JSON.stringify({ ...message, fcParams: 1 }),
      JSON.stringify([message]) + " ".repeat(64 * 1024),
    ]) {
      expect(judged(answer), answer.slice(0, 40)).toMatchObject({
        ok: false,
        reason: "message_malformed",
        code: 1400,
      });
    }
  });
});

describe("A72 a final challenge is rejected with", () => {
  const params = (finalChallengeParams: Overrides["finalChallengeParams"] & {}): Case => ({
    instead: { finalChallengeParams },
  });

  test.each<[string, Case, UafRejectionReason]>([
    [
      "another challenge",
      params({ challenge: Buffer.alloc(32).toString("base64url") }),
      "challenge_mismatch",
    ],
    ["the challenge, padded", params({ challenge: `${asked.challenge}=` }), "challenge_mismatch"],
    ["no challenge", params({ challenge: undefined }), "final_challenge_malformed"],
    ["another application", params({ appID: "https://evil.example" }), "final_challenge_app_id_mismatch"],
    ["no application", params({ appID: "" }), "final_challenge_app_id_mismatch"],
    ["another facet", params({ facetID: "https://evil.example" }), "facet_not_trusted"],
    ["a facet with the same prefix", params({ facetID: `${facetId}.evil.example` }), "facet_not_trusted"],
    ["a facet that is no longer trusted", { expected: { facets: [] } }, "facet_not_trusted"],
    [
      "a channel binding, which the server cannot verify",
      params({ channelBinding: { serverEndPoint: "AA" } }),
      "channel_binding_refused",
    ],
    [
      "an unknown channel binding",
      params({ channelBinding: { other: { a: 1 } } }),
      "channel_binding_refused",
    ],
    [
      "parameters with another hash",
      { instead: { finalChallengeHash: Buffer.alloc(32) } },
      "final_challenge_hash_mismatch",
    ],
    ["a truncated hash", { instead: { finalChallengeHash: Buffer.alloc(31) } }, "assertion_malformed"],
    ["invalid base64url", { instead: { fcParams: "e30 " } }, "final_challenge_malformed"],
    ["base64", { instead: { fcParams: "e3/+" } }, "final_challenge_malformed"],
    [
      "text that is not JSON",
      { instead: { fcParams: Buffer.from("{").toString("base64url") } },
      "final_challenge_malformed",
    ],
    [
      "bytes that are not UTF-8",
      { instead: { fcParams: Buffer.of(0x22, 0xff, 0x22).toString("base64url") } },
      "final_challenge_malformed",
    ],
    ["half of its padding", { instead: { fcParams: "e30" + "==" } }, "final_challenge_malformed"],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));

  test("neither padding nor an empty channel binding", () => {
    expect(verdict({ instead: { padded: true } })).toMatchObject({ ok: true });
    for (const channelBinding of [undefined, null, { tlsUnique: "" }, { serverEndPoint: null }])
      expect(verdict(params({ channelBinding }))).toMatchObject({ ok: true });
  });
});

describe("A75 an assertion is rejected with", () => {
  test.each<[string, Overrides]>([
    ["a missing member", { tlv: [{ leaveOut: "counters" }] }],
    ["no attestation", { tlv: [{ leaveOut: "basicSurrogate" }] }],
    ["no signature", { tlv: [{ leaveOut: "signature" }] }],
    ["a duplicate member", { tlv: [{ repeat: "keyId" }] }],
    ["a duplicate statement", { tlv: [{ repeat: "krd" }] }],
    ["a duplicate attestation", { tlv: [{ repeat: "basicSurrogate" }] }],
    ["members in another order", { tlv: [{ swap: ["aaid", "assertionInfo"] }] }],
    ["an attestation before the statement", { tlv: [{ swap: ["krd", "basicSurrogate"] }] }],
    ["an assertion of the other kind", { tlv: [{ of: "regAssertion", tag: 0x3e02 }] }],
    ["a member of another kind", { tlv: [{ of: "krd", tag: 0x3e04 }] }],
    ["a length beyond its item", { tlv: [{ of: "publicKey", statedLength: 0xffff }] }],
    ["a length that is too small", { tlv: [{ of: "publicKey", statedLength: 3 }] }],
    ["a length beyond the whole input", { tlv: [{ of: "regAssertion", statedLength: 0xffff }] }],
    ["trailing bytes", { tlv: [{ after: "regAssertion", put: Buffer.of(0) }] }],
    ["a trailing item", { tlv: [{ after: "regAssertion", put: item("extension", Buffer.alloc(0)) }] }],
    ["trailing bytes in the statement", { tlv: [{ after: "publicKey", put: Buffer.of(1, 2, 3) }] }],
    [
      "an unknown critical member",
      { tlv: [{ after: "publicKey", put: { tag: 0x2eff, value: Buffer.of() } }] },
    ],
    [
      "an extension without a name",
      { tlv: [{ after: "publicKey", put: item("extension", item("extensionData", Buffer.of(1))) }] },
    ],
    [
      "an extension after the attestation",
      {
        tlv: [
          {
            after: "basicSurrogate",
            put: item("extension", item("extensionId", Buffer.of(1)), item("extensionData", Buffer.of(1))),
          },
        ],
      },
    ],
    ["a model of eight characters", { aaid: "006F#000" }],
    ["assertion info that is too long", { tlv: [{ of: "assertionInfo", value: Buffer.alloc(8) }] }],
    ["the counters of an authentication", { tlv: [{ of: "counters", value: Buffer.alloc(4) }] }],
    ["an empty key id", { tlv: [{ of: "keyId", value: Buffer.of() }] }],
    ["a key id of more than 2048 bytes", { tlv: [{ of: "keyId", value: Buffer.alloc(2049) }] }],
    ["more than 4096 bytes", { tlv: [{ of: "signature", value: Buffer.alloc(4096) }] }],
    ["a thousand levels", { tlv: [{ after: "publicKey", put: nestedTlv(900) }] }],
    ["ten thousand levels", { tlv: [{ after: "publicKey", put: nestedTlv(10_000) }] }],
  ])("%s", (_what, instead) => expectRejection({ instead }, "assertion_malformed"));

  test("4097 bytes, but not 4096", () => {
    const sized = (length: number) =>
      answerOf({
        settings: { algorithm: 0x0001 },
        extensions: [{ id: "x", data: Buffer.alloc(length), critical: false }],
      });
    const lengthOf = (answer: string) =>
      Buffer.byteLength((JSON.parse(answer) as [Sent])[0].assertions[0].assertion, "base64url");
    const room = 4096 - lengthOf(sized(0));
    expect(lengthOf(sized(room))).toBe(4096);
    expect(judged(sized(room)).ok).toBe(true);
    expect(judged(sized(room + 1))).toMatchObject({ ok: false, reason: "assertion_malformed" });
  });

  test("no error for an unknown non-critical member", () => {
    const instead: Overrides = { tlv: [{ after: "publicKey", put: { tag: 0x0e55, value: Buffer.of(1) } }] };
    expect(verdict({ instead })).toMatchObject({ ok: true });
  });

  test("a non-canonical base64url encoding", () => {
    const answer = answerOf({});
    const [message] = JSON.parse(answer) as [Sent];
    const { assertion, assertionScheme } = message.assertions[0];
    const spelled = (other: string, strict = true) =>
      judged(JSON.stringify([{ ...message, assertions: [{ assertionScheme, assertion: other }] }]), {
        expected: { strict },
      });
    const padded = Buffer.from(assertion, "base64url")
      .toString("base64")
      .replaceAll("+", "-")
      .replaceAll("/", "_");
    for (const other of [` ${assertion}`, `${assertion}\n`, `${assertion}A`, `${assertion}====`, ""])
      expect(spelled(other, false)).toMatchObject({ ok: false, reason: "assertion_malformed" });
    expect(spelled(padded.padEnd(Math.ceil(assertion.length / 4) * 4, "="), false).ok).toBe(true);
  });
});

describe("an authenticator is rejected with", () => {
  const otherKey = makeUafKey(0x0002);
  const offCurve = exportUafKey(otherKey, 0x0100);
  offCurve[64] = (offCurve[64] ?? 0) ^ 1;
  const shortRsa = createPublicKey(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey);

  test.each<[string, Case, UafRejectionReason]>([
    ["A74 an unknown model", { instead: { aaid: "0000#0000" } }, "aaid_unknown"],
    ["a revoked model", { model: { revoked: true } }, "authenticator_revoked"],
    ["a model that may not register", { expected: { disallowed: [{ aaid }] } }, "authenticator_disallowed"],
    [
      "a key that may not register",
      {
        instead: { keyId: Buffer.alloc(32, 1) },
        expected: { disallowed: [{ aaid, keyId: Buffer.alloc(32, 1).toString("base64url") }] },
      },
      "authenticator_disallowed",
    ],
    ["a mode without user verification", { instead: { mode: 0 } }, "mode_unacceptable"],
    ["the mode of a confirmation", { instead: { mode: 2 } }, "mode_unacceptable"],
    [
      "an algorithm that is not one of the model",
      { model: { algorithms: [0x0001] } },
      "algorithm_unacceptable",
    ],
    ["SM2", { instead: { algorithm: 0x0007 }, model: { algorithms: [0x0007] } }, "algorithm_unacceptable"],
    [
      "an undefined algorithm",
      { instead: { algorithm: 0xffff }, model: { algorithms: [0xffff] } },
      "algorithm_unacceptable",
    ],
    [
      "A75 an algorithm that it did not sign with",
      { instead: { algorithm: 0x0001 } },
      "attestation_not_verified",
    ],
    ["A75 an algorithm of another curve", { instead: { algorithm: 0x0006 } }, "public_key_unacceptable"],
    [
      "a key format that is not one of the model",
      { model: { key_formats: [0x0100] } },
      "key_format_unacceptable",
    ],
    [
      "an undefined key format",
      { instead: { keyFormat: 0x0200 }, model: { key_formats: [0x0200] } },
      "public_key_unacceptable",
    ],
    ["a key in another format", { instead: { keyFormat: 0x0100 } }, "public_key_unacceptable"],
    ["an old version", { model: { version: 2 } }, "version_too_old"],
    ["a key id that is too short", { instead: { keyId: Buffer.alloc(31, 1) } }, "key_id_too_short"],
    [
      "a key that is not on its curve",
      { instead: { publicKey: offCurve, keyFormat: 0x0100 } },
      "public_key_unacceptable",
    ],
    [
      "an RSA key of 1024 bits",
      {
        settings: { algorithm: 0x0008 },
        instead: { publicKey: shortRsa.export({ format: "der", type: "pkcs1" }) },
      },
      "public_key_unacceptable",
    ],
    [
      "a key that did not sign",
      { instead: { publicKey: exportUafKey(otherKey, 0x0101) } },
      "attestation_not_verified",
    ],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));

  test("no error for a key beside one that must not register", () => {
    const disallowed = [{ aaid, keyId: Buffer.alloc(32, 1).toString("base64url") }];
    expect(verdict({ expected: { disallowed } })).toMatchObject({ ok: true });
  });

  test("no key beside one that must not register in the same response", () => {
    const one: Case = { instead: { keyId: Buffer.alloc(32, 1) } };
    const disallowed = [{ aaid, keyId: Buffer.alloc(32, 1).toString("base64url") }];
    const request = createRegistrationRequest({
      ...asked,
      username: "ada",
      accepted: [authenticatorMetadata({ aaid })],
    });
    const call = { facetId, overrides: { ignorePolicy: true } };
    const [other] = JSON.parse(createUafAuthenticator().register(request, call)) as [Sent];
    const answer = answerOf({ ...one, instead: { ...one.instead, before: other.assertions } });
    expect(judged(answer)).toMatchObject({ ok: true, registrations: [{}, {}] });
    expect(judged(answer, { expected: { disallowed } })).toMatchObject({
      ok: false,
      reason: "authenticator_disallowed",
    });
  });

  test("no error for a short key id if not strict", () => {
    const one: Case = { instead: { keyId: Buffer.from("fifteen-letters") }, expected: { strict: false } };
    expect(verdict(one)).toMatchObject({ ok: true });
  });

  test("a status code for each reason", () => {
    const codes: [Case, number][] = [
      [{ instead: { aaid: "0000#0000" } }, 1480],
      [{ model: { revoked: true } }, 1493],
      [{ expected: { disallowed: [{ aaid }] } }, 1492],
      [{ model: { version: 2 } }, 1492],
      [{ model: { algorithms: [1] } }, 1495],
      [{ model: { key_formats: [0x0100] } }, 1494],
      [{ settings: { attestation: "ecdaa" } }, 1496],
      [{ instead: { finalChallengeParams: { channelBinding: { tlsUnique: "AA" } } } }, 1490],
      [{ instead: { finalChallengeParams: { challenge: "AA" } } }, 1491],
      [{ instead: { mode: 2 } }, 1498],
    ];
    for (const [one, code] of codes) expect(verdict(one)).toMatchObject({ ok: false, code });
  });
});

describe("an attestation is rejected with", () => {
  const lastWeek = {
    notBefore: new Date(now.getTime() - 9 * day),
    notAfter: new Date(now.getTime() - 2 * day),
  };
  const nextWeek = {
    notBefore: new Date(now.getTime() + 2 * day),
    notAfter: new Date(now.getTime() + 9 * day),
  };
  const koblitz = makeUafKey(0x0005);
  const customer = makeCertificate({ subject: { CN: "Customer" }, issuer: authority });
  const old = makeCertificate({ subject: { CN: "Old" }, issuer: authority, ca: true, ...lastWeek });

  test.each<[string, Case, UafRejectionReason]>([
    [
      "a signature by the key itself if certificates are required",
      { model: trustedModel },
      "attestation_type_unacceptable",
    ],
    ["an ECDAA attestation", { settings: { attestation: "ecdaa" } }, "attestation_type_unacceptable"],
    ["a certificate without a known root", { settings: full() }, "attestation_not_verified"],
    [
      "a root of another model",
      { settings: full({ authority: stranger }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "a root of another model that is sent along",
      { settings: full({ authority: stranger, above: [stranger] }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "another root with the same name",
      { settings: full({ authority: makeAuthority() }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "an expired certificate",
      { settings: full({ certificate: lastWeek }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "a certificate that is not yet valid",
      { settings: full({ certificate: nextWeek }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "a certificate of an authority",
      { settings: full({ certificate: { ca: true } }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "a certificate of another key",
      {
        settings: full({ certificate: { publicKey: createPublicKey(makeUafKey(0x0002)) } }),
        model: trustedModel,
      },
      "attestation_not_verified",
    ],
    [
      "a certificate of another kind of key",
      {
        settings: full({ certificate: { publicKey: createPublicKey(makeUafKey(0x0008)) } }),
        model: trustedModel,
      },
      "attestation_not_verified",
    ],
    [
      "a certificate whose key is on another curve than stated",
      {
        settings: full({ certificate: { publicKey: createPublicKey(koblitz) } }),
        instead: { signWith: koblitz },
        model: trustedModel,
      },
      "attestation_not_verified",
    ],
    [
      "a chain through a certificate that is not an authority",
      { settings: full({ authority: customer, above: [customer] }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "a chain through an expired certificate",
      { settings: full({ authority: old, above: [old] }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "certificates in the wrong order",
      { settings: full({ authority: intermediate, above: [authority, intermediate] }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "too many certificates",
      { settings: full({ above: Array(6).fill(authority) }), model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "no certificate",
      { settings: full(), instead: { tlv: [{ leaveOut: "attestationCert" }] }, model: trustedModel },
      "assertion_malformed",
    ],
    [
      "bytes that are not a certificate",
      {
        settings: full(),
        instead: { tlv: [{ of: "attestationCert", value: Buffer.alloc(400, 0x30) }] },
        model: trustedModel,
      },
      "attestation_not_verified",
    ],
    [
      "a certificate before the signature",
      {
        settings: full(),
        instead: { tlv: [{ swap: ["signature", "attestationCert"] }] },
        model: trustedModel,
      },
      "assertion_malformed",
    ],
    [
      "a signature of other data",
      { settings: full(), instead: { signature: "flipped" }, model: trustedModel },
      "attestation_not_verified",
    ],
    [
      "a signature of other data by the key itself",
      { instead: { signature: "flipped" } },
      "attestation_not_verified",
    ],
    [
      "the signature of another key",
      { instead: { signWith: makeUafKey(0x0002) } },
      "attestation_not_verified",
    ],
    ["numbers that are not DER", { instead: { signature: "negative r" } }, "attestation_not_verified"],
    [
      "a root that cannot be read",
      { settings: full(), model: { ...trustedModel, roots: ["malformed"] } },
      "attestation_not_verified",
    ],
  ])("%s", (_title, one, reason) => expectRejection(one, reason));

  describe("A134 a certificate", () => {
    const naming = (...values: Buffer[]) => values.map((value) => ({ id: "1.3.6.1.4.1.45724.1.1.1", value }));
    const certifying = (...values: Buffer[]) => full({ certificate: { extensions: naming(...values) } });
    const modelAuthority = (model: string) =>
      makeCertificate({
        subject: { CN: "Model" },
        issuer: authority,
        ca: true,
        extensions: naming(utf8(model)),
      });
    const viaModelAuthority = (model: string) => {
      const issuer = modelAuthority(model);
      return full({ authority: issuer, above: [issuer] });
    };

    test.each<[string, UafSettings]>([
      ["of another model under the same root", certifying(utf8("006F#0002"))],
      ["of this model and another one", certifying(utf8(aaid), utf8("006F#0002"))],
      ["issued by the authority of another model", viaModelAuthority("006F#0002")],
      ["whose model is not a text", certifying(der(0x02, Buffer.from(aaid)))],
      ["whose model cannot be read", certifying(Buffer.from(aaid))],
    ])("%s is rejected", (_title, settings) => {
      expectRejection({ settings, model: trustedModel }, "attestation_not_verified");
    });

    test.each<[string, UafSettings]>([
      ["in UTF-8", certifying(utf8(aaid))],
      ["as an octet string", certifying(octetString(Buffer.from(aaid)))],
      ["in lower case", certifying(utf8(aaid.toLowerCase()))],
      ["in the certificate of its authority", viaModelAuthority(aaid)],
    ])("that names this model %s is accepted", (_title, settings) => {
      expect(verdict({ settings, model: trustedModel })).toMatchObject({ ok: true });
    });
  });

  test("no error for a chain to a root, in any form", () => {
    for (const details of [
      {},
      { above: [authority] },
      { authority: intermediate, above: [intermediate] },
      { authority: intermediate, above: [intermediate, authority] },
    ])
      expect(verdict({ settings: full(details), model: trustedModel })).toMatchObject({
        ok: true,
        registrations: [{ attestation: "full" }],
      });
  });

  test("no error for a listed certificate, unless it only shares the key", () => {
    const key = makeUafKey(0x0002);
    const issued = (cn: string) =>
      makeCertificate({ subject: { CN: cn }, issuer: authority, publicKey: createPublicKey(key) });
    const [listed, sameKey] = [issued("Listed"), issued("Alike")];
    const by = (value: Buffer): Case => ({
      settings: full(),
      instead: { signWith: key, tlv: [{ of: "attestationCert", value }] },
      model: { attestation: "full", roots: [pemOf(listed), pemOf(authority)] },
    });
    expect(verdict(by(listed.der))).toMatchObject({ ok: true, registrations: [{ attestation: "full" }] });
    expectRejection(by(sameKey.der), "attestation_not_verified");
    expectRejection(by(Buffer.concat([listed.der, Buffer.of(0)])), "attestation_not_verified");
    expectRejection(by(Buffer.from(pemOf(listed))), "attestation_not_verified");
  });

  test("no error for numbers that are not DER if not strict", () => {
    const one: Case = { instead: { signature: "negative r" }, expected: { strict: false } };
    expect(verdict(one)).toMatchObject({ ok: true });
  });

  test("no error for a valid certificate that was not required", () => {
    const model: Partial<AcceptedAuthenticator> = { ...trustedModel, attestation: "surrogate" };
    expect(verdict({ settings: full(), model })).toMatchObject({ registrations: [{ attestation: "full" }] });
    expect(verdict({ model })).toMatchObject({ registrations: [{ attestation: "surrogate" }] });
  });

  test("no error if the attestation key has another algorithm than the new key", () => {
    const key = makeUafKey(0x0001);
    const one: Case = {
      settings: { ...full(), algorithm: 0x0003 },
      instead: { publicKey: exportUafKey(key, 0x0100), keyFormat: 0x0100 },
      model: { ...trustedModel, algorithms: [0x0003, 0x0001] },
    };
    expect(verdict(one)).toMatchObject({ ok: true, registrations: [{ algorithm: 0x0001 }] });
    expectRejection({ ...one, model: { ...trustedModel, algorithms: [0x0003] } }, "public_key_unacceptable");
  });
});
