import type { KeyObject } from "node:crypto";
import { CompactSign } from "jose";
import type { Certificate } from "../lib/certificates.ts";

/**
 * Signs a list of authenticator models in the form of FIDO's Metadata Service.
 *
 * @param nextUpdate as `2026-12-01`
 * @param privateKey default: that of the signer's certificate
 */
export function metadataBlob({
  entries,
  nextUpdate,
  signer,
  privateKey = signer.privateKey,
}: {
  entries: readonly object[];
  nextUpdate: string;
  signer: Certificate;
  privateKey?: KeyObject | undefined;
}): Promise<string> {
  if (!privateKey) throw new Error("the signer has no private key");
  const list = { legalHeader: "Example", no: 42, nextUpdate, entries };
  return new CompactSign(Buffer.from(JSON.stringify(list)))
    .setProtectedHeader({ alg: "ES256", typ: "JWT", x5c: [signer.der.toString("base64")] })
    .sign(privateKey);
}
