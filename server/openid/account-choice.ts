import type { AdapterPayload } from "oidc-provider";
import type { Databases } from "#db/client";
import type { Write } from "#db/write";
import type { RequestContext, TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Session } from "../objects/session.ts";
import { artifactSeals, artifactStorage } from "./artifact-storage.ts";
import { CHOSEN, takeRequest } from "./consents.ts";
import { identifierHash } from "./identifier-hash.ts";
import { SELECT_ACCOUNT } from "./prompts.ts";

type Process = Databases & Sealing & OnPlatform;

/**
 * Whether an authorization request waits for its user to choose an account: one that is answered, has expired or asks something
 * else does not.
 */
export async function awaitsChoice(context: TenantContext<Process>, request: string): Promise<boolean> {
  return (await findWaiting(context, request)) !== null;
}

async function findWaiting(context: TenantContext<Process>, request: string): Promise<AdapterPayload | null> {
  const payload = await artifactStorage(context, "Interaction").find(request);
  const waits =
    payload?.prompt?.name === SELECT_ACCOUNT &&
    payload.consumed === undefined &&
    // By the clock that the library has set it by.
    (payload.exp ?? 0) > Date.now() / 1000;
  return waits ? payload : null;
}

/**
 * Prepares the choice of the account that is signed in, for a request with `prompt=select_account`. A request that came without
 * a session, such as one whose browser had to renew its cookie first, is from then on one of this user.
 *
 * @returns the write of the choice; it throws ConflictError("authorization") if the request is answered or expired. Null if
 *   no such request waits, or another user is asked
 */
export async function chooseAccount(
  context: RequestContext<Process>,
  { userId }: Session,
  request: string,
): Promise<Write | null> {
  const waiting = await findWaiting(context, request);
  const { accountId = null } = waiting ?? {};
  if (!waiting || (accountId !== null && accountId !== userId)) return null;
  const { tenant, now } = context;
  const { jti: _, ...kept } = waiting;
  const seals = artifactSeals(context, "Interaction");
  const payload = seals.seal({ ...kept, accountId: userId }, identifierHash(request));
  const answer = { request, userId: accountId, answer: CHOSEN, now } as const;
  return (tx) => takeRequest(tx, tenant.id, answer, { userId, payload });
}
