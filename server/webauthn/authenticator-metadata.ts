import { createHash, X509Certificate } from "node:crypto";
import { SettingsService } from "@simplewebauthn/server";
import { compactVerify, decodeProtectedHeader } from "jose";
import { z } from "zod";
import { derItem, derItems } from "../lib/der.ts";
import type { TrustedModels } from "./attestation-trust.ts";
import { certificatesOf, leadsToRoot } from "./formats/certificates.ts";

/**
 * FIDO's list of authenticator models, the payload of the Metadata Service (FIDO Metadata Service 3.0, section 3.1.7).
 * It is read from a file that the operator downloads, never from the network.
 */
export interface AuthenticatorMetadata extends TrustedModels {
  /** Serial number of the list. */
  number: number;
  /** When FIDO publishes the next list, as `2026-12-01`. */
  nextUpdate: string;
  /** From when on the list vouches for nothing. */
  outdatedAt: Date;
  /**
   * Whether a model has lost what an earlier list has said of it: it was revoked, keys have left it, or its statement now says
   * that it keeps them elsewhere than in hardware. An outdated list says so too.
   *
   * @param aaguid in UUID notation; models without one are named by a certificate, which is not kept
   */
  isRefuted(aaguid: string): boolean;
}

export type MetadataVerdict = { ok: true; metadata: AuthenticatorMetadata } | { ok: false; reason: string };

/** Who may sign a list. */
export interface MetadataIssuer {
  roots: readonly X509Certificate[];
  /** Host name in the certificate of the signer; null for any. */
  signer: string | null;
}

/** FIDO's root issues certificates to others too, so the signer is recognized by its name. */
export const fidoIssuer = (): MetadataIssuer => ({
  roots: SettingsService.getRootCertificates({ identifier: "mds" }).map((pem) => new X509Certificate(pem)),
  signer: "mds.fidoalliance.org",
});

const SIGNATURE_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
];

/** After the date of the next list, while the operator replaces the file. */
const GRACE_DAYS = 7;

/** The AAGUID of FIDO U2F. */
const NO_AAGUID = "00000000-0000-0000-0000-000000000000";

const DAY_MS = 86_400_000;

/** States of a model whose attestation proves nothing any more (section 3.1.4). */
const distrusted = new Set(["REVOKED", "ATTESTATION_KEY_COMPROMISE"]);

/** States of a model whose keys are known to have left the hardware (section 3.1.4). */
const compromised = new Set(["USER_KEY_REMOTE_COMPROMISE", "USER_KEY_PHYSICAL_COMPROMISE"]);

/** The used members of an entry (section 3.1.1); those of models of FIDO UAF have an AAID instead. */
const entry = z.object({
  aaguid: z.guid().optional(),
  attestationCertificateKeyIdentifiers: z.array(z.string()).default([]),
  metadataStatement: z
    .object({
      attestationRootCertificates: z.array(z.string()).default([]),
      keyProtection: z.array(z.string()).default([]),
    })
    .optional(),
  statusReports: z.array(z.object({ status: z.string() })).default([]),
});

const list = z.object({ no: z.int().positive(), nextUpdate: z.iso.date(), entries: z.array(entry) });

/**
 * Verifies signature and dates of a list and reads it (section 3.2). Never throws, and sends no request: revocation of
 * the signer's certificate is not checked.
 *
 * @param text a JWS in compact form, as FIDO publishes it
 */
export async function readAuthenticatorMetadata(
  text: string,
  { issuer, now }: { issuer: MetadataIssuer; now: Date },
): Promise<MetadataVerdict> {
  const [certificate, ...issuers] = certificatesIn(text);
  if (!certificate)
    return reject("it is not a signed list of FIDO's Metadata Service (a JWS with certificates)");

  // Ensure the certificates lead to the root, and are the signer's (steps 5 and 6).
  if (!leadsToRoot([certificate, ...issuers], issuer.roots, now))
    return reject("its certificates have expired, or do not lead to the root of its issuer");
  if (issuer.signer !== null && certificate.checkHost(issuer.signer) === undefined)
    return reject(`its certificate is not that of ${issuer.signer}`);

  // Ensure the signature is valid (step 6).
  const payload = await verifiedPayload(text, certificate);
  if (payload === undefined) return reject("its signature is invalid");
  const parsed = list.safeParse(payload);
  if (!parsed.success) return reject("its content is not a list of authenticator models");

  return { ok: true, metadata: metadataOf(parsed.data) };
}

