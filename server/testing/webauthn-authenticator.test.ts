import { createHash, createPublicKey, sign, verify } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { compactVerify, importJWK } from "jose";
import { describe, expect, test } from "vitest";
import { type CoseAlgorithm, coseAlgorithms, encodeCoseKey, offCurveKey } from "./cose-key.ts";
import { softwareAuthenticator } from "./webauthn-authenticator.ts";
import type { RegistrationJson } from "./webauthn-json.ts";
import { attestationObject, authenticatorData, clientDataJson, signedBytes } from "./webauthn-messages.ts";

const origin = "https://login.example";
const creation = {
  publicKey: {
    rp: { id: "login.example", name: "Example" },
    user: { id: Buffer.from("ada").toString("base64url"), name: "ada", displayName: "ada" },
    challenge: Buffer.from("a challenge of some length").toString("base64url"),
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: { residentKey: "required", userVerification: "preferred" },
    attestation: "direct",
  },
};
const request = {
  publicKey: { challenge: "YW5vdGhlciBjaGFsbGVuZ2U", rpId: "login.example", userVerification: "required" },
};

const bytes = (text: string) => Buffer.from(text, "base64url");
const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest();
const publicKeyOf = (made: RegistrationJson) =>
  createPublicKey({ key: bytes(made.response.publicKey ?? ""), format: "der", type: "spki" });
const flagsOf = (authData: string) => bytes(authData)[32] ?? 0;

describe.each(Object.entries(coseAlgorithms))("with %s", (_name, algorithm) => {
  const authenticator = softwareAuthenticator({
    algorithms: [algorithm],
    attestation: "packed",
    counts: true,
  });
  const call = { origin, algorithm };
  const made = authenticator.create(creation, call);
  const key = publicKeyOf(made);
  const hash = algorithm === coseAlgorithms.EdDSA ? null : "sha256";

  test("the packed statement and every assertion verify with the published key", () => {
    const { authenticatorData: authData, clientDataJSON, attestationObject: object } = made.response;
    const signed = signedBytes(bytes(authData), bytes(clientDataJSON));
    // In canonical order "sig" comes last in the statement, right before "authData".
    const before = bytes(object).indexOf("hauthData");
    const statement = bytes(object).subarray(0, before);
    const start = statement.indexOf("csig") + 4;
    const long = statement[start] === 0x58 ? 2 : statement[start] === 0x59 ? 3 : 1;
    expect(verify(hash, signed, key, statement.subarray(start + long))).toBe(true);

    const signedIn = authenticator.get(request, { origin });
    const { authenticatorData: data, clientDataJSON: client, signature } = signedIn.response;
    expect(verify(hash, signedBytes(bytes(data), bytes(client)), key, bytes(signature))).toBe(true);
    expect(signedIn.rawId).toBe(made.rawId);
    expect(signedIn.response.userHandle).toBe(creation.publicKey.user.id);
  });

  test("a broken signature does not verify", () => {
    const {
      authenticatorData: data,
      clientDataJSON: client,
      signature,
    } = authenticator.get(request, {
      origin,
      brokenSignature: true,
    }).response;
    expect(verify(hash, signedBytes(bytes(data), bytes(client)), key, bytes(signature))).toBe(false);
  });
});

test("an EdDSA assertion also verifies under the rules of JOSE", async () => {
  const authenticator = softwareAuthenticator({ algorithms: [coseAlgorithms.EdDSA] });
  const key = publicKeyOf(authenticator.create(creation, { origin }));
  // EdDSA signs the same bytes in COSE and JOSE, so jose can verify a JWS signed with the credential's key.
  const header = Buffer.from('{"alg":"EdDSA"}').toString("base64url");
  const [credential] = authenticator.credentials;
  const signature = credential
    ? sign(null, Buffer.from(`${header}.e30`), credential.key.privateKey)
    : Buffer.alloc(0);
  const verified = await compactVerify(
    `${header}.e30.${signature.toString("base64url")}`,
    await importJWK(key.export({ format: "jwk" }), "EdDSA"),
  );
  expect(new TextDecoder().decode(verified.payload)).toBe("{}");
});

test("the registration response has the byte layout of the specification", () => {
  const made = softwareAuthenticator({ counts: true }).create(creation, { origin });
  const authData = bytes(made.response.authenticatorData);
  expect(authData.subarray(0, 32)).toEqual(sha256("login.example"));
  expect(authData[32]).toBe(0b0101_1101);
  expect(authData.readUInt32BE(33)).toBe(1);
  expect(authData.readUInt16BE(53)).toBe(32);
  expect(authData.subarray(55, 87).toString("base64url")).toBe(made.id);
  expect(JSON.parse(bytes(made.response.clientDataJSON).toString())).toEqual({
    type: "webauthn.create",
    challenge: creation.publicKey.challenge,
    origin,
    crossOrigin: false,
  });
  expect(bytes(made.response.attestationObject).includes(authData)).toBe(true);
});

