import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import type { Platform } from "../lib/platform.ts";
import { randomAlphanumeric } from "../lib/random-alphanumeric.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";

/**
 * What stands in for an API key at one request. The phone's token is random, since it may answer; those of the page
 * that waits and of the picture only show, and are made anew from the request's id whenever they are needed.
 */

/** Letters and digits of a request's id, about 262 bits. */
const idLength = 44;

/** Whether something may be the id of a request. */
export const isRequestId = (text: string): boolean => /^[0-9A-Za-z]{44}$/.test(text);

export function newRequestId(platform: Platform): string {
  return randomAlphanumeric(platform, idLength);
}

type Sealing = Pick<Runtime, "vault">;
type Of = { tenant: Pick<Tenant, "id">; id: string };

/** Makes the phone's token: 256 bits in base64url, kept as its SHA-256, and sealed for as long as it is to be shown. */
export function newDeviceToken(
  { vault, platform }: Pick<Runtime, "vault" | "platform">,
  of: Of,
): { token: string; hash: Buffer; sealed: Buffer } {
  const token = randomToken(platform);
  return { token, hash: sha256(token), sealed: vault.seal(Buffer.from(token), sealContext(of)) };
}

export function openDeviceToken({ vault }: Sealing, of: Of, sealed: Buffer): string {
  return vault.unseal(sealed, sealContext(of)).toString();
}

export function isDeviceToken(presented: string, hash: Buffer): boolean {
  return constantTimeEqual(sha256(presented), hash);
}

/** What a derived token lets its holder do: wait for the answer, or see the QR code. */
export type Showing = "view" | "picture";

/** 256 bits in base64url. */
export function showingToken({ vault }: Sealing, what: Showing, { tenant, id }: Of): string {
  return vault.mac(purpose(what), tenant.id, id).toString("base64url");
}

export function isShowingToken(
  { vault }: Sealing,
  what: Showing,
  { tenant, id }: Of,
  given: string,
): boolean {
  // Links outlive a change of the first key.
  return vault
    .macs(purpose(what), tenant.id, id)
    .some((mac) => constantTimeEqual(mac.toString("base64url"), given));
}

const purpose = (what: Showing) => `authenticator request ${what}`;

const sealContext = ({ tenant, id }: Of) => `authenticator request ${tenant.id} ${id}`;
