import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { makeAuthority } from "../../lib/certificates.ts";
import { type ChannelBindingPolicy, verifyChannelBinding } from "./channel-binding.ts";

const [old, current, foreign] = ["Old", "Current", "Foreign"].map((name) => makeAuthority(name).der) as [
  Buffer,
  Buffer,
  Buffer,
];
const pem = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`;
const policy = (mode: ChannelBindingPolicy["mode"]): ChannelBindingPolicy => ({
  mode,
  certificates: [pem(old), pem(current)],
});
const endPoint = (der: Buffer, hash = "sha256") => createHash(hash).update(der).digest("base64url");

const absent: [string, Record<string, unknown>][] = [
  ["no member", {}],
  ["empty members", { serverEndPoint: "", tlsServerCertificate: null, tlsUnique: "", cid_pubkey: undefined }],
];
/** Members that only the end of the connection could verify. */
const unverifiable: [string, Record<string, unknown>][] = [
  ["tlsUnique", { tlsUnique: "AAAA" }],
  ["an unused Channel ID", { cid_pubkey: "unused" }],
  ["an unknown member", { tokenBinding: { id: "AAAA" } }],
];
const right: [string, Record<string, unknown>][] = [
  ["the server's certificate", { tlsServerCertificate: current.toString("base64url") }],
  ["its SHA-256", { serverEndPoint: endPoint(current) }],
  ["its SHA-384", { serverEndPoint: endPoint(current, "sha384") }],
  ["its SHA-512", { serverEndPoint: endPoint(current, "sha512") }],
  ["its SHA-256 with padding", { serverEndPoint: `${endPoint(current)}=` }],
  ["the certificate before", { serverEndPoint: endPoint(old) }],
  ["all members", { serverEndPoint: endPoint(old), tlsUnique: "AAAA", cid_pubkey: "unused" }],
];
const contradictory: [string, Record<string, unknown>][] = [
  ["another certificate", { tlsServerCertificate: foreign.toString("base64url") }],
  ["the hash of another certificate", { serverEndPoint: endPoint(foreign) }],
  ["a weaker hash", { serverEndPoint: endPoint(current, "sha1") }],
  ["a truncated hash", { serverEndPoint: endPoint(current).slice(0, 20) }],
  ["another encoding", { serverEndPoint: Buffer.from(endPoint(current), "base64url").toString("hex") }],
  ["another type", { serverEndPoint: [endPoint(current)] }],
  ["one right and one wrong member", { serverEndPoint: endPoint(current), tlsServerCertificate: "AAAA" }],
  ["a Channel ID", { serverEndPoint: endPoint(current), cid_pubkey: "eyJrdHkiOiJFQyJ9" }],
];

describe("refuse", () => {
  test.each(absent)("accepts %s", (_, binding) => {
    expect(verifyChannelBinding(binding, policy("refuse"))).toBeNull();
  });
  test.each([...unverifiable, ...right, ...contradictory])("A72 rejects %s", (_, binding) => {
    expect(verifyChannelBinding(binding, policy("refuse"))).toBe("channel_binding_refused");
  });
});

describe("verify", () => {
  test.each([...absent, ...unverifiable, ...right])("accepts %s", (_, binding) => {
    expect(verifyChannelBinding(binding, policy("verify"))).toBeNull();
  });
  test.each(contradictory)("A72 rejects %s", (_, binding) => {
    expect(verifyChannelBinding(binding, policy("verify"))).toBe("channel_binding_mismatch");
  });
});

describe("require", () => {
  test.each(right)("accepts %s", (_, binding) => {
    expect(verifyChannelBinding(binding, policy("require"))).toBeNull();
  });
  test.each(contradictory)("A72 rejects %s", (_, binding) => {
    expect(verifyChannelBinding(binding, policy("require"))).toBe("channel_binding_mismatch");
  });
  test.each([...absent, ...unverifiable])("A72 rejects %s", (_, binding) => {
    expect(verifyChannelBinding(binding, policy("require"))).toBe("channel_binding_missing");
  });
});