test("chooses the first supported algorithm in the order of the relying party", () => {
  const all: CoseAlgorithm[] = [coseAlgorithms.RS256, coseAlgorithms.EdDSA, coseAlgorithms.ES256];
  expect(
    softwareAuthenticator({ algorithms: all }).create(creation, { origin }).response.publicKeyAlgorithm,
  ).toBe(-7);
  expect(() =>
    softwareAuthenticator({ algorithms: [coseAlgorithms.ES256K] }).create(creation, { origin }),
  ).toThrow(expect.objectContaining({ name: "NotSupportedError" }));
});

test("rejects excluded credentials, and signs with allowed credentials only", () => {
  const authenticator = softwareAuthenticator();
  const { id } = authenticator.create(creation, { origin });
  const list = [{ type: "public-key", id }];
  const again = { publicKey: { ...creation.publicKey, excludeCredentials: list } };
  expect(() => authenticator.create(again, { origin })).toThrow(
    expect.objectContaining({ name: "InvalidStateError" }),
  );
  const allowed = (one: string) => ({
    ...request.publicKey,
    allowCredentials: [{ type: "public-key", id: one }],
  });
  expect(authenticator.get(allowed(id), { origin }).id).toBe(id);
  expect(() => authenticator.get(allowed("AAAA"), { origin })).toThrow(
    expect.objectContaining({ name: "NotAllowedError" }),
  );
});

test("verifies the user if requested and supported, and rejects a required verification otherwise", () => {
  const key = softwareAuthenticator({ userVerification: false, backup: "no" });
  expect(flagsOf(key.create(creation, { origin }).response.authenticatorData)).toBe(0b0100_0001);
  expect(() => key.get(request, { origin })).toThrow(expect.objectContaining({ name: "NotAllowedError" }));
  const authenticator = softwareAuthenticator();
  authenticator.create(creation, { origin });
  const discouraged = { ...request.publicKey, userVerification: "discouraged" };
  expect(flagsOf(authenticator.get(discouraged, { origin }).response.authenticatorData)).toBe(0b0001_1001);
});

test("increments signature counters only if configured", () => {
  const counts = (authenticator: ReturnType<typeof softwareAuthenticator>) => {
    authenticator.create(creation, { origin });
    return [1, 2].map(() =>
      bytes(authenticator.get(request, { origin }).response.authenticatorData).readUInt32BE(33),
    );
  };
  expect(counts(softwareAuthenticator({ counts: true }))).toEqual([2, 3]);
  expect(counts(softwareAuthenticator())).toEqual([0, 0]);
});

describe("overrides", () => {
  const authenticator = softwareAuthenticator();
  authenticator.create(creation, { origin });
  const clientOf = (call: object) =>
    JSON.parse(
      bytes(authenticator.get(request, { origin, ...call }).response.clientDataJSON)
        .toString()
        .replace("\uFEFF", ""),
    );
  const dataOf = (call: object) =>
    bytes(authenticator.get(request, { origin, ...call }).response.authenticatorData);

  test("apply to the client data", () => {
    expect(clientOf({ challenge: "AAAA" }).challenge).toBe("AAAA");
    expect(clientOf({ origin: "https://evil.example" }).origin).toBe("https://evil.example");
    expect(clientOf({ type: "webauthn.create" }).type).toBe("webauthn.create");
    expect(clientOf({ crossOrigin: true, topOrigin: "https://evil.example" })).toMatchObject({
      crossOrigin: true,
      topOrigin: "https://evil.example",
    });
    const marked = authenticator.get(request, { origin, byteOrderMark: true }).response.clientDataJSON;
    expect(bytes(marked).subarray(0, 3).toString("hex")).toBe("efbbbf");
  });

  test("apply to the authenticator data", () => {
    expect(dataOf({ rpId: "evil.example" }).subarray(0, 32)).toEqual(sha256("evil.example"));
    expect((dataOf({ userPresent: false })[32] ?? 0) & 1).toBe(0);
    expect((dataOf({ userVerified: false })[32] ?? 0) & 4).toBe(0);
    expect((dataOf({ backupEligible: false })[32] ?? 0) & 8).toBe(0);
    expect((dataOf({ backedUp: false })[32] ?? 0) & 16).toBe(0);
    expect(dataOf({ signCount: 7 }).readUInt32BE(33)).toBe(7);
    const extended = dataOf({ extensions: new Map([["example", true]]) });
    expect([(extended[32] ?? 0) & 128, extended.subarray(37).toString("hex")]).toEqual([
      128,
      "a1676578616d706c65f5",
    ]);
    expect(dataOf({ authenticatorDataTail: Buffer.from("00", "hex") })).toHaveLength(38);
  });

  test("apply to the user handle", () => {
    const handle = (userHandle: string | null) =>
      authenticator.get(request, { origin, userHandle }).response.userHandle;
    expect(handle("Zm9yZWlnbg")).toBe("Zm9yZWlnbg");
    expect(handle(null)).toBeUndefined();
  });

  test("apply to registrations", () => {
    const make = (call: object) => softwareAuthenticator().create(creation, { origin, ...call });
    const oversized = make({ credentialId: Buffer.alloc(1024, 1) });
    expect(bytes(oversized.id)).toHaveLength(1024);
    expect(bytes(oversized.response.authenticatorData).readUInt16BE(53)).toBe(1024);
    const tailed = bytes(
      make({ attestationObjectTail: Buffer.from("00", "hex") }).response.attestationObject,
    );
    const plain = bytes(make({}).response.attestationObject);
    expect(tailed.length).toBe(plain.length + 1);
    expect(make({ algorithm: coseAlgorithms.ES256K }).response.publicKeyAlgorithm).toBe(-47);
    expect(bytes(make({ fmt: "unknown-format" }).response.attestationObject).includes("unknown-format")).toBe(
      true,
    );

    const point = bytes(make({ publicKey: offCurveKey() }).response.authenticatorData).subarray(87);
    const [x, y] = [point.subarray(10, 42), point.subarray(45, 77)].map((half) => half.toString("base64url"));
    expect(() =>
      createPublicKey({ format: "jwk", key: { kty: "EC", crv: "P-256", x, y } } as never),
    ).toThrow();
  });
});

