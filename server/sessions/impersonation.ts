import { and, eq, gt, isNull } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Impersonation } from "#db/schema/sessions";
import type { Tenant } from "../config/tenant.ts";
import { type ConsoleRole, mayAs, type RoleRow, roleColumns, roleOf } from "../identity/console-roles.ts";
import type { Session } from "../objects/session.ts";

const { consoleSessions, sessions, users } = schema;

/**
 * Sessions in which an account of the console acts as a user (RFC 8693, 1.1: impersonation). Whether one goes on is judged where
 * it is read: it ends with the session of the console, whatever ends that, and with the role.
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
  /** When the session of the console was used last. */
  lastUsedAt: Date;
  /** What is read of the user. */
  own: RoleRow;
};

/**
 * Reads what `goesOn` judges, for sessions in which an account of the console acts: the account may be of another tenant, so
 * that no statement about the session can read it. A session of its user costs nothing.
 *
 * @returns null for a session of its user, and if the session of the console has ended or the account is blocked
 */
export async function readActor(
  db: Pick<ReadOnly, "select">,
  { id: tenantId }: Pick<Tenant, "id">,
  { userId, impersonation }: Pick<Session, "userId" | "impersonation">,
  clockShift: number,
): Promise<ActorRow | null> {
  if (!impersonation) return null;
  const now = databaseNow(clockShift);
  const ofActor = db
    .select({ lastUsedAt: consoleSessions.lastUsedAt, ...roleColumns })
    .from(consoleSessions)
    .innerJoin(
      sessions,
      and(eq(sessions.tenantId, consoleSessions.tenantId), eq(sessions.id, consoleSessions.sessionId)),
    )
    .innerJoin(users, and(eq(users.tenantId, sessions.tenantId), eq(users.id, sessions.userId)))
    .where(
      and(
        eq(consoleSessions.tenantId, impersonation.tenantId),
        eq(consoleSessions.id, impersonation.consoleSessionId),
        gt(consoleSessions.expiresAt, now),
        gt(sessions.expiresAt, now),
        isNull(users.blockedAt),
      ),
    );
  const ofUser = db
    .select(roleColumns)
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
  // One after the other, because a transaction has one connection.
  const [actor] = await ofActor;
  const [own] = actor ? await ofUser : [];
  return actor && own ? { ...actor, own } : null;
}

/**
 * Whether the account that acts in a session may go on: it has the role that it takes, and the user has none. True for a session
 * of its user.
 *
 * @param actor as `readActor` gave it
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
  const idleMs = now.getTime() - actor.lastUsedAt.getTime();
  if (idleMs > config.console.idle_timeout * 1000) return false;
  const defaultTenant = { config, tenant: { id: ofDefaultTenant ? tenantId : "" } };
  // An account that acts in another tenant is an operator, and those are of the default tenant: the user is not.
  if (roleOf(defaultTenant, id, actor.own) !== null) return false;
  const role = roleOf(defaultTenant, tenantId, actor);
  return role !== null && mayAs(role, actingRole({ id }, tenantId));
}

/** As `goesOn`, read by a transaction. */
export async function mayGoOn(
  tx: Transaction,
  tenant: Tenant,
  session: Pick<Session, "userId" | "impersonation">,
  now: Date,
): Promise<boolean> {
  return goesOn(tenant, session, await readActor(tx, tenant, session, 0), now);
}
