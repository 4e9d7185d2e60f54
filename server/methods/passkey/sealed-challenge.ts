import type { RequestContext } from "../../context/context.ts";
import type { Sealing } from "../../keys/vault.ts";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import { markedAccounts } from "../../sessions/account-marks.ts";

/**
 * Challenges of passkey logins whose flow is not started yet. Nothing is stored of one until a response uses it: a keyed
 * hash says that it is ours, when it was made, for which tenant, and which accounts have signed in with the browser.
 * Its first use is registered, so that it accepts one response only.
 */

/** What this module takes of the process. */
type Process = OnPlatform & Sealing;

/** The browser that a challenge is made for, as far as it is known. */
export interface ChallengeContext extends Pick<RequestContext<Process>, "runtime" | "tenant"> {
  client: Pick<RequestContext<Process>["client"], "markCookie">;
}

/** When a challenge was made, by the clock of that process, and when it expires. */
export interface OpenedSeal {
  issuedAt: Date;
  expiresAt: Date;
}

/** A page asks for other options before a dialog of them would end, and the last one may have just opened. */
const LIFETIME_IN_TIMEOUTS = 2;

/** A challenge is valid for five minutes at most. */
const MAX_TIMEOUT_SECONDS = 150;

const timeoutOf = ({ config }: ChallengeContext["tenant"]) =>
  Math.min(config.webauthn.timeout, MAX_TIMEOUT_SECONDS);

/** How far the clock of the process that made a challenge may be ahead of the database's. */
const MAX_AHEAD_SECONDS = 60;

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
  const mac = vault.mac(...sealedParts({ runtime, tenant, client }, body)).subarray(0, MAC_BYTES);
  return {
    challenge: Buffer.concat([body, mac]).toString("base64url"),
    timeoutSeconds: timeoutOf(tenant),
  };
}

/**
 * Opens a challenge.
 *
 * @returns null if it was not made for this tenant, or for a browser that other accounts have signed in with
 */
export function openChallenge(
  { runtime, tenant, client }: ChallengeContext,
  challenge: string,
): OpenedSeal | null {
  const sealed = Buffer.from(challenge, "base64url");
  // One challenge has one form, under which its use is registered.
  if (sealed.length !== BODY_BYTES + MAC_BYTES || sealed.toString("base64url") !== challenge) return null;
  const body = sealed.subarray(0, BODY_BYTES);
  const mac = sealed.subarray(BODY_BYTES);
  const isOurs = runtime.vault
    .macs(...sealedParts({ runtime, tenant, client }, body))
    .some((ours) => constantTimeEqual(ours.subarray(0, MAC_BYTES), mac));
  if (!isOurs) return null;
  const issuedAt = body.readUIntBE(0, TIME_BYTES);
  const lifetimeMs = LIFETIME_IN_TIMEOUTS * timeoutOf(tenant) * 1000;
  return { issuedAt: new Date(issuedAt), expiresAt: new Date(issuedAt + lifetimeMs) };
}

/** Whether a challenge may be used now. */
export function isInTime({ issuedAt, expiresAt }: OpenedSeal, now: Date): boolean {
  return now <= expiresAt && issuedAt.getTime() - now.getTime() <= MAX_AHEAD_SECONDS * 1000;
}

const sealedParts = (context: ChallengeContext, body: Buffer): [string, ...string[]] => [
  "passkey challenge",
  context.tenant.id,
  markedAccounts(context).toSorted().join(),
  body.toString("base64url"),
];