interface Vector {
  rpId: string;
  registration: { hex: Record<string, string>; challenge: string };
  authentication: { hex: Record<string, string>; challenge: string };
  credential: { publicKeyCose: string };
}

const folder = new URL("../../../shared/data/", import.meta.url);
const found = existsSync(folder);

describe(`the test vectors of WebAuthn Level 3 (${found ? "read from ../shared/data" : "skipped: ../shared/data does not exist"})`, () => {
  const names = found ? ["none-es256", "packed-self-es256", "packed-es256"] : [];

  test(found ? "exist" : "are optional", () => {
    expect(names.length).toBe(found ? 3 : 0);
  });

  for (const name of names) {
    const vector: Vector = JSON.parse(readFileSync(new URL(`webauthn-${name}.json`, folder), "utf8"));
    const hex = (part: "registration" | "authentication", field: string) =>
      Buffer.from(vector[part].hex[field] ?? "", "hex");
    const cose = bytes(vector.credential.publicKeyCose);
    const [x, y] = [cose.subarray(10, 42), cose.subarray(45, 77)].map((half) => half.toString("base64url"));
    const jwk = { kty: "EC", crv: "P-256", x, y } as { kty: string };

    test(`${name}: encodes the public key as the vector`, () => {
      expect(encodeCoseKey(jwk, coseAlgorithms.ES256)).toEqual(cose);
    });

    test(`${name}: encodes the attestation object as the vector`, () => {
      const object = hex("registration", "attestationObject");
      const start = object.indexOf(sha256(vector.rpId));
      const authData = object.subarray(start);
      const id = hex("registration", "credential_id");
      const flags = authData[32] ?? 0;
      const built = authenticatorData({
        rpId: vector.rpId,
        userPresent: (flags & 1) > 0,
        userVerified: (flags & 4) > 0,
        backupEligible: (flags & 8) > 0,
        backedUp: (flags & 16) > 0,
        signCount: 0,
        attested: { aaguid: hex("registration", "aaguid"), credentialId: id, cose },
      });
      expect(built).toEqual(authData);
      // The other statements hold signatures, which are random; the empty one can be rebuilt.
      if (name === "none-es256") expect(attestationObject("none", new Map(), built)).toEqual(object);
    });

    test(`${name}: serializes client data that starts as the vector`, () => {
      for (const part of ["registration", "authentication"] as const) {
        const text = hex(part, "clientDataJSON").toString();
        const built = clientDataJson({ ...JSON.parse(text), challenge: vector[part].challenge }).toString();
        expect(text.startsWith(built.slice(0, -1))).toBe(true);
      }
    });

    test(`${name}: the signature of the vector covers the bytes that we sign`, () => {
      const key = createPublicKey({ format: "jwk", key: jwk });
      const signed = signedBytes(
        hex("authentication", "authenticatorData"),
        hex("authentication", "clientDataJSON"),
      );
      expect(verify("sha256", signed, key, hex("authentication", "signature"))).toBe(true);
    });
  }
});
