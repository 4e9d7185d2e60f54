import { type DerItem, derItem, derItems } from "../../lib/der.ts";
import { verifySignature } from "../verify-signature.ts";
import { certificatesOf, extensionOf, leadsToRoot } from "./certificates.ts";
import type { StatementVerifier } from "./statement.ts";

/** 1.3.6.1.4.1.11129.2.1.17, Android's key description. */
const keyDescription = Buffer.from("2b06010401d679020111", "hex");

/** Tags of an authorization list, and the values required for a passkey. */
const purpose = { tag: 1, sign: Buffer.of(2) };
const origin = { tag: 702, generated: Buffer.of(0) };
const allApplications = { tag: 600 };

/** Android Key Attestation, WebAuthn Level 3 section 8.4. */
export const verifyAndroidKey: StatementVerifier = (statement) => {
  const { members, authenticatorData, clientDataHash, key, roots, now } = statement;
  const chain = certificatesOf(members.get("x5c"));
  const [certificate, ...issuers] = chain;
  const signature = members.get("sig");
  if (!certificate || !(signature instanceof Uint8Array)) return false;

  // Ensure the new key signed the ceremony with its own algorithm (step 2).
  if (members.get("alg") !== key.algorithm) return false;
  if (!verifySignature(key, Buffer.concat([authenticatorData, clientDataHash]), signature)) return false;

  // Ensure the certificate is for this key (step 3).
  if (!key.key.equals(certificate.publicKey)) return false;

  // Ensure it describes a signing key generated for this ceremony and this relying party only (steps 4 and 5).
  const described = extensionOf(certificate, keyDescription);
  if (!described || !describes(described, clientDataHash)) return false;

  // Ensure the description is Android's own: an attested key could issue another certificate below it.
  if (issuers.some((issuer) => extensionOf(issuer, keyDescription) !== null)) return false;
  return leadsToRoot(chain, roots, now);
};

/**
 * Checks a key description: version and security level of attestation and keystore, challenge, unique id, and the
 * authorization lists enforced by software and by hardware. Either list may contain an authorization.
 */
function describes(description: Buffer, challenge: Buffer): boolean {
  const [, , , , attested, , software, hardware] = derItems(derItem(description).content);
  if (!attested?.content.equals(challenge) || !software || !hardware) return false;
  const authorized = [software, hardware].flatMap(({ content }) => derItems(content));
  if (valuesOf(authorized, allApplications.tag).length > 0) return false;
  const origins = valuesOf(authorized, origin.tag).map((value) => derItem(value));
  const purposes = valuesOf(authorized, purpose.tag).flatMap((value) => derItems(derItem(value).content));
  return isExactly(origins, origin.generated) && isExactly(purposes, purpose.sign);
}

function valuesOf(list: readonly DerItem[], tag: number): Buffer[] {
  return list.filter((item) => item.tagClass === "context" && item.tag === tag).map(({ content }) => content);
}

function isExactly(items: readonly DerItem[], value: Buffer): boolean {
  return items.length > 0 && items.every(({ content }) => content.equals(value));
}
