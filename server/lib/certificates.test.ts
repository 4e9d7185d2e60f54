import { createHash, createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { makeAuthority, makeCertificate, pemOf } from "./certificates.ts";

const key = createPrivateKey({
  key: Buffer.from(
    "MIIBVQIBADANBgkqhkiG9w0BAQEFAASCAT8wggE7AgEAAkEAyv/hB2xLq86VuIKwrmlgO+zMaa2Xl7ze37KVVlF5rgNFQkt7Oqv5wL7Rpz5uar1A5Pv3d3rk8RrAFdDa4aoYBwIDAQABAkEAt27IlMCTEEi4meXeaXvm7b9oZwXpub99VX4126372fSVcPtlaAZjUolkuhsFLk5a2IHLVbSNy/4YM37ehcuk4QIhAPXnLPZLBaj47O0jhVQMP8XZ55bGTiRd4QOgFD6Ms/KDAiEA01W4fUdNCuba3r3J8q3yR4l1x/niyBPFS2+jC5Cf/S0CIG0QIk3+ij0eYp7u0TSs1iAffGrP+1p/1Mvx1OjFKQ6XAiASqhNtHQr014ak/WYEhNBM+Rrp2mvo97YI/4cK0m8O0QIhAMXBlc/NFAEfM2vLqqBkd+Dz1glFfhcrdczCmvvqCQqI",
    "base64",
  ),
  format: "der",
  type: "pkcs8",
});

// Identity providers have stored the certificates of SAML keys, which are made anew each time.
test.each([
  [
    "00c8f0017a",
    "2036-01-01T00:00:00.500Z",
    "1e5aea17455e684a8655b546a0c86d67edd83535afd65ac9b4a6fc718ec8bee6",
  ],
  ["7f", "2056-01-01T00:00:00Z", "22fd76128f2a54ca751df9116919f501631c9b2f2fc70261f774483876569830"],
  ["00", "2036-01-01T00:00:00Z", "440238300ca9dbd364580bff8f59090404f02259a162374817d159682fa1dc5b"],
])("a certificate of an RSA key is the same in every version: serial %s, until %s", (serial, until, hash) => {
  const made = makeCertificate({
    subject: { CN: "Stile – SAML" },
    key,
    serial: Buffer.from(serial, "hex"),
    notBefore: new Date("2026-01-02T03:04:05.678Z"),
    notAfter: new Date(until),
  });
  expect(createHash("sha256").update(pemOf(made)).digest("hex")).toBe(hash);
});

test("a certificate is read by OpenSSL, and verifies under its issuer", () => {
  const root = makeAuthority("Example", {
    key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
  });
  const authority = new X509Certificate(root.der);
  const leaf = new X509Certificate(makeCertificate({ subject: { C: "AA", CN: "Leaf" }, issuer: root }).der);
  expect([authority.ca, leaf.ca, leaf.subject]).toEqual([true, false, "C=AA\nCN=Leaf"]);
  expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
});

test("a public key alone is certified by an issuer alone", () => {
  const { publicKey } = generateKeyPairSync("ed25519");
  expect(() => makeCertificate({ subject: { CN: "Leaf" }, publicKey })).toThrow("private key");
  const { der } = makeCertificate({ subject: { CN: "Leaf" }, publicKey, issuer: makeAuthority() });
  expect(new X509Certificate(der).publicKey.equals(publicKey)).toBe(true);
});