const reject = (reason: string): MetadataVerdict => ({ ok: false, reason });

/** @returns the certificates of the header, that of the signer first; empty if it has none */
function certificatesIn(text: string): X509Certificate[] {
  try {
    const { x5c } = decodeProtectedHeader(text);
    return certificatesOf(x5c?.map((encoded) => Buffer.from(encoded, "base64")));
  } catch {
    return [];
  }
}

/** @returns undefined if the signature is invalid */
async function verifiedPayload(text: string, certificate: X509Certificate): Promise<unknown> {
  try {
    const { payload } = await compactVerify(text, certificate.publicKey, {
      algorithms: SIGNATURE_ALGORITHMS,
    });
    return JSON.parse(Buffer.from(payload).toString());
  } catch {
    return undefined;
  }
}

/** Where an authenticator keeps its keys (FIDO Registry of Predefined Values, 3.2). A wrapped key may be kept elsewhere. */
const hardware = new Set(["hardware", "tee", "secure_element"]);

/** Whether the keys of a model are in hardware, and are never in software or at another place alone. */
function isHardware(protection: readonly string[]): boolean {
  return protection.some((kind) => hardware.has(kind)) && !protection.includes("software");
}

function metadataOf({ no, nextUpdate, entries }: z.output<typeof list>): AuthenticatorMetadata {
  const rootsByModel = new Map<string, readonly string[]>();
  const inHardware = new Set<string>();
  const refuted = new Set<string>();
  for (const { aaguid, attestationCertificateKeyIdentifiers, metadataStatement, statusReports } of entries) {
    const trusted = !statusReports.some(({ status }) => distrusted.has(status));
    const keepsKeys = trusted && !statusReports.some(({ status }) => compromised.has(status));
    const protection = metadataStatement?.keyProtection ?? [];
    const isDenied = protection.length > 0 && !isHardware(protection);
    const roots = trusted ? (metadataStatement?.attestationRootCertificates ?? []) : [];
    for (const name of [...(aaguid ? [aaguid] : []), ...attestationCertificateKeyIdentifiers]) {
      rootsByModel.set(name.toLowerCase(), roots);
      if (!keepsKeys || isDenied) refuted.add(name.toLowerCase());
      if (keepsKeys && isHardware(protection)) inHardware.add(name.toLowerCase());
    }
  }
  const outdatedAt = new Date(Date.parse(nextUpdate) + (1 + GRACE_DAYS) * DAY_MS);
  return {
    number: no,
    nextUpdate,
    outdatedAt,
    rootsOf(aaguid, certificate, now) {
      if (now >= outdatedAt) return [];
      return (rootsByModel.get(nameOf(aaguid, certificate)) ?? []).flatMap(certificateOf);
    },
    isRefuted: (aaguid) => refuted.has(aaguid),
    keepsKeysInHardware: (aaguid, certificate) => inHardware.has(nameOf(aaguid, certificate)),
  };
}

/** What the list names a model by. */
const nameOf = (aaguid: string, certificate: X509Certificate): string =>
  aaguid === NO_AAGUID ? keyIdentifierOf(certificate) : aaguid;

/** SHA-1 of the public key's bits (RFC 5280 section 4.2.1.2), by which the list names models of FIDO U2F. */
function keyIdentifierOf({ publicKey }: X509Certificate): string {
  const [, bits] = derItems(derItem(publicKey.export({ format: "der", type: "spki" })).content);
  // The first octet of a bit string counts unused bits.
  return createHash("sha1")
    .update(bits?.content.subarray(1) ?? Buffer.alloc(0))
    .digest("hex");
}

/** A root that cannot be read vouches for nothing. */
function certificateOf(base64: string): X509Certificate[] {
  try {
    return [new X509Certificate(Buffer.from(base64, "base64"))];
  } catch {
    return [];
  }
}

/** What knows models of authenticators. */
export interface AuthenticatorModels {
  /** The list of `webauthn.metadata_file`; null without one. */
  authenticatorMetadata: AuthenticatorMetadata | null;
}
