import { authenticatorRequests } from "#db/schema/authenticator";
import { sealContext } from "#db/schema/table";
import type { Tenant } from "../config/tenant.ts";
import type { Sealing } from "../keys/vault.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { OnPlatform, Platform } from "../lib/platform.ts";
import { randomAlphanumeric } from "../lib/random-alphanumeric.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";

/**
 * Tokens that replace an API key for one request. The device token is random, because it authorizes the answer. The
 * tokens of the waiting page and of the QR code are read-only, and are derived from the request's id when needed.
 */

/** Letters and digits, about 262 bits. */
const ID_CHARACTERS = 44;

/** Whether a text has the format of a request's id. */
export const isRequestId = (text: string): boolean => /^[0-9A-Za-z]{44}$/.test(text);

export function newRequestId(platform: Platform): string {
  return randomAlphanumeric(platform, ID_CHARACTERS);
}

type TokenSubject = { tenant: Pick<Tenant, "id">; id: string };

/** Creates a device token: 256 bits in base64url, stored as SHA-256, and sealed while the QR code can be shown. */
export function newDeviceToken(
  { vault, platform }: Sealing & OnPlatform,
  of: TokenSubject,
): { token: string; hash: Buffer; sealed: Buffer } {
  const token = randomToken(platform);
  return { token, hash: sha256(token), sealed: vault.seal(Buffer.from(token), contextOf(of)) };
}

export function openDeviceToken({ vault }: Sealing, of: TokenSubject, sealed: Buffer): string {
  return vault.unseal(sealed, contextOf(of)).toString();
}

export function isDeviceToken(presented: string, hash: Buffer): boolean {
  return constantTimeEqual(sha256(presented), hash);
}

/** What a derived token permits: waiting for the answer, or reading the QR code. */
export type ViewTokenKind = "view" | "picture";

/** Derives a token of 256 bits in base64url. */
export function viewToken({ vault }: Sealing, what: ViewTokenKind, { tenant, id }: TokenSubject): string {
  return vault.mac(purpose(what), tenant.id, id).toString("base64url");
}

export function isViewToken(
  { vault }: Sealing,
  what: ViewTokenKind,
  { tenant, id }: TokenSubject,
  given: string,
): boolean {
  return vault
    .macs(purpose(what), tenant.id, id)
    .some((mac) => constantTimeEqual(mac.toString("base64url"), given));
}

/**
 * Checks that the tokens of a request were derived from a key that is configured, before a token is rejected.
 *
 * @throws UnknownKeyError if they were not
 */
export function assertJudgeable({ vault }: Sealing, sealedDeviceToken: Buffer | null): void {
  if (sealedDeviceToken) vault.assertKnown("sealed", sealedDeviceToken);
}

const purpose = (what: ViewTokenKind) => `authenticator request ${what}`;

const contextOf = ({ tenant, id }: TokenSubject) =>
  sealContext(authenticatorRequests, "sealedDeviceToken", { tenantId: tenant.id, id });
