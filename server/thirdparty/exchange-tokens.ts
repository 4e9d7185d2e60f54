import { and, eq, gt, sql } from "drizzle-orm";
import { z } from "zod";
import { schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { sealContext } from "#db/schema/table";
import { type Write, writeOf } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { RequestContext } from "../context/context.ts";
import { isVerifierOf } from "../lib/pkce.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { type ProviderSession, storeProviderSession } from "../sessions/provider-sessions.ts";
import type { Process } from "./process.ts";
import { type ProviderFacts, providerFacts } from "./provider-facts.ts";

/** One-time tokens that carry a provider's facts about a user from the callback into the flow. */

const { exchangeTokens } = schema;

/** Lifetime of a token. */
export const EXCHANGE_TOKEN_SECONDS = 60;

/** The data of a token. */
export interface ExchangeToken {
  /** The flow that started the request; null for an IdP-initiated sign-in. */
  flowId: string | null;
  /** S256 challenge of the required verifier (RFC 7636, 4.2). */
  codeChallenge?: string;
  /** The account of a profile flow, which links the identity to it or reauthenticates with it. */
  userId?: string;
  /** Whether the provider was asked to authenticate the user again. Default: false. */
  reauthenticates?: boolean;
  facts: ProviderFacts;
}

/** What a token holds sealed. */
const sealedContent = providerFacts.extend({ reauthenticates: z.literal(true).optional() });

/**
 * Issues a token and commits, because the callback runs outside a flow step.
 *
 * @param session what the provider knows its session by, if a sign-out is to end it; it is stored under the token
 * @returns the token, 43 characters of base64url, valid for 60 seconds; only its hash is stored
 */
export async function issueExchangeToken(
  { database, platform, vault }: Process,
  tenant: Tenant,
  { flowId, codeChallenge, userId, reauthenticates, facts }: ExchangeToken,
  session: ProviderSession | null = null,
): Promise<string> {
  const token = randomToken(platform);
  if (session) {
    const { provider } = facts;
    await storeProviderSession({ database, platform, vault }, tenant, {
      exchangeToken: token,
      provider,
      session,
    });
  }
  const tokenHash = sha256(token);
  const now = databaseNow(platform.clockShift());
  const content: z.input<typeof sealedContent> = {
    ...facts,
    ...(reauthenticates ? { reauthenticates } : {}),
  };
  await database.write.insert(exchangeTokens).values({
    tenantId: tenant.id,
    tokenHash,
    flowId,
    codeChallenge: codeChallenge ?? null,
    userId: userId ?? null,
    sealed: vault.seal(Buffer.from(JSON.stringify(content)), contextOf(tenant, tokenHash)),
    expiresAt: sql`${now} + ${EXCHANGE_TOKEN_SECONDS}::int * interval '1 second'`,
  });
  return token;
}

/**
 * Reads a token without taking it.
 *
 * @returns null if it is unknown, taken or expired
 */
export async function findExchangeToken(
  { runtime, tenant, now }: Pick<RequestContext<Process>, "runtime" | "tenant" | "now">,
  token: string,
): Promise<ExchangeToken | null> {
  const tokenHash = sha256(token);
  const [found] = await runtime.database.read
    .select()
    .from(exchangeTokens)
    .where(
      and(
        eq(exchangeTokens.tenantId, tenant.id),
        eq(exchangeTokens.tokenHash, tokenHash),
        gt(exchangeTokens.expiresAt, now),
      ),
    );
  if (!found) return null;
  const plain = runtime.vault.unseal(found.sealed, contextOf(tenant, tokenHash)).toString();
  const { reauthenticates, ...facts } = sealedContent.parse(JSON.parse(plain));
  return {
    flowId: found.flowId,
    ...(found.codeChallenge === null ? {} : { codeChallenge: found.codeChallenge }),
    ...(found.userId === null ? {} : { userId: found.userId }),
    ...(reauthenticates ? { reauthenticates } : {}),
    facts,
  };
}

/**
 * Returns the write that takes a token. It must run before the other writes of the sign-in.
 *
 * @throws ConflictError "exchange_token" if it was taken or has expired concurrently
 */
export function takeExchangeToken(
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  token: string,
): Write {
  return writeOf({
    name: "exchange",
    text: takeText,
    values: [tenant.id, sha256(token), now],
    refuses: "case when not exists (select 1 from exchange_token) then 'exchange_token' end",
  });
}

const takeText = `exchange_token as (
  delete from exchange_tokens where tenant_id = $1 and token_hash = $2 and expires_at > $3 returning 1)`;

/**
 * Whether a verifier matches a token's challenge, by S256 only (RFC 7636, 4.6). For a token without a challenge the
 * verifier is optional and not checked.
 */
export function isValidVerifier(
  exchange: Pick<ExchangeToken, "codeChallenge">,
  verifier: string | undefined,
): boolean {
  if (exchange.codeChallenge === undefined) return true;
  return verifier !== undefined && isVerifierOf(exchange.codeChallenge, verifier);
}

const contextOf = (tenant: Tenant, tokenHash: Buffer) =>
  sealContext(exchangeTokens, "sealed", { tenantId: tenant.id, tokenHash: tokenHash.toString("hex") });
