import { sign } from "node:crypto";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Cbor } from "../testing/cbor.ts";
import { coseAlgorithms, offCurveKey, smallOrderKeys } from "../testing/cose-key.ts";
import { type CreateCall, softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import type { RegistrationJson } from "../testing/webauthn-json.ts";
import { frameVectors, vectors } from "../testing/webauthn-vectors.ts";
import { offeredAlgorithms } from "./algorithms.ts";
import { type ExpectedRegistration, verifyWebAuthnAttestation } from "./attestation.ts";
import { newCredential } from "./credential-record.ts";
import { noFraming } from "./framing.ts";
import { readClientData, registrationResponse } from "./responses.ts";

const origin = "https://login.example";
const expected: ExpectedRegistration = {
  challenge: Buffer.from("a challenge of thirty-two bytes.").toString("base64url"),
  origins: [origin, "android:apk-key-hash:example"],
  rpId: "login.example",
  requireUserPresence: true,
  requireUserVerification: false,
  formats: ["none", "packed", "fido-u2f", "tpm", "apple", "android-key"],
  now: new Date(),
};
const options = {
  rp: { id: expected.rpId, name: "Example" },
  user: { id: "YWRh", name: "ada", displayName: "ada" },
  challenge: expected.challenge,
  pubKeyCredParams: offeredAlgorithms.map((alg) => ({ type: "public-key", alg })),
  authenticatorSelection: { residentKey: "required", userVerification: "preferred" },
  attestation: "direct",
};

type Settings = Parameters<typeof softwareAuthenticator>[0];
const made = (call: Partial<CreateCall> = {}, settings: Settings = {}) =>
  softwareAuthenticator(settings).create(options, { origin, ...call });

async function judge(response: unknown, changes: Partial<ExpectedRegistration> = {}) {
  const answer = registrationResponse.parse(response);
  const clientData = readClientData(answer.response.clientDataJSON);
  if (!clientData) throw new Error("no client data");
  return verifyWebAuthnAttestation(answer, clientData, { ...expected, ...changes });
}

const reasonOf = async (response: unknown, changes?: Partial<ExpectedRegistration>) => {
  const judged = await judge(response, changes);
  return judged.ok ? "accepted" : judged.reason;
};

// No input of a client may cause a request to another server.
beforeEach(() => {
  vi.stubGlobal("fetch", vi.fn());
  vi.spyOn(Socket.prototype, "connect");
});
afterEach(() => {
  expect(fetch).not.toHaveBeenCalled();
  expect(Socket.prototype.connect).not.toHaveBeenCalled();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the attestation of a passkey", () => {
  test("returns a record that can be serialized as JSON", async () => {
    const response = made({}, { backup: "eligible", counts: true, aaguid: Buffer.alloc(16, 0xab) });
    const judged = await judge(response);
    if (!judged.ok) throw new Error(judged.reason);
    expect(judged.credential).toMatchObject({
      id: response.id,
      signCount: 1,
      aaguid: "abababab-abab-abab-abab-abababababab",
      attestationType: "none",
      transports: ["internal", "hybrid"],
      backupEligible: true,
      backupState: false,
      userVerified: true,
      mfaOnly: false,
      name: null,
    });
    expect(newCredential.parse(JSON.parse(JSON.stringify(judged.credential)))).toEqual(judged.credential);
  });

  test.each([coseAlgorithms.ES256, coseAlgorithms.EdDSA, coseAlgorithms.RS256])(
    "accepts algorithm %i",
    async (algorithm) => {
      expect(await reasonOf(made({}, { algorithms: [algorithm] }))).toBe("accepted");
      expect(await reasonOf(made({}, { algorithms: [algorithm], attestation: "packed" }))).toBe("accepted");
    },
  );

  test.each<[string, Partial<CreateCall>]>([
    ["accepts unrequested extensions", { extensions: new Map([["credProtect", 2]]) }],
    ["accepts another configured origin", { origin: "android:apk-key-hash:example" }],
    ["accepts client data that starts with a byte order mark", { byteOrderMark: true }],
    ["accepts an unverified user if verification is not required", { userVerified: false }],
    ["accepts an id of the maximum length", { credentialId: Buffer.alloc(1023, 7) }],
  ])("%s", async (_what, call) => {
    expect(await reasonOf(made(call))).toBe("accepted");
  });

  test("returns well-formed transports, each once", async () => {
    const response = made(
      {},
      { transports: ["usb", "usb", "smart-card", "", "<script>", "UPPER", "x".repeat(33)] },
    );
    expect(await judge(response)).toMatchObject({ credential: { transports: ["usb", "smart-card"] } });
    const { transports: _, ...rest } = response.response;
    expect(await judge({ ...response, response: rest })).toMatchObject({ credential: { transports: [] } });
  });
});

describe("verifyWebAuthnAttestation", () => {
  test.each<[string, Partial<CreateCall>, string]>([
    ["R3 rejects another ceremony", { type: "webauthn.get" }, "not_verified"],
    ["R4 rejects another challenge", { challenge: "YW5vdGhlcg" }, "not_verified"],
    ["R5 rejects another origin", { origin: "https://evil.example" }, "not_verified"],
    [
      "R5 rejects an origin that starts as ours does",
      { origin: "https://login.example.evil.example" },
      "not_verified",
    ],
    ["R5 rejects our host without TLS", { origin: "http://login.example" }, "not_verified"],
    ["R6 rejects a page in a frame of another origin", { crossOrigin: true }, "cross_origin"],
    ["R7 rejects a top origin", { topOrigin: "https://evil.example" }, "cross_origin"],
    [
      "R7 rejects a frame with a top origin",
      { crossOrigin: true, topOrigin: "https://login.example" },
      "cross_origin",
    ],
    [
      "R9 rejects a byte after the attestation object",
      { attestationObjectTail: Buffer.of(0) },
      "attestation_object_malformed",
    ],
    [
      "R9 rejects a second item after the attestation object",
      { attestationObjectTail: Buffer.from("a0", "hex") },
      "attestation_object_malformed",
    ],
    [
      "R9 rejects a byte after the authenticator data",
      { authenticatorDataTail: Buffer.of(0) },
      "not_verified",
    ],
    ["R10 rejects another relying party", { rpId: "evil.example" }, "not_verified"],
    ["R11 rejects an absent user", { userPresent: false }, "not_verified"],
    [
      "R13 rejects a backed-up passkey without backup eligibility",
      { backupEligible: false, backedUp: true },
      "not_verified",
    ],
    ["R15 rejects an algorithm that was not offered", { algorithm: coseAlgorithms.ES256K }, "not_verified"],
    ["R16 rejects an unknown format", { fmt: "unheard-of" }, "attestation_format_refused"],
    [
      "R16 rejects a format that is no longer supported",
      { fmt: "android-safetynet" },
      "attestation_format_refused",
    ],
    [
      "R16 rejects a format that only the library supports",
      { fmt: "compound" },
      "attestation_format_refused",
    ],
    [
      "R16 rejects the name of a property that every object has",
      { fmt: "constructor" },
      "attestation_format_refused",
    ],
    ["R17 rejects an empty statement of a TPM", { fmt: "tpm" }, "not_verified"],
    ["R17 rejects an empty statement of Apple's", { fmt: "apple" }, "attestation_statement_refused"],
    ["R17 rejects an empty statement of Android's", { fmt: "android-key" }, "attestation_statement_refused"],
    ["R20 rejects an id of 1024 bytes", { credentialId: Buffer.alloc(1024, 7) }, "invalid"],
    ["rejects a key that is not on its curve", { publicKey: offCurveKey() }, "public_key_refused"],
    ...smallOrderKeys().map((publicKey): [string, Partial<CreateCall>, string] => [
      `A132 rejects the point of small order ${publicKey.subarray(-32).toString("hex")}`,
      { publicKey },
      "public_key_refused",
    ]),
  ])("%s", async (_what, call, reason) => {
    const response = made(call);
    if (reason === "invalid") expect(registrationResponse.safeParse(response).success).toBe(false);
    else expect(await reasonOf(response)).toBe(reason);
  });

  test("R11 rejects an absent user, except in a conditional creation", async () => {
    const alone = { userPresent: false, userVerified: false };
    expect(await reasonOf(made(alone))).toBe("not_verified");
    expect(await reasonOf(made(alone), { requireUserPresence: false })).toBe("accepted");
    const required = { requireUserPresence: false, requireUserVerification: true };
    expect(await reasonOf(made(alone), required)).toBe("not_verified");
  });

  test("R16 rejects a known format that is not configured", async () => {
    expect(await reasonOf(made({}, { attestation: "packed" }), { formats: ["none"] })).toBe(
      "attestation_format_refused",
    );
    expect(await reasonOf(made(), { formats: ["packed"] })).toBe("attestation_format_refused");
    expect(await reasonOf(made({}, { attestation: "packed" }), { formats: ["packed"] })).toBe("accepted");
  });

  test("R12 rejects an unverified user if verification is required", async () => {
    const required = { requireUserVerification: true };
    expect(await reasonOf(made({ userVerified: false }), required)).toBe("not_verified");
    expect(await reasonOf(made({ userVerified: true }), required)).toBe("accepted");
  });

  test("R17 rejects a broken signature of self attestation", async () => {
    const response = made({ brokenSignature: true }, { attestation: "packed" });
    expect(await reasonOf(response)).toBe("not_verified");
  });

  test("R17 rejects self attestation by another algorithm than the key's", async () => {
    const response = made(
      {},
      {
        attestation: ({ authData, clientDataHash, key }) => ({
          fmt: "packed",
          members: new Map<string, Cbor>([
            ["alg", -35],
            ["sig", sign("sha384", Buffer.concat([authData, clientDataHash]), key.privateKey)],
          ]),
        }),
      },
    );
    expect(await reasonOf(response)).toBe("attestation_statement_refused");
  });

  test("rejects a statement in the format none", async () => {
    expect(await reasonOf(made({ fmt: "none" }, { attestation: "packed" }))).toBe("not_verified");
  });

  test("R20 rejects an attested id of 1024 bytes if the response has another", async () => {
    const response = made({ credentialId: Buffer.alloc(1024, 7) });
    expect(await reasonOf({ ...response, id: "AAAA", rawId: "AAAA" })).toBe("credential_id_mismatch");
  });

  test("rejects an id that differs from the attested one", async () => {
    const { id } = made();
    expect(await reasonOf({ ...made(), id, rawId: id })).toBe("credential_id_mismatch");
    expect(await reasonOf({ ...made(), rawId: id })).toBe("not_verified");
  });

  test("rejects a truncated object, or one with other content", async () => {
    const response = made({}, { attestation: "packed" });
    const object = Buffer.from(response.response.attestationObject, "base64url");
    const withObject = (bytes: Buffer): RegistrationJson => ({
      ...response,
      response: { ...response.response, attestationObject: bytes.toString("base64url") },
    });
    for (let end = 1; end < object.length; end += 7) {
      expect(await reasonOf(withObject(object.subarray(0, end)))).toBe("attestation_object_malformed");
    }
    for (const text of ["00", "80", "a0", "6161", "81a0", "a163666d7401", "a163666d74646e6f6e65"]) {
      expect(await reasonOf(withObject(Buffer.from(text, "hex")))).not.toBe("accepted");
    }
    expect(await reasonOf(withObject(Buffer.alloc(30_000, 0x81)))).toBe("attestation_object_malformed");
  });

  test("rejects an object if any bit of its signed part is flipped", async () => {
    const response = made({}, { attestation: "packed" });
    const object = Buffer.from(response.response.attestationObject, "base64url");
    const start = object.indexOf("hauthData") + 12;
    for (let at = start; at < object.length; at += 5) {
      const turned = Buffer.from(object);
      turned[at] = (turned[at] ?? 0) ^ 1;
      const attestationObject = turned.toString("base64url");
      expect(await reasonOf({ ...response, response: { ...response.response, attestationObject } })).not.toBe(
        "accepted",
      );
    }
  });
});

describe("the test vectors of WebAuthn Level 3", () => {
  test("are three", () => {
    expect(vectors).toHaveLength(3);
  });

  test.each(vectors)(
    "$id registers",
    async ({ registration, credential, flagsRegistration, fmt, origin, rpId }) => {
      const judged = await judge(registration.response, {
        challenge: registration.challenge,
        origins: [origin],
        rpId,
      });
      expect(judged).toMatchObject({
        ok: true,
        credential: {
          id: credential.id,
          publicKey: credential.publicKeyCose,
          attestationType: fmt,
          signCount: 0,
          userVerified: flagsRegistration.UV,
          backupEligible: flagsRegistration.BE,
          backupState: flagsRegistration.BS,
        },
      });
    },
  );
});

describe("the test vectors of WebAuthn Level 3 in a frame", () => {
  test.each(frameVectors)(
    "R6, R7 $id registers on an accepted page alone",
    async ({ registration, credential, origin, rpId, topOrigin }) => {
      const about = { challenge: registration.challenge, origins: [origin], rpId };
      const listed = topOrigin ?? "https://example.com";
      const accepted = { topOrigins: [listed], startedIn: listed };
      expect(await judge(registration.response, { ...about, framing: accepted })).toMatchObject({
        ok: true,
        credential: { id: credential.id, publicKey: credential.publicKeyCose },
      });
      const others = [noFraming, { topOrigins: ["https://other.example"], startedIn: listed }];
      for (const framing of [...others, undefined])
        expect(await reasonOf(registration.response, { ...about, ...(framing ? { framing } : {}) })).toBe(
          "cross_origin",
        );
    },
  );
});
