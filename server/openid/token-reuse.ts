import type { Databases } from "#db/client";
import { audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { ClientContext } from "../context/context.ts";
import { emit, type WakesWebhooks } from "../events/emit.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { PresentedToken } from "./visitor.ts";

/**
 * Records that a code or refresh token was presented a second time (RFC 9700, 4.14.2): of client and thief, one has a copy. It
 * can happen once for each, because everything of its grant has ended.
 */
export async function recordReuse(
  context: ClientContext<Databases & OnPlatform & AuditOutputs & WakesWebhooks>,
  { kind, clientId, userId }: PresentedToken,
): Promise<void> {
  const token = { user_id: userId, client_id: clientId, kind, reason: "reused" } as const;
  await context.runtime.database.write.transaction(async (tx) => {
    await audit(context, "token_reused", { client_id: clientId, kind }, userId)(tx);
    await emit(context, "oauth.token.refused", token)(tx);
  });
}
