import type { Vault } from "../keys/vault.ts";

/** How the audit log keeps an identifier that belongs to no account: a visitor may have entered anything there. */

/** Bytes of a digest that are kept: more would not make two identifiers less likely to share one. */
const DIGEST_BYTES = 16;

/** Characters of an identifier that are kept. Email addresses have at most 254 (RFC 5321, 4.5.3.1.3). */
const MAX_LENGTH = 254;

/** Shorter names keep their first character only, because the last one would give most of them away. */
const MIN_LENGTH_OF_BOTH_ENDS = 4;

/**
 * Masks an identifier: its first and last character stay, and the domain of an email address; of a telephone number the
 * first two digits and the last two.
 *
 * @returns for instance `n…y@example.com`, `n…y`, `+49…78`
 */
export function maskIdentifier(identifier: string): string {
  if (/^\+\d{7,15}$/.test(identifier)) return `${identifier.slice(0, 3)}…${identifier.slice(-2)}`;
  const at = identifier.lastIndexOf("@");
  const name = [...(at < 0 ? identifier : identifier.slice(0, at))];
  const last = name.length < MIN_LENGTH_OF_BOTH_ENDS ? "" : name.at(-1);
  return `${name[0] ?? ""}…${last}${at < 0 ? "" : identifier.slice(at)}`.slice(0, MAX_LENGTH);
}

/** Members of an entry's details that name an identifier: readable to a person, and searchable by its digest. */
export interface MaskedIdentifier {
  /** Masked whatever `audit_log.mask` says. */
  identifier: string;
  identifier_digest: string;
}

/**
 * Returns the members that name an identifier.
 *
 * @param identifier in canonical form
 */
export function maskedIdentifier(
  vault: Pick<Vault, "mac">,
  tenantId: string,
  identifier: string,
): MaskedIdentifier {
  return {
    identifier: maskIdentifier(identifier),
    identifier_digest: encoded(vault.mac(PURPOSE, tenantId, identifier)),
  };
}

/**
 * Returns the digests that entries about an identifier may have, one for each secret key. The tenant is a part of them,
 * so that the logs of two tenants cannot be matched.
 */
export function identifierDigests(
  vault: Pick<Vault, "macs">,
  tenantId: string,
  identifier: string,
): string[] {
  return vault.macs(PURPOSE, tenantId, identifier).map(encoded);
}

const PURPOSE = "audit_identifier";

const encoded = (mac: Buffer) => mac.subarray(0, DIGEST_BYTES).toString("base64url");
