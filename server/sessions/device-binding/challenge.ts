import type { BoundKey } from "#db/schema/sessions";
import type { TenantContext } from "../../context/context.ts";
import type { Sealing } from "../../keys/vault.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import type { Session } from "../../objects/session.ts";

/**
 * Challenges that a browser signs with the key of its session (DBSC, 9.2). A challenge is a sealed value, so nothing is stored
 * of it until it is answered. That of a refresh holds the public key as well: a proof is verified without a query, and
 * one statement renews the cookie.
 */

/** What this module takes of the process. */
type Process = OnPlatform & Sealing;

/** A challenge that is ours. */
export interface OpenedChallenge {
  sessionId: string;
  /** Null for a registration, whose proof brings the key. */
  key: BoundKey | null;
  /** By the clock of the process that made it. */
  issuedAt: Date;
  /** Made within the last five minutes. */
  isFresh: boolean;
}

/** DBSC, 5: "New challenges issued should have a short lifetime." */
export const CHALLENGE_LIFETIME_MS = 5 * 60_000;

/** How far the clock of the process that made a challenge may be ahead of this one's. */
const MAX_AHEAD_MS = 60_000;

/** With the largest key, a challenge has some 1200 characters. */
const MAX_CHARACTERS = 2048;

interface Content {
  session: string;
  key: BoundKey | null;
  at: number;
}

/** Makes a challenge for the registration of a session's key, or, once it has one, for a refresh. */
export function makeChallenge(
  { runtime, tenant }: TenantContext<Process>,
  { id, boundKey }: Pick<Session, "id" | "boundKey">,
): string {
  const { platform, vault } = runtime;
  const content: Content = { session: id, key: boundKey, at: Date.now() + platform.clockShift() };
  return vault.seal(Buffer.from(JSON.stringify(content)), contextOf(tenant.id)).toString("base64url");
}

/** @returns null if it was not made for this tenant, or under a key that this server has not */
export function openChallenge(
  { runtime, tenant }: TenantContext<Process>,
  challenge: string,
): OpenedChallenge | null {
  if (challenge.length > MAX_CHARACTERS) return null;
  let content: Content;
  try {
    const opened = runtime.vault.unseal(Buffer.from(challenge, "base64url"), contextOf(tenant.id));
    content = JSON.parse(opened.toString());
  } catch {
    return null;
  }
  const { session, key, at } = content;
  const age = Date.now() + runtime.platform.clockShift() - at;
  const isFresh = age <= CHALLENGE_LIFETIME_MS && age >= -MAX_AHEAD_MS;
  return { sessionId: session, key, issuedAt: new Date(at), isFresh };
}

const contextOf = (tenantId: string) => `device-bound session:${tenantId}`;
