import { and, asc, eq, inArray, or } from "drizzle-orm";
import { type Databases, type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import { type AuditContext, audit } from "../audit/audit.ts";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Actor } from "../context/client.ts";
import {
  type ConsoleRole,
  canonicalAddress,
  mayAs,
  roleColumns,
  roleOf,
  rolesByAddress,
  stronger,
} from "../identity/console-roles.ts";
import { lockUser } from "../identity/lock-user.ts";
import { isUuid } from "../lib/uuid.ts";

const { consoleGrants, emails, users } = schema;

/** What this module takes of the process. */
type Process = Databases & Configured & AuditContext["runtime"] & { tenant: Pick<Tenant, "id"> };

type GrantContext = Omit<AuditContext, "runtime"> & { runtime: Process };

/** An account that may enter the console. */
export interface Grant {
  user_id: string;
  /** The primary address; null for an account without one. */
  email: string | null;
  role: ConsoleRole;
  created_at: string;
}

/** Lists the accounts of a tenant that were given a role, oldest first. Those of `console.roles` are not among them. */
export async function listGrants({ database }: Databases, { id }: Pick<Tenant, "id">): Promise<Grant[]> {
  const rows = await database.read
    .select({
      user_id: consoleGrants.userId,
      email: emails.address,
      role: consoleGrants.role,
      createdAt: consoleGrants.createdAt,
    })
    .from(consoleGrants)
    .leftJoin(
      emails,
      and(
        eq(emails.tenantId, consoleGrants.tenantId),
        eq(emails.userId, consoleGrants.userId),
        eq(emails.isPrimary, true),
      ),
    )
    .where(eq(consoleGrants.tenantId, id))
    .orderBy(asc(consoleGrants.createdAt), asc(consoleGrants.userId));
  return rows.map(({ createdAt, ...grant }) => ({ ...grant, created_at: createdAt.toISOString() }));
}

/** Why a role was not given. */
export type GrantRefusal = "not_found" | "forbidden" | "operator_of_tenant" | "too_many";

/** Accounts of one tenant that may have a role. */
export const MAX_GRANTS = 1000;

/**
 * Gives an account a role of the console, in place of one that it has.
 *
 * @returns why it was refused; null if it was given
 */
export async function grantRole(
  context: GrantContext,
  userId: string,
  role: ConsoleRole,
): Promise<GrantRefusal | null> {
  const { runtime, tenant } = context;
  if (role === "operator" && tenant.id !== runtime.tenant.id) return "operator_of_tenant";
  return runtime.database.write.transaction(async (tx) => {
    const refused = await lockToChange(tx, context, userId);
    return refused ?? writeGrant(tx, context, userId, role);
  });
}

/** Locks an account, so that its role is not changed while a change of it is judged. */
async function lockToChange(
  tx: Transaction,
  context: GrantContext,
  userId: string,
): Promise<"not_found" | "forbidden" | null> {
  try {
    await lockUser(tx, context.tenant.id, userId);
  } catch (error) {
    if (error instanceof ConflictError) return "not_found";
    throw error;
  }
  return (await mayChangeAccount(tx, context, userId)) ? null : "forbidden";
}

/** As `grantRole`, within a transaction that has locked the account. Who gives the role is not judged. */
export async function writeGrant(
  tx: Transaction,
  context: AuditContext,
  userId: string,
  role: ConsoleRole,
): Promise<GrantRefusal | null> {
  const { tenant, now } = context;
  const [former] = await tx
    .select({ role: consoleGrants.role })
    .from(consoleGrants)
    .where(grantOf(tenant.id, userId))
    .for("update");
  if (!former && (await tx.$count(consoleGrants, eq(consoleGrants.tenantId, tenant.id))) >= MAX_GRANTS)
    return "too_many";
  await tx
    .insert(consoleGrants)
    .values({ tenantId: tenant.id, userId, role, createdAt: now })
    .onConflictDoUpdate({ target: [consoleGrants.tenantId, consoleGrants.userId], set: { role } });
  await audit(context, "console_role_granted", { role, former_role: former?.role ?? null }, userId)(tx);
  return null;
}

/**
 * Takes the role of an account away. Its sessions of the console end with it.
 *
 * @returns why it was refused, `not_found` if the account has none; null if it was taken away
 */
export function revokeRole(context: GrantContext, userId: string): Promise<"not_found" | "forbidden" | null> {
  const { runtime, tenant } = context;
  return runtime.database.write.transaction(async (tx) => {
    const refused = await lockToChange(tx, context, userId);
    if (refused) return refused;
    const [revoked] = await tx
      .delete(consoleGrants)
      .where(grantOf(tenant.id, userId))
      .returning({ role: consoleGrants.role });
    if (!revoked) return "not_found";
    await audit(context, "console_role_revoked", { former_role: revoked.role }, userId)(tx);
    return null;
  });
}

