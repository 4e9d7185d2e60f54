import type { RequestContext } from "../../context/context.ts";
import { BrokenSealError, type Sealing, UnknownKeyError } from "../../keys/vault.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import { sha256 } from "../../lib/sha256.ts";

/**
 * Challenges of passkey logins whose flow is not started yet. Nothing is stored of one until a response uses it: the
 * challenge itself is sealed, and says when it was made, for which tenant and, if the browser has one, for which mark of
 * accounts. Its first use is registered, so that it accepts one response only.
 */

/** What this module takes of the process. */
type Process = OnPlatform & Sealing;

type Context = Pick<RequestContext<Process>, "runtime" | "tenant" | "client">;

const LIFETIME_SECONDS = 300;

/** time (6) | random (32) */
const TIME_BYTES = 6;
const RANDOM_BYTES = 32;

/** A longer text is not one of ours and is not decrypted. */
const MAX_LENGTH = 128;

/**
 * Makes a challenge for a passkey login in this browser.
 *
 * @returns `challenge`: base64url; `timeoutSeconds`: for the browser's dialog, at most the lifetime of the challenge
 */
export function sealChallenge({ runtime, tenant, client }: Context): {
  challenge: string;
  timeoutSeconds: number;
} {
  const { platform, vault } = runtime;
  const plain = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
  plain.writeUIntBE(clockOf(platform), 0, TIME_BYTES);
  platform.randomBytes(RANDOM_BYTES).copy(plain, TIME_BYTES);
  const sealed = vault.seal(plain, sealContext(tenant.id, client.markCookie));
  return {
    challenge: sealed.toString("base64url"),
    timeoutSeconds: Math.min(tenant.config.webauthn.timeout, LIFETIME_SECONDS),
  };
}

/**
 * Opens a challenge. One that was made for a browser without a mark is accepted of any.
 *
 * @returns when it expires; null if it was not sealed for this tenant and browser
 */
export function openChallenge(
  { runtime, tenant, client }: Context,
  challenge: string,
): { expiresAt: Date } | null {
  if (challenge.length > MAX_LENGTH) return null;
  const sealed = Buffer.from(challenge, "base64url");
  // One challenge has one form, under which its use is registered.
  if (sealed.toString("base64url") !== challenge) return null;
  for (const mark of new Set([client.markCookie, null])) {
    const plain = unsealed(runtime.vault, sealed, sealContext(tenant.id, mark));
    if (plain) return { expiresAt: new Date(plain.readUIntBE(0, TIME_BYTES) + LIFETIME_SECONDS * 1000) };
  }
  return null;
}

function unsealed(vault: Sealing["vault"], sealed: Buffer, context: string): Buffer | null {
  try {
    return vault.unseal(sealed, context);
  } catch (error) {
    // A challenge of a stored flow is random, and may look as if it named a key.
    if (error instanceof BrokenSealError || error instanceof UnknownKeyError) return null;
    throw error;
  }
}

const sealContext = (tenantId: string, markCookie: string | null) =>
  `passkey challenge ${tenantId} ${markCookie === null ? "" : sha256(markCookie).toString("base64url")}`;

const clockOf = (platform: OnPlatform["platform"]) => Date.now() + platform.clockShift();
