import { sql } from "drizzle-orm";
import type { Databases } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";

/** The address at which a listed client is told that a session has ended; null if it is not told. */
export function logoutAddress({ openid }: Pick<Config, "openid">, clientId: string): string | null {
  const client = Object.hasOwn(openid.clients, clientId) ? openid.clients[clientId] : undefined;
  return client?.backchannel_logout_uri ?? null;
}

/**
 * Records that a session has signed its user in to a client, which is told when it ends, whatever ends it.
 *
 * @throws a violation of a foreign key if the session has ended meanwhile
 */
export async function recordSignIn(
  { runtime, tenant }: TenantContext<Databases>,
  { clientId, sid, sessionId, userId }: Record<"clientId" | "sid" | "sessionId" | "userId", string>,
): Promise<void> {
  await runtime.database.write.execute(sql`
    insert into openid_sign_ins (tenant_id, client_id, sid, session_id, user_id)
    values (${tenant.id}, ${clientId}, ${sid}, ${sessionId}, ${userId}) on conflict do nothing`);
}
