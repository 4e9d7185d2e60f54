import { and, eq, gt, sql } from "drizzle-orm";
import { schema } from "#db/client";
import { databaseNow } from "#db/clock";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { isVerifierOf } from "../lib/pkce.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { type ProviderFacts, providerFacts } from "./provider-facts.ts";

/** One-time tokens that carry what a provider said of a person from the callback into the flow. */

const { exchangeTokens } = schema;

/** Life of a token. */
export const EXCHANGE_TOKEN_SECONDS = 60;

/** What a token stands for. */
export interface ExchangeToken {
  /** The flow it is for; null for one that an identity provider started by itself. */
  flowId: string | null;
  /** S256 challenge of the verifier that has to be shown with it (RFC 7636, 4.2). */
  codeChallenge?: string;
  /** The account that a profile flow connects the identity to. */
  userId?: string;
  facts: ProviderFacts;
}

/**
 * Makes a token and commits: the callback belongs to no step of a flow.
 *
 * @returns the token, 43 characters of base64url, good for 60 seconds; it rests as its hash
 */
export async function issueExchangeToken(
  { database, platform, vault }: Runtime,
  tenant: Tenant,
  { flowId, codeChallenge, userId, facts }: ExchangeToken,
): Promise<string> {
  const token = randomToken(platform);
  const tokenHash = sha256(token);
  const now = databaseNow(platform.clockShift());
  await database.write.insert(exchangeTokens).values({
    tenantId: tenant.id,
    tokenHash,
    flowId,
    codeChallenge: codeChallenge ?? null,
    userId: userId ?? null,
    sealed: vault.seal(Buffer.from(JSON.stringify(facts)), sealContext(tenant, tokenHash)),
    expiresAt: sql`${now} + ${EXCHANGE_TOKEN_SECONDS}::int * interval '1 second'`,
  });
  return token;
}

/**
 * Looks at a token without taking it.
 *
 * @returns null for one that was never made here, was taken, or has expired
 */
export async function findExchangeToken(
  { runtime, tenant, now }: Pick<RequestContext, "runtime" | "tenant" | "now">,
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
  const plain = runtime.vault.unseal(found.sealed, sealContext(tenant, tokenHash)).toString();
  return {
    flowId: found.flowId,
    ...(found.codeChallenge === null ? {} : { codeChallenge: found.codeChallenge }),
    ...(found.userId === null ? {} : { userId: found.userId }),
    facts: providerFacts.parse(JSON.parse(plain)),
  };
}

/**
 * Takes a token: the write that comes first in whatever follows from it.
 *
 * @throws TakenError("exchange_token") when it is gone, or has run out meanwhile
 */
export function takeExchangeToken(
  { tenant, now }: Pick<RequestContext, "tenant" | "now">,
  token: string,
): Write {
  return async (tx) => {
    const taken = await tx
      .delete(exchangeTokens)
      .where(
        and(
          eq(exchangeTokens.tenantId, tenant.id),
          eq(exchangeTokens.tokenHash, sha256(token)),
          gt(exchangeTokens.expiresAt, now),
        ),
      )
      .returning({ flowId: exchangeTokens.flowId });
    if (taken.length === 0) throw new ConflictError("exchange_token");
  };
}

/**
 * Whether a verifier is the one that a token's challenge was made of, by S256 alone (RFC 7636, 4.6). A token without
 * a challenge asks for none, and takes any.
 */
export function isValidVerifier(
  exchange: Pick<ExchangeToken, "codeChallenge">,
  verifier: string | undefined,
): boolean {
  if (exchange.codeChallenge === undefined) return true;
  return verifier !== undefined && isVerifierOf(exchange.codeChallenge, verifier);
}

function sealContext(tenant: Tenant, tokenHash: Buffer): string {
  return `exchange token ${tenant.id} ${tokenHash.toString("hex")}`;
}
