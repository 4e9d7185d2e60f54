import type { RequestContext } from "../../context/context.ts";
import type { Sealing } from "../../keys/vault.ts";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
import type { OnPlatform } from "../../lib/platform.ts";

/**
 * Challenges of passkey logins whose flow is not started yet. Nothing is stored of one until a response uses it: a keyed
 * hash says that it is ours, when it was made, for which tenant and, if the browser has one, for which mark of accounts.
 * Its first use is registered, so that it accepts one response only.
 */

/** What this module takes of the process. */
type Process = OnPlatform & Sealing;

/** The browser that a challenge is made for, as far as it is known. */
export interface ChallengeContext extends Pick<RequestContext<Process>, "runtime" | "tenant"> {
  client: Pick<RequestContext<Process>["client"], "markCookie">;
}

const LIFETIME_SECONDS = 600;

/** A page asks for other options as long after it got them as its dialog may take, and the dialog may have just opened. */
const MAX_TIMEOUT_SECONDS = LIFETIME_SECONDS / 2;

/** time (6) | random (16) | keyed hash, cut (16). At least 16 random bytes: WebAuthn Level 3, 13.4.3. */
const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const BODY_BYTES = TIME_BYTES + RANDOM_BYTES;
const MAC_BYTES = 16;

/**
 * Makes a challenge for a passkey login in this browser.
 *
 * @returns `challenge`: base64url; `timeoutSeconds`: for the browser's dialog
 */
export function sealChallenge({ runtime, tenant, client }: ChallengeContext): {
  challenge: string;
  timeoutSeconds: number;
} {
  const { platform, vault } = runtime;
  const body = Buffer.alloc(BODY_BYTES);
  body.writeUIntBE(Date.now() + platform.clockShift(), 0, TIME_BYTES);
  platform.randomBytes(RANDOM_BYTES).copy(body, TIME_BYTES);
  const mac = vault.mac(...sealedParts(body, tenant.id, client.markCookie)).subarray(0, MAC_BYTES);
  return {
    challenge: Buffer.concat([body, mac]).toString("base64url"),
    timeoutSeconds: Math.min(tenant.config.webauthn.timeout, MAX_TIMEOUT_SECONDS),
  };
}

/**
 * Opens a challenge. One that was made for a browser without a mark is accepted of any.
 *
 * @returns when it expires; null if it was not made for this tenant and browser
 */
export function openChallenge(
  { runtime, tenant, client }: ChallengeContext,
  challenge: string,
): { expiresAt: Date } | null {
  const sealed = Buffer.from(challenge, "base64url");
  // One challenge has one form, under which its use is registered.
  if (sealed.length !== BODY_BYTES + MAC_BYTES || sealed.toString("base64url") !== challenge) return null;
  const body = sealed.subarray(0, BODY_BYTES);
  const mac = sealed.subarray(BODY_BYTES);
  const isOurs = [...new Set([client.markCookie, null])]
    .flatMap((mark) => runtime.vault.macs(...sealedParts(body, tenant.id, mark)))
    .some((ours) => constantTimeEqual(ours.subarray(0, MAC_BYTES), mac));
  return isOurs ? { expiresAt: new Date(body.readUIntBE(0, TIME_BYTES) + LIFETIME_SECONDS * 1000) } : null;
}

const sealedParts = (body: Buffer, tenantId: string, mark: string | null): [string, ...string[]] => [
  "passkey challenge",
  tenantId,
  mark ?? "",
  body.toString("base64url"),
];
