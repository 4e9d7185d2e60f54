import { and, eq, inArray } from "drizzle-orm";
import { schema } from "#db/client";
import { type Write, writeOf } from "#db/write";
import { randomToken } from "../lib/random-token.ts";
import type { RequestContext } from "../runtime.ts";

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
  context: RequestContext,
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

/**
 * Consumes a challenge immediately, outside of the step's transaction, so that it accepts one response only.
 *
 * @param about `ceremonies`: the accepted ceremonies
 * @returns what the challenge was opened for; null if this flow has no such unexpired challenge for these ceremonies
 */
export async function consumeChallenge(
  { runtime, tenant, now }: RequestContext,
  about: { flowId: string; ceremonies: readonly Ceremony[]; challenge: string },
): Promise<{ ceremony: string; userId: string | null; allowed: string[] | null } | null> {
  const { webauthnChallenges: table } = schema;
  const [consumed] = await runtime.database.write
    .delete(table)
    .where(
      and(
        eq(table.tenantId, tenant.id),
        eq(table.challenge, about.challenge),
        eq(table.flowId, about.flowId),
        inArray(table.ceremony, [...about.ceremonies]),
      ),
    )
    .returning({
      ceremony: table.ceremony,
      userId: table.userId,
      allowed: table.allowed,
      expiresAt: table.expiresAt,
    });
  return consumed && consumed.expiresAt > now ? consumed : null;
}
