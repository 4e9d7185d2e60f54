import { constants, createHash, createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { makeAuthority, makeCertificate } from "../../lib/certificates.ts";
import { appId, type Change, challenge, facetId, opened, read, requestOf, upv } from "../uaf-messages.ts";
import { createUafAuthenticator } from "./authenticator.ts";
import type { Overrides, UafSettings } from "./call.ts";
import { keyFormatsOf, makeUafKey, type UafAlgorithm, uafAlgorithms } from "./keys.ts";

/** Verification with Node, with the numbers of the registry spelled out independently. */
const verifiers: Record<UafAlgorithm, (data: Buffer, key: KeyObject, signature: Buffer) => boolean> = {
  1: (data, key, sig) => verify("sha256", data, { key, dsaEncoding: "ieee-p1363" }, sig),
  2: (data, key, sig) => verify("sha256", data, { key, dsaEncoding: "der" }, sig),
  3: (data, key, sig) => verify("sha256", data, pss(key, 32), sig),
  4: (data, key, sig) => verify("sha256", data, pss(key, 32), unwrapped(sig)),
  5: (data, key, sig) => verify("sha256", data, { key, dsaEncoding: "ieee-p1363" }, sig),
  6: (data, key, sig) => verify("sha256", data, { key, dsaEncoding: "der" }, sig),
  8: (data, key, sig) => verify("sha256", data, key, sig),
  9: (data, key, sig) => verify("sha256", data, key, unwrapped(sig)),
  10: (data, key, sig) => verify("sha384", data, pss(key, 48), sig),
  11: (data, key, sig) => verify("sha512", data, pss(key, 64), sig),
  12: (data, key, sig) => verify("sha256", data, key, sig),
  13: (data, key, sig) => verify("sha384", data, key, sig),
  14: (data, key, sig) => verify("sha512", data, key, sig),
  15: (data, key, sig) => verify("sha1", data, key, sig),
  16: (data, key, sig) => verify("sha384", data, { key, dsaEncoding: "ieee-p1363" }, sig),
  17: (data, key, sig) => verify("sha512", data, { key, dsaEncoding: "ieee-p1363" }, sig),
  18: (data, key, sig) => verify(null, data, key, sig),
};
const pss = (key: KeyObject, saltLength: number) => ({
  key,
  saltLength,
  padding: constants.RSA_PKCS1_PSS_PADDING,
});
function unwrapped(signature: Buffer): Buffer {
  expect(signature.subarray(0, 4).toString("hex")).toBe("04820100");
  return signature.subarray(4);
}

const curves: Partial<Record<UafAlgorithm, [name: string, size: number]>> = {
  1: ["P-256", 32],
  2: ["P-256", 32],
  5: ["secp256k1", 32],
  6: ["secp256k1", 32],
  16: ["P-384", 48],
  17: ["P-521", 66],
};

/** Parses TAG_PUB_KEY by the number of its format. */
function keyOf(format: number, algorithm: UafAlgorithm, bytes: Buffer): KeyObject {
  const b64 = (part: Buffer) => part.toString("base64url");
  if (format === 0x0100) {
    const [crv = "", size = 0] = curves[algorithm] ?? [];
    expect(bytes.length).toBe(1 + 2 * size);
    const [x, y] = [b64(bytes.subarray(1, 1 + size)), b64(bytes.subarray(1 + size))];
    return createPublicKey({ key: { kty: "EC", crv, x, y }, format: "jwk" });
  }
  if (format === 0x0101) return createPublicKey({ key: bytes, format: "der", type: "spki" });
  if (format === 0x0103) return createPublicKey({ key: bytes, format: "der", type: "pkcs1" });
  const [n, e] = [b64(bytes.subarray(0, 256)), b64(bytes.subarray(256))];
  return createPublicKey({ key: { kty: "RSA", n, e }, format: "jwk" });
}

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();
const algorithms = Object.keys(uafAlgorithms).map((id) => Number(id) as UafAlgorithm);
const pairs = algorithms.flatMap((algorithm) =>
  keyFormatsOf(algorithm).map((keyFormat) => ({ algorithm, keyFormat })),
);

describe.each(pairs)("algorithm $algorithm with keys in format $keyFormat", ({ algorithm, keyFormat }) => {
  const authenticator = createUafAuthenticator({ algorithm, keyFormat, counts: true });
  const registered = opened(authenticator.register(requestOf("Reg"), { facetId }));
  const key = keyOf(keyFormat, algorithm, registered.member(0x2e0c));

  test("a registration is well-formed, has its numbers, and verifies with its own key", () => {
    const { outer, signed, proof, members, member, message, signature } = registered;
    expect([outer.tag, signed.tag, proof.tag]).toEqual([0x3e01, 0x3e03, 0x3e08]);
    expect(members.map(({ tag }) => tag)).toEqual([0x2e0b, 0x2e0e, 0x2e0a, 0x2e09, 0x2e0d, 0x2e0c]);
    expect(member(0x2e0b).toString()).toBe("006F#0001");
    expect(member(0x2e0e)).toEqual(Buffer.of(1, 0, 1, algorithm, 0, keyFormat & 0xff, keyFormat >> 8));
    expect(member(0x2e0a)).toEqual(sha256(message.fcParams));
    expect(member(0x2e09)).toHaveLength(32);
    expect(member(0x2e0d)).toEqual(Buffer.of(0, 0, 0, 0, 1, 0, 0, 0));
    expect(verifiers[algorithm](signed.whole, key, signature)).toBe(true);
  });

  test("an authentication is well-formed and verifies with the registered key", () => {
    const { outer, signed, proof, members, member, signature } = opened(
      authenticator.authenticate(requestOf("Auth"), { facetId }),
    );
    expect([outer.tag, signed.tag, proof.tag]).toEqual([0x3e02, 0x3e04, 0x2e06]);
    expect(members.map(({ tag }) => tag)).toEqual([0x2e0b, 0x2e0e, 0x2e0f, 0x2e0a, 0x2e10, 0x2e09, 0x2e0d]);
    expect(member(0x2e0e)).toEqual(Buffer.of(1, 0, 1, algorithm, 0));
    expect(member(0x2e10)).toHaveLength(0);
    expect(member(0x2e09)).toEqual(registered.member(0x2e09));
    expect(member(0x2e0d)).toEqual(Buffer.of(1, 0, 0, 0));
    expect(verifiers[algorithm](signed.whole, key, signature)).toBe(true);
  });

  test("a flipped signature, and one of another key, do not verify", () => {
    for (const overrides of [
      { signature: "flipped" },
      { signWith: makeUafKey(algorithm) },
    ] satisfies Overrides[]) {
      const { signed, signature } = opened(
        authenticator.authenticate(requestOf("Auth"), { facetId, overrides }),
      );
      expect(verifiers[algorithm](signed.whole, key, signature)).toBe(false);
    }
  });
});

test("an RSA key can be a SubjectPublicKeyInfo under 0x0103, as real devices send it", () => {
  const authenticator = createUafAuthenticator({ algorithm: 0x0008, keyFormat: 0x0103 });
  const { member } = opened(authenticator.register(requestOf("Reg"), { facetId, overrides: { spki: true } }));
  const key = createPublicKey({ key: member(0x2e0c), format: "der", type: "spki" });
  expect(key.asymmetricKeyDetails?.modulusLength).toBe(2048);
});

describe("full attestation", () => {
  const root = makeAuthority("Example Root");
  const middle = makeCertificate({ issuer: root, subject: { O: "Example Middle" }, ca: true });

  function certificates(settings: UafSettings) {
    const { signed, signature, proof, inProof } = opened(
      createUafAuthenticator(settings).register(requestOf("Reg"), { facetId }),
    );
    expect(proof.tag).toBe(0x3e07);
    expect(inProof.map(({ tag }) => tag)).toEqual([0x2e06, ...inProof.slice(1).map(() => 0x2e05)]);
    const chain = inProof.slice(1).map(({ value }) => new X509Certificate(value));
    return { signed, signature, chain };
  }

  test.each(algorithms)("is signed by the leaf with algorithm %i, with a chain to the root", (algorithm) => {
    const attestation = { authority: middle, above: [middle] };
    const { signed, signature, chain } = certificates({ algorithm, attestation });
    const [leaf, second] = chain;
    if (!leaf || !second) throw new Error("no chain");
    expect(verifiers[algorithm](signed.whole, leaf.publicKey, signature)).toBe(true);
    expect([leaf.ca, second.ca]).toEqual([false, true]);
    expect(leaf.verify(second.publicKey) && second.verify(root.publicKey)).toBe(true);
  });

  test("can be expired, or that of an authority", () => {
    const notAfter = new Date("2020-01-01");
    const [leaf] = certificates({
      attestation: { authority: root, certificate: { notAfter, ca: true } },
    }).chain;
    expect([leaf?.ca, leaf?.validToDate]).toEqual([true, notAfter]);
  });
});

describe("a client's response", () => {
  const authenticator = createUafAuthenticator();
  const registered = opened(authenticator.register(requestOf("Reg"), { facetId }));
  const signing = (overrides: Overrides, change: Change = {}) =>
    opened(authenticator.authenticate(requestOf("Auth", change), { facetId, overrides }));

  test("echoes the header, and has the challenge and the facet in fcParams", () => {
    const header = { upv, op: "Reg", appID: appId };
    expect(registered.message.header).toEqual(header);
    expect(JSON.parse(Buffer.from(registered.message.fcParams, "base64url").toString())).toEqual({
      appID: appId,
      challenge,
      facetID: facetId,
      channelBinding: {},
    });
    const echoed = signing({ header: { serverData: "another", upv: { major: 1, minor: 0 } } });
    expect(echoed.message.header).toEqual({
      upv: { major: 1, minor: 0 },
      op: "Auth",
      appID: appId,
      serverData: "another",
    });
  });

  test("can have other fcParams, and hashes the string that is sent", () => {
    const said = {
      challenge: "other",
      appID: "other",
      facetID: "other",
      channelBinding: { tlsUnique: "AA" },
    };
    for (const overrides of [{ finalChallengeParams: said }, { finalChallengeParams: said, padded: true }]) {
      const { message, member } = signing(overrides);
      expect(JSON.parse(Buffer.from(message.fcParams, "base64url").toString())).toEqual(said);
      expect(member(0x2e0a)).toEqual(sha256(message.fcParams));
    }
    expect(signing({ finalChallengeParams: said, padded: true }).message.fcParams).toMatch(/^[^=]+={1,2}$/);
    expect(signing({ finalChallengeHash: sha256("x") }).member(0x2e0a)).toEqual(sha256("x"));
  });

  test("answers a transaction in mode 2 with the hash of its decoded content", () => {
    const transaction = [
      { contentType: "text/plain", content: Buffer.from("Pay 5 €").toString("base64url") },
    ];
    const { member } = signing({}, { transaction });
    expect([member(0x2e0e)[2], member(0x2e10)]).toEqual([2, sha256("Pay 5 €")]);
    const other = signing({ transaction: "Pay 9 €" }, { transaction });
    expect([other.member(0x2e0e)[2], other.member(0x2e10)]).toEqual([2, sha256("Pay 9 €")]);
    const ignored = signing({ transaction: null }, { transaction });
    expect([ignored.member(0x2e0e)[2], ignored.member(0x2e10)]).toEqual([1, Buffer.alloc(0)]);
  });

  test("can have other statements under a valid signature", () => {
    const key = keyOf(0x0101, 2, registered.member(0x2e0c));
    const { member, signed, signature, message } = signing({
      aaid: "FFFF#0001",
      algorithm: 1,
      mode: 9,
      authenticatorVersion: 7,
      keyId: Buffer.alloc(32, 7),
      signCounter: 0xffff_ffff,
      transactionContentHash: Buffer.alloc(32, 8),
      nonce: Buffer.alloc(64, 9),
      assertionScheme: "UAFV2",
    });
    expect(message.assertions[0]?.assertionScheme).toBe("UAFV2");
    expect(member(0x2e0b).toString()).toBe("FFFF#0001");
    expect(member(0x2e0e)).toEqual(Buffer.of(7, 0, 9, 1, 0));
    expect(member(0x2e09)).toEqual(Buffer.alloc(32, 7));
    expect(member(0x2e0d)).toEqual(Buffer.alloc(4, 0xff));
    expect(member(0x2e10)).toEqual(Buffer.alloc(32, 8));
    expect(member(0x2e0f)).toEqual(Buffer.alloc(64, 9));
    expect(verifiers[2](signed.whole, key, signature)).toBe(true);
  });

  test("has its extensions last, critical or not", () => {
    const { members } = opened(
      authenticator.authenticate(requestOf("Auth"), {
        facetId,
        extensions: [
          { id: "one", data: Buffer.of(1), critical: true },
          { id: "two", data: Buffer.of(2), critical: false },
        ],
      }),
    );
    expect(members.slice(-2).map(({ tag, value }) => [tag, ...read(value).map((one) => one.tag)])).toEqual([
      [0x3e11, 0x2e13, 0x2e14],
      [0x3e12, 0x2e13, 0x2e14],
    ]);
  });

  test("writes a negative r as a DER SEQUENCE of two numbers of 32 bytes, valid if read unsigned", () => {
    const key = keyOf(0x0101, 2, registered.member(0x2e0c));
    const { signature, signed } = signing({ signature: "negative r" });
    expect(signature.subarray(0, 4)).toEqual(Buffer.of(0x30, 68, 2, 32));
    expect(signature[4]).toBeGreaterThan(0x7f);
    const raw = Buffer.concat([signature.subarray(4, 36), signature.subarray(38)]);
    expect(verifiers[1](signed.whole, key, raw)).toBe(true);
    expect(verifiers[2](signed.whole, key, signature)).toBe(false);
  });

  test("can have several assertions", () => {
    const { message } = signing({ after: [{ assertion: "AA" }, null] });
    expect(message.assertions).toHaveLength(3);
  });

  test("increments its counter with each signature", () => {
    const counting = createUafAuthenticator({ counts: true });
    counting.register(requestOf("Reg"), { facetId });
    const sign = () => opened(counting.authenticate(requestOf("Auth"), { facetId })).member(0x2e0d)[0];
    expect([sign(), sign(), sign()]).toEqual([1, 2, 3]);
  });
});
