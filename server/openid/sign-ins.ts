import { sql } from "drizzle-orm";
import type { Databases } from "#db/client";
import { clientsToldBy } from "../config/logout-channels.ts";
import type { Config } from "../config/schema.ts";
import type { TenantContext } from "../context/context.ts";
import { sha256 } from "../lib/sha256.ts";

/** The listed clients that are told of the end of a session, by either channel. */
export const toldClients = (config: Pick<Config, "openid">): string[] => [
  ...new Set([
    ...clientsToldBy(config, "backchannel_logout_uri"),
    ...clientsToldBy(config, "frontchannel_logout_uri"),
  ]),
];

/**
 * Returns the `sid` of a session at a client (OpenID Connect Front-Channel Logout 1.0). It depends on both alone, so that a
 * session has one row for a client, however often and from however many tabs it signs in.
 */
export const sidOf = (sessionId: string, clientId: string): string =>
  sha256(`${sessionId} ${clientId}`).toString("base64url");

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
