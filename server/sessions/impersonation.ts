import { sql } from "drizzle-orm";
import type { Transaction } from "#db/client";
import type { Impersonation } from "#db/schema/sessions";
import type { Tenant } from "../config/tenant.ts";
import {
  type ConsoleRole,
  grantedText,
  mayAs,
  type RoleRow,
  roleOf,
  verifiedText,
} from "../identity/console-roles.ts";
import type { Session } from "../objects/session.ts";

/**
 * Sessions in which an account of the console acts as a user (RFC 8693, 1.1: impersonation). Whether one goes on is judged where
 * it is read, by the statement that reads it: it ends with the session of the console, whatever ends that, and with the role.
 */

/**
 * The least role that acts as a user of a tenant.
 *
 * @param actorTenantId the tenant of the account that acts
 */
export const actingRole = ({ id }: Pick<Tenant, "id">, actorTenantId: string): ConsoleRole =>
  id === actorTenantId ? "administrator" : "operator";

/** `typ` of the tokens of such sessions: a server of an earlier release takes none of them. */
export const IMPERSONATION_TOKEN_TYPE = "impersonation+jwt";

/** The claim that names the account which acts (RFC 8693, 4.1). */
export interface ActorClaim {
  /** The id of the account. */
  sub: string;
  /** The issuer of its tenant's tokens, in which `sub` is unique. */
  iss: string;
  /** Its role in the console. */
  role: Impersonation["role"];
}

/** The claim `act` of the tokens of a session; none for a session of its user. */
export function actorClaim({ impersonation }: Pick<Session, "impersonation">): { act?: ActorClaim } {
  if (!impersonation) return {};
  const { userId: sub, issuer: iss, role } = impersonation;
  return { act: { sub, iss, role } };
}

/** The account that acts in a session, for the entries of the audit log; none for a session of its user. */
export function actorOf({ impersonation }: Pick<Session, "impersonation">): {
  operator?: { tenantId: string; userId: string };
} {
  if (!impersonation) return {};
  const { tenantId, userId } = impersonation;
  return { operator: { tenantId, userId } };
}

/** What is read of the account that acts, while it is signed in to the console. */
export type ActorRow = RoleRow & {
  /** When the session of the console was used last, as JSON has it. */
  lastUsedAt: string;
  /** What is read of the user. */
  own: RoleRow;
};

/**
 * Returns SQL of an `ActorRow` as JSON. It is null for a session of its user, which costs nothing, and if the session of the
 * console has ended or the account is blocked.
 *
 * @param session name of the row of `sessions`
 * @param now SQL of the time
 */
export const actorText = (session: string, now: string): string => `
  case when ${session}.impersonation is not null then (
    select json_build_object('lastUsedAt', c.last_used_at,
      'granted', ${grantedText("actor")}, 'verified', ${verifiedText("actor")},
      'own', json_build_object('granted', ${grantedText("own")}, 'verified', ${verifiedText("own")}))
    from console_sessions c
    join sessions entered on entered.tenant_id = c.tenant_id and entered.id = c.session_id
    join users actor on actor.tenant_id = entered.tenant_id and actor.id = entered.user_id
    join users own on own.tenant_id = ${session}.tenant_id and own.id = ${session}.user_id
    where c.tenant_id = (${session}.impersonation ->> 'tenantId')::uuid
      and c.id = (${session}.impersonation ->> 'consoleSessionId')::uuid
      and c.expires_at > ${now} and entered.expires_at > ${now} and actor.blocked_at is null) end`;

/**
 * Whether the account that acts in a session may go on: it has the role that it takes, and the user has none. True for a session
 * of its user.
 *
 * @param actor as `actorText` read it
 */
export function goesOn(
  { id, config }: Pick<Tenant, "id" | "config">,
  { impersonation }: Pick<Session, "impersonation">,
  actor: ActorRow | null,
  now: Date,
): boolean {
  if (!impersonation) return true;
  if (!actor || !config.console.enabled || !config.console.impersonation.enabled) return false;
  const { tenantId, ofDefaultTenant } = impersonation;
  const idleMs = now.getTime() - Date.parse(actor.lastUsedAt);
  if (idleMs > config.console.idle_timeout * 1000) return false;
  const defaultTenant = { config, tenant: { id: ofDefaultTenant ? tenantId : "" } };
  // An account that acts in another tenant is an operator, and those are of the default tenant: the user is not.
  if (roleOf(defaultTenant, id, actor.own) !== null) return false;
  const role = roleOf(defaultTenant, tenantId, actor);
  return role !== null && mayAs(role, actingRole({ id }, tenantId));
}

/** As `goesOn`, of a session that the transaction has stored. */
export async function mayGoOn(
  tx: Transaction,
  tenant: Tenant,
  session: Pick<Session, "id" | "impersonation">,
  now: Date,
): Promise<boolean> {
  const { rows } = await tx.execute<{ actor: ActorRow | null }>(sql`
    select ${sql.raw(actorText("s", "now()"))} as actor from sessions s
    where s.tenant_id = ${tenant.id} and s.id = ${session.id}`);
  return goesOn(tenant, session, rows[0]?.actor ?? null, now);
}
