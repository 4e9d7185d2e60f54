import { createPublicKey, verify, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { makeAuthority } from "../../lib/certificates.ts";
import { facetId, opened, requestOf } from "../uaf-messages.ts";
import { authenticationAssertion, registrationAssertion, sha256 } from "./assertions.ts";
import { createUafAuthenticator } from "./authenticator.ts";
import { makeUafKey } from "./keys.ts";
import { encodeTlv, item, nestedTlv, type TlvEdit } from "./tlv.ts";

describe("malformed TLV", () => {
  const authenticator = createUafAuthenticator();
  authenticator.register(requestOf("Reg"), { facetId });
  const tagsWith = (...tlv: TlvEdit[]) => {
    const { members, outer, bytes } = opened(
      authenticator.authenticate(requestOf("Auth"), { facetId, overrides: { tlv } }),
    );
    return { members: members.map(({ tag }) => tag), tail: bytes.subarray(outer.whole.length) };
  };
  const right = [0x2e0b, 0x2e0e, 0x2e0f, 0x2e0a, 0x2e10, 0x2e09, 0x2e0d];

  test.each<[string, TlvEdit, number[]]>([
    ["left out", { leaveOut: "nonce" }, right.filter((tag) => tag !== 0x2e0f)],
    ["twice", { repeat: "keyId" }, right.toSpliced(5, 0, 0x2e09)],
    ["out of order", { swap: ["aaid", "counters"] }, [0x2e0d, ...right.slice(1, -1), 0x2e0b]],
    ["unknown", { of: "nonce", tag: 0x2eee }, right.with(2, 0x2eee)],
    ["added", { after: "counters", put: item("keyId", Buffer.alloc(1)) }, [...right, 0x2e09]],
  ])("a tag can be %s", (_how, edit, expected) => {
    expect(tagsWith(edit).members).toEqual(expected);
  });

  test("can have trailing bytes and a length beyond its item, under a signature over them", () => {
    expect(tagsWith({ after: "authAssertion", put: Buffer.of(1, 2, 3) }).tail).toEqual(Buffer.of(1, 2, 3));
    expect(() => tagsWith({ of: "keyId", statedLength: 0xffff })).toThrow("truncated");
    expect(() => tagsWith({ of: "authAssertion", statedLength: 0xffff })).toThrow("truncated");
  });

  test("can have ten thousand nested levels", () => {
    const bytes = nestedTlv(10_000);
    expect(bytes).toHaveLength(40_000);
    let rest = bytes;
    for (let level = 0; level < 10_000; level++) {
      expect(rest.readUInt16LE(2) === rest.length - 4 && rest.readUInt16LE(0) === 0x3e12).toBe(true);
      rest = rest.subarray(4);
    }
    expect(encodeTlv(item("krd", bytes))).toHaveLength(40_004);
  });
});

const file = new URL("../../authenticator/uaf/vectors/fido-spec-example.json", import.meta.url);

interface Example {
  assertion: string;
  fcParams: string;
  attestationCertificates?: string[];
  expect: { aaid: string; keyId: string; fch: string; publicKey?: string };
}

describe("the example of FIDO's specification", () => {
  const { vectors } = JSON.parse(readFileSync(file, "utf8")) as { vectors: Example[] };
  const [registration, authentication] = vectors;

  test("is encoded identically, and its signatures verify", () => {
    if (!registration || !authentication) throw new Error("no example");
    const open = ({ assertion, fcParams }: Example) =>
      opened(JSON.stringify([{ header: {}, fcParams, assertions: [{ assertion }] }]));
    const key = makeUafKey(0x0001);
    const { aaid, keyId, publicKey: point = "" } = registration.expect;
    const publicKey = Buffer.from(point, "base64url");
    const said = (example: Example, signCounter: number) => ({
      aaid,
      algorithm: 0x0001,
      mode: 1,
      keyId: Buffer.from(keyId, "base64url"),
      finalChallengeHash: sha256(example.fcParams),
      signCounter,
      extensions: [],
    });

    const made = open(registration);
    const certificate = Buffer.from(registration.attestationCertificates?.[0] ?? "", "base64");
    const krd = {
      ...said(registration, 1),
      authenticatorVersion: 0x0100,
      regCounter: 1,
      keyFormat: 0x0100,
      publicKey,
    };
    const tlv: TlvEdit[] = [{ of: "attestationCert", value: certificate }];
    const attestation = { authority: makeAuthority() };
    const { signature } = made;
    const rewritten = registrationAssertion(krd, attestation, { algorithm: 0x0001, key }, { tlv, signature });
    expect(rewritten.toString("base64url")).toBe(registration.assertion);

    const signed = open(authentication);
    const data = {
      ...said(authentication, 2),
      authenticatorVersion: 0x0100,
      nonce: signed.member(0x2e0f),
      transactionContentHash: Buffer.alloc(0),
    };
    const again = authenticationAssertion(data, { algorithm: 0x0001, key }, { signature: signed.signature });
    expect(again.toString("base64url")).toBe(authentication.assertion);

    const x = publicKey.subarray(1, 33).toString("base64url");
    const y = publicKey.subarray(33).toString("base64url");
    const real = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
    const form = { key: real, dsaEncoding: "ieee-p1363" } as const;
    expect(verify("sha256", signed.signed.whole, form, signed.signature)).toBe(true);
    const leaf = new X509Certificate(certificate).publicKey;
    expect(verify("sha256", made.signed.whole, { ...form, key: leaf }, made.signature)).toBe(true);
  });
});
