import { createHash, X509Certificate } from "node:crypto";
import { CompactSign } from "jose";
import { describe, expect, test } from "vitest";
import { type Certificate, makeAuthority, makeCertificate } from "../lib/certificates.ts";
import { metadataBlob } from "../testing/authenticator-metadata.ts";
import { fidoIssuer, type MetadataIssuer, readAuthenticatorMetadata } from "./authenticator-metadata.ts";

const DAY_MS = 86_400_000;
const now = new Date("2026-11-22T12:00:00Z");
const valid = { notBefore: new Date("2026-01-01"), notAfter: new Date("2030-01-01") };
const SIGNER = "mds.fidoalliance.org";

const root = makeAuthority("Metadata Root", valid);
const signer = makeCertificate({ subject: { CN: SIGNER }, issuer: root, ...valid });
const vendor = makeAuthority("Vendor");
const x509 = ({ der }: Certificate) => new X509Certificate(der);
const issuer: MetadataIssuer = { roots: [x509(root)], signer: SIGNER };

const aaguid = "ee882879-721c-4913-9775-3dfcce97072a";
const noAaguid = "00000000-0000-0000-0000-000000000000";
const attestationRootCertificates = [vendor.der.toString("base64")];
const model = { aaguid, metadataStatement: { attestationRootCertificates }, statusReports: [] };
const authenticator = makeCertificate({ subject: { CN: "Authenticator" }, issuer: vendor });

const blobOf = (options: Partial<Parameters<typeof metadataBlob>[0]> = {}) =>
  metadataBlob({ entries: [model], nextUpdate: "2026-12-01", signer, ...options });

async function read(text: string, by: MetadataIssuer = issuer, at = now) {
  return readAuthenticatorMetadata(text, { issuer: by, now: at });
}

async function reasonOf(text: string, by?: MetadataIssuer, at?: Date): Promise<string> {
  const verdict = await read(text, by, at);
  return verdict.ok ? "accepted" : verdict.reason;
}

/** Names of the roots that vouch for a model. */
async function rootsOf(text: string, name = aaguid, at = now, certificate = authenticator) {
  const verdict = await read(text);
  if (!verdict.ok) throw new Error(verdict.reason);
  return verdict.metadata.rootsOf(name, x509(certificate), at).map(({ subject }) => subject);
}

describe("a list of authenticator models", () => {
  test("names the roots of a model", async () => {
    expect(await read(await blobOf())).toMatchObject({
      ok: true,
      metadata: { number: 42, nextUpdate: "2026-12-01" },
    });
    expect(await rootsOf(await blobOf())).toEqual(["O=Vendor"]);
    expect(await rootsOf(await blobOf(), "ee882879-721c-4913-9775-3dfcce97072b")).toEqual([]);
  });

  test("names a model without AAGUID by the key of its certificate", async () => {
    // An uncompressed point of P-256.
    const bits = authenticator.publicKey.export({ format: "der", type: "spki" }).subarray(-65);
    const identifier = createHash("sha1").update(bits).digest("hex");
    const { aaguid: _, ...rest } = model;
    const text = await blobOf({
      entries: [{ ...rest, attestationCertificateKeyIdentifiers: [identifier] }],
    });
    expect(await rootsOf(text, noAaguid)).toEqual(["O=Vendor"]);
    // The key of one model proves nothing of another.
    expect(await rootsOf(text)).toEqual([]);
    const other = makeCertificate({ subject: { CN: "Other" }, issuer: vendor });
    expect(await rootsOf(text, noAaguid, now, other)).toEqual([]);
  });

  test.each(["REVOKED", "ATTESTATION_KEY_COMPROMISE"])(
    "names no root of a model that is %s",
    async (status) => {
      const statusReports = [{ status: "FIDO_CERTIFIED" }, { status }];
      expect(await rootsOf(await blobOf({ entries: [{ ...model, statusReports }] }))).toEqual([]);
    },
  );

  test("names no root from a week after its next update", async () => {
    const text = await blobOf({ nextUpdate: "2026-12-01" });
    expect(await rootsOf(text, aaguid, new Date("2026-12-08T23:59:59Z"))).toEqual(["O=Vendor"]);
    expect(await rootsOf(text, aaguid, new Date("2026-12-09T00:00:00Z"))).toEqual([]);
  });

  test("leaves out a root that cannot be read", async () => {
    const roots = ["malformed", ...attestationRootCertificates];
    const entries = [{ ...model, metadataStatement: { attestationRootCertificates: roots } }];
    expect(await rootsOf(await blobOf({ entries }))).toEqual(["O=Vendor"]);
  });
});

describe("A135 a list is rejected", () => {
  test("under FIDO's root if another authority has issued the certificate", async () => {
    expect(await reasonOf(await blobOf(), fidoIssuer())).toContain("do not lead to the root");
    expect(
      fidoIssuer()
        .roots.map(({ subject }) => subject)
        .join(),
    ).toContain("GlobalSign");
  });

  test("if the certificate is another host's under the same root", async () => {
    const other = makeCertificate({ subject: { CN: "evil.example" }, issuer: root, ...valid });
    expect(await reasonOf(await blobOf({ signer: other }))).toContain(`not that of ${SIGNER}`);
    expect(await reasonOf(await blobOf({ signer: other }), { ...issuer, signer: null })).toBe("accepted");
  });

  test("if the signer's certificate has expired", async () => {
    const later = new Date(valid.notAfter.getTime() + DAY_MS);
    expect(await reasonOf(await blobOf(), issuer, later)).toContain("expired");
  });

  test("if its content was changed", async () => {
    const [head, , signature] = (await blobOf()).split(".");
    const [, body] = (await blobOf({ nextUpdate: "2099-01-01" })).split(".");
    expect(await reasonOf([head, body, signature].join("."))).toContain("signature");
  });

  test("if another key than the certificate's has signed it", async () => {
    const { privateKey } = makeCertificate({ subject: { CN: SIGNER } });
    expect(await reasonOf(await blobOf({ privateKey }))).toContain("signature");
  });

  test.each(["", "malformed", "a.b.c", "{}", "..."])("if it is no signed list: %j", async (text) => {
    expect(await reasonOf(text)).toContain("not a signed list");
  });

  test.each([{}, [], { no: 1, nextUpdate: "soon", entries: [] }, { no: 1, nextUpdate: "2026-12-01" }])(
    "if its content is none: %j",
    async (payload) => {
      const text = await new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: "ES256", x5c: [signer.der.toString("base64")] })
        .sign(signer.privateKey ?? Buffer.alloc(0));
      expect(await reasonOf(text)).toContain("content");
    },
  );
});
