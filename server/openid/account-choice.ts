import type { Databases } from "#db/client";
import type { Write } from "#db/write";
import type { RequestContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Session } from "../objects/session.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { CHOSEN, takeRequest } from "./consents.ts";
import { SELECT_ACCOUNT } from "./prompts.ts";

/**
 * Prepares the choice of the account that is signed in, for a request with `prompt=select_account`.
 *
 * @returns the write of the choice; it throws ConflictError("authorization") if the request is answered or expired. Null if
 *   no such request of the user waits
 */
export async function chooseAccount(
  context: RequestContext<Databases & Sealing & OnPlatform>,
  { userId }: Session,
  request: string,
): Promise<Write | null> {
  const payload = await artifactStorage(context, "Interaction").find(request);
  const waits =
    payload?.prompt?.name === SELECT_ACCOUNT &&
    payload.accountId === userId &&
    payload.consumed === undefined;
  if (!waits) return null;
  const { tenant, now } = context;
  return (tx) => takeRequest(tx, tenant.id, { request, userId, answer: CHOSEN, now });
}
