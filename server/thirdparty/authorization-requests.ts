import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { schema } from "#db/client";
import { sealContext } from "#db/schema/table";
import { type Write, writeOf } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { RequestContext } from "../context/context.ts";
import { isSealedByOneOf } from "../keys/sealed-columns.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Process } from "./process.ts";

/** Pending requests to identity providers, identified by `state` (RFC 6749, 10.12). */

const { thirdPartyRequests } = schema;

/** How long a user may take at the provider. */
export const THIRD_PARTY_REQUEST_SECONDS = 600;

/** The data of a request. */
export interface ThirdPartyRequest {
  /** The flow that started the request; null if none did. */
  flowId: string | null;
  provider: string;
  /** Return URL, already checked against the allowed ones. */
  redirectTo: string;
  /** S256 challenge of the verifier that the exchange requires (RFC 7636, 4.2). */
  codeChallenge?: string;
  /** The account that a profile flow links the identity to. */
  userId?: string;
  /** Secrets of the request, sealed: PKCE verifier, nonce, id of the SAML request. */
  privateState: Record<string, string>;
}

/**
 * Begins the provider of a request that is a test: one that ends in a result for an operator. Former versions know no such
 * provider, so that none of them makes a sign-in of it.
 */
const TEST_PREFIX = "test:";

/** The provider of a request that is a test. */
export const testedProvider = (provider: string): string => TEST_PREFIX + provider;

/**
 * Tells a test from a sign-in.
 *
 * @returns the id of the test, and the request with its provider; null for a request of a sign-in
 */
export function testOf(request: ThirdPartyRequest): { testId: string; request: ThirdPartyRequest } | null {
  const { provider, privateState } = request;
  if (!provider.startsWith(TEST_PREFIX)) return null;
  const testId = privateState.test ?? "";
  return { testId, request: { ...request, provider: provider.slice(TEST_PREFIX.length) } };
}

/** Whether a request is to a SAML provider, which answers at an address of its own. */
export const isOfSaml = (request: ThirdPartyRequest): boolean =>
  (testOf(request)?.request ?? request).provider.startsWith("saml:");

const privateStateSchema = z.record(z.string(), z.string());

/**
 * Creates a request.
 *
 * @returns `state`: 43 characters of base64url, 256 bits, stored as a hash; `write`: stores the request
 */
export function openThirdPartyRequest(
  { runtime, tenant, now }: Pick<RequestContext<Process>, "runtime" | "tenant" | "now">,
  request: ThirdPartyRequest,
): { state: string; write: Write } {
  const state = randomToken(runtime.platform);
  const stateHash = sha256(state);
  const privateState = Buffer.from(JSON.stringify(request.privateState));
  const write = writeOf({
    name: "provider_request",
    text: insertText,
    values: [
      tenant.id,
      stateHash,
      request.flowId,
      request.provider,
      runtime.vault.seal(privateState, contextOf(tenant, stateHash)),
      request.redirectTo,
      request.codeChallenge ?? null,
      request.userId ?? null,
      new Date(now.getTime() + THIRD_PARTY_REQUEST_SECONDS * 1000),
    ],
  });
  return { state, write };
}

const insertText = `provider_request as (
  insert into third_party_requests (tenant_id, state_hash, flow_id, provider, sealed, redirect_to, code_challenge,
    user_id, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9))`;

/**
 * Takes a request and commits at once, so that it accepts one response whatever the outcome.
 *
 * @param state as returned by the provider
 * @returns null if the state is unknown, already taken or older than ten minutes
 * @throws UnknownKeyError if the key that sealed the request is not configured; then it is not taken
 */
export async function takeThirdPartyRequest(
  { database, vault }: Process,
  tenant: Tenant,
  state: string,
  now: Date,
): Promise<ThirdPartyRequest | null> {
  const stateHash = sha256(state);
  const isRequested = and(
    eq(thirdPartyRequests.tenantId, tenant.id),
    eq(thirdPartyRequests.stateHash, stateHash),
  );
  const [taken] = await database.write
    .delete(thirdPartyRequests)
    .where(and(isRequested, isSealedByOneOf(thirdPartyRequests.sealed, vault.keyIds)))
    .returning();
  if (!taken) {
    const [kept] = await database.write.select().from(thirdPartyRequests).where(isRequested);
    if (kept) vault.assertKnown("sealed", kept.sealed);
    return null;
  }
  if (taken.expiresAt <= now) return null;
  const plain = vault.unseal(taken.sealed, contextOf(tenant, stateHash)).toString();
  return {
    flowId: taken.flowId,
    provider: taken.provider,
    redirectTo: taken.redirectTo,
    ...(taken.codeChallenge === null ? {} : { codeChallenge: taken.codeChallenge }),
    ...(taken.userId === null ? {} : { userId: taken.userId }),
    privateState: privateStateSchema.parse(JSON.parse(plain)),
  };
}

const contextOf = (tenant: Tenant, stateHash: Buffer) =>
  sealContext(thirdPartyRequests, "sealed", { tenantId: tenant.id, stateHash: stateHash.toString("hex") });
