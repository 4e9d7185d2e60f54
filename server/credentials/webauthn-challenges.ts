import { and, eq, inArray } from "drizzle-orm";
import { schema } from "#db/client";
import { insertInline } from "#db/inline-insert";
import type { Write } from "#db/write";
import { randomToken } from "../lib/random-token.ts";
import type { RequestContext } from "../runtime.ts";

/** What a challenge was opened for. An answer to one kind is none to another. */
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
  /** Seconds that it holds, and that the browser gives the person. */
  timeoutSeconds: number;
  write: Write;
}

/**
 * Opens a challenge for one flow and one ceremony. Several may be open at once; each is good for one answer.
 *
 * @param about `userId`: the account that the answer must be of; `allowed`: ids of the credentials it may come from
 */
export function openChallenge(
  context: RequestContext,
  about: { flowId: string; ceremony: Ceremony; userId?: string; allowed?: readonly string[] },
): OpenedChallenge {
  const { tenant, runtime, now } = context;
  const challenge = randomToken(runtime.platform);
  const timeoutSeconds = tenant.config.webauthn.timeout;
  const write = insertInline({
    name: "webauthn_challenge",
    table: "webauthn_challenges",
    row: {
      tenant_id: ["uuid", tenant.id],
      id: ["uuid", runtime.platform.uuid()],
      flow_id: ["uuid", about.flowId],
      ceremony: ["text", about.ceremony],
      user_id: ["uuid", about.userId ?? null],
      challenge: ["text", challenge],
      allowed: ["text[]", about.allowed && about.allowed.length > 0 ? about.allowed : null],
      expires_at: ["timestamptz", new Date(now.getTime() + timeoutSeconds * 1000).toISOString()],
    },
  });
  return { challenge, timeoutSeconds, write };
}

/**
 * Takes a challenge, for good and at once: whatever comes of the answer, there is no second one to it.
 *
 * @param about `ceremonies`: those that the answer may be of
 * @returns which of them it was opened for; null when this flow has no such challenge open for any
 */
export async function takeChallenge(
  { runtime, tenant, now }: RequestContext,
  about: { flowId: string; ceremonies: readonly Ceremony[]; challenge: string },
): Promise<{ ceremony: string; userId: string | null; allowed: string[] | null } | null> {
  const { webauthnChallenges: table } = schema;
  const [taken] = await runtime.database.write
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
  return taken && taken.expiresAt > now ? taken : null;
}
