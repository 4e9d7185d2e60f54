import type { Databases } from "#db/client";
import type { Part } from "#db/part";
import { runTogether } from "#db/together";
import { type Write, writeOf } from "#db/write";
import type { RequestContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { randomToken } from "../lib/random-token.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases;

/** The ceremony that a challenge is for. A response to another ceremony is rejected. */
export type Ceremony =
  | "request"
  | "second_factor_request"
  | "creation"
  /** Conditional creation: the browser may run it without user presence. */
  | "conditional_creation"
  | "security_key_creation";

export interface OpenedChallenge {
  /** 32 random bytes, base64url. */
  challenge: string;
  /** Lifetime of the challenge and timeout of the browser's dialog, in seconds. */
  timeoutSeconds: number;
  write: Write;
}

const insertText = `challenge as (
  insert into webauthn_challenges (tenant_id, id, flow_id, ceremony, user_id, challenge, allowed, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8))`;

/**
 * Opens a challenge for one flow and one ceremony. Several may be open at once; each accepts one response.
 *
 * @param about `userId`: the account that the response must belong to; `allowed`: ids of the accepted credentials
 */
export function openChallenge(
  context: RequestContext<Process>,
  about: { flowId: string; ceremony: Ceremony; userId?: string; allowed?: readonly string[] },
): OpenedChallenge {
  const { tenant, runtime, now } = context;
  const challenge = randomToken(runtime.platform);
  const timeoutSeconds = tenant.config.webauthn.timeout;
  const write = writeOf({
    name: "challenge",
    text: insertText,
    values: [
      tenant.id,
      runtime.platform.uuid(),
      about.flowId,
      about.ceremony,
      about.userId ?? null,
      challenge,
      about.allowed && about.allowed.length > 0 ? about.allowed : null,
      new Date(now.getTime() + timeoutSeconds * 1000),
    ],
  });
  return { challenge, timeoutSeconds, write };
}

const consumeText = (condition: string) => `consumed as (
  delete from webauthn_challenges
  where tenant_id = $1 and challenge = $2 and flow_id = $3 and ceremony = any ($4::text[]) and ${condition}
  returning ceremony, user_id, allowed, expires_at)`;

const consumeAlone = consumeText("true");

/** What a challenge was opened for. */
export interface ConsumedChallenge {
  ceremony: string;
  user_id: string | null;
  allowed: string[] | null;
  expires_at: string;
}

/** A response to a challenge of a flow, for one of some ceremonies. */
interface Responding {
  tenantId: string;
  flowId: string;
  ceremonies: readonly Ceremony[];
  challenge: string;
}

/**
 * The part of a statement that consumes a challenge of a flow, so that it accepts one response only. It commits by itself,
 * outside of the step's transaction. `openedFor` judges what it returns.
 *
 * @param condition SQL of whether to consume it
 */
export function consumedPart(of: Responding, condition: string): Part {
  return { ...consuming(of), text: consumeText(condition) };
}

const consuming = ({ tenantId, challenge, flowId, ceremonies }: Responding): Part => ({
  name: "consumed",
  text: consumeAlone,
  values: [tenantId, challenge, flowId, ceremonies],
  returns: "(select row_to_json(c) from consumed c)",
});

/** Returns what a consumed challenge was opened for; null if none was, or it has expired. */
export function openedFor(
  consumed: ConsumedChallenge | null | undefined,
  now: Date,
): ConsumedChallenge | null {
  return consumed && new Date(consumed.expires_at) > now ? consumed : null;
}

/**
 * Consumes a challenge immediately, outside of the step's transaction, so that it accepts one response only.
 *
 * @param about `ceremonies`: the accepted ceremonies
 * @returns what the challenge was opened for; null if this flow has no such unexpired challenge for these ceremonies
 */
export async function consumeChallenge(
  { runtime, tenant, now }: RequestContext<Process>,
  about: Omit<Responding, "tenantId">,
): Promise<ConsumedChallenge | null> {
  const part = consuming({ tenantId: tenant.id, ...about });
  const { consumed } = await runTogether<{ consumed: ConsumedChallenge | null }>(runtime.database, [part]);
  return openedFor(consumed, now);
}
