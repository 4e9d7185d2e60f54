import type { Databases } from "#db/client";
import { commit } from "#db/commit";
import { auditAttempt } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { ClientContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { ExchangedToken } from "./exchanged-token.ts";

/**
 * Records that a service has got a token for a user whose client has called it. It changes nothing, and a service does it for each
 * call, so the entries of a user are limited.
 */
export async function recordExchange(
  context: ClientContext<Databases & OnPlatform & AuditOutputs>,
  { clientId, forClientId, userId, resource }: ExchangedToken,
): Promise<void> {
  const details = { client_id: clientId, for_client_id: forClientId, resource };
  const entry = auditAttempt(context, "token_exchanged", details, { userId, cause: { account: userId } });
  await commit(context.runtime.database, [entry]);
}
