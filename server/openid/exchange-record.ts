import type { Databases } from "#db/client";
import { commit } from "#db/commit";
import { audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { ClientContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { ExchangedToken } from "./exchanged-token.ts";

/** Records that a service has got a token for a user whose client has called it. */
export async function recordExchange(
  context: ClientContext<Databases & OnPlatform & AuditOutputs>,
  { clientId, forClientId, userId, resource }: ExchangedToken,
): Promise<void> {
  const details = { client_id: clientId, for_client_id: forClientId, resource };
  await commit(context.runtime.database, [audit(context, "token_exchanged", details, userId)]);
}