const grantOf = (tenantId: string, userId: string) =>
  and(eq(consoleGrants.tenantId, tenantId), eq(consoleGrants.userId, userId));

/** Whether any account of the default tenant is an operator, by a grant or by the configuration. */
export async function hasOperator(
  db: ReadOnly | Transaction,
  { config, tenant }: Configured & { tenant: Pick<Tenant, "id"> },
): Promise<boolean> {
  if (Object.values(config.console.roles).includes("operator")) return true;
  const found = await db
    .select({ userId: consoleGrants.userId })
    .from(consoleGrants)
    .where(and(eq(consoleGrants.tenantId, tenant.id), eq(consoleGrants.role, "operator")))
    .limit(1);
  return found.length > 0;
}

/**
 * The strongest role that the configuration gives to an address which a change names, whether or not an account has it: a change
 * may say that an address is verified.
 *
 * @param body of the change
 * @returns null if none has one
 */
export function namedRole(
  { config, tenant: defaultTenant }: Configured & { tenant: Pick<Tenant, "id"> },
  { id }: Pick<Tenant, "id">,
  body: unknown,
): ConsoleRole | null {
  const { roles } = config.console;
  if (id !== defaultTenant.id || Object.keys(roles).length === 0) return null;
  return textsIn(body)
    .flatMap((text) => rolesByAddress(roles, canonicalAddress(text)))
    .reduce<ConsoleRole | null>((one, other) => (one ? stronger(one, other) : other), null);
}

/**
 * The strongest role that the configuration gives to a stored address, whether or not it is verified.
 *
 * @param id of the address; untrusted
 * @returns null if it has none
 */
export async function roleOfAddress(
  runtime: Databases & Configured & { tenant: Pick<Tenant, "id"> },
  { id: tenantId }: Pick<Tenant, "id">,
  id: unknown,
): Promise<ConsoleRole | null> {
  const mayBeNamed = tenantId === runtime.tenant.id && Object.keys(runtime.config.console.roles).length > 0;
  if (!mayBeNamed || typeof id !== "string" || !isUuid(id)) return null;
  const [email] = await runtime.database.write
    .select({ address: emails.address })
    .from(emails)
    .where(and(eq(emails.tenantId, tenantId), eq(emails.id, id.toLowerCase())));
  return namedRole(runtime, { id: tenantId }, email?.address);
}

const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/**
 * The strongest role that any of some accounts has, read from the database.
 *
 * @param userIds untrusted; what is no UUID is no account
 * @returns null if none has one
 */
export async function strongestRole(
  db: ReadOnly,
  runtime: Configured & { tenant: Pick<Tenant, "id"> },
  { id }: Pick<Tenant, "id">,
  userIds: readonly string[],
): Promise<ConsoleRole | null> {
  const ids = userIds.filter(isUuid).map((userId) => userId.toLowerCase());
  if (ids.length === 0) return null;
  const rows = await db
    .select(roleColumns)
    .from(users)
    .where(and(eq(users.tenantId, id), inArray(users.id, ids)));
  return rows
    .map((row) => roleOf(runtime, id, row))
    .reduce((one, other) => (one && other ? stronger(one, other) : (one ?? other)), null);
}

/**
 * Whether the party of a change may change an account: an account of the console changes none with a stronger role, whose place
 * it could take. The caller has locked the account, which is given no other role then.
 */
export async function mayChangeAccount(
  tx: Transaction,
  {
    runtime,
    tenant,
    client: { operator },
  }: {
    runtime: Configured & { tenant: Pick<Tenant, "id"> };
    tenant: Pick<Tenant, "id">;
    client: Pick<Actor, "operator">;
  },
  userId: string,
): Promise<boolean> {
  if (!operator) return true;
  const isAccount = (tenantId: string, id: string) => and(eq(users.tenantId, tenantId), eq(users.id, id));
  const rows = await tx
    .select({ tenantId: users.tenantId, id: users.id, ...roleColumns })
    .from(users)
    .where(or(isAccount(operator.tenantId, operator.userId), isAccount(tenant.id, userId)));
  const [own = null, role = null] = [operator, { tenantId: tenant.id, userId: userId.toLowerCase() }].map(
    (account) => {
      const row = rows.find(({ tenantId, id }) => tenantId === account.tenantId && id === account.userId);
      return row && roleOf(runtime, row.tenantId, row);
    },
  );
  return own !== null && (role === null || mayAs(own, role));
}
