import { and, eq, inArray, or, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import type { RequestContext } from "../context/context.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "../failures/passkey-server.ts";
import { newUserHandle } from "../webauthn/user-handle.ts";
import { auditPasskeys } from "./audit.ts";
import type { Process } from "./process.ts";
import { userIdsOf } from "./user-handles.ts";

/** A user of an application that uses the passkey server; not an account of this service. */
export interface PasskeyUser {
  /** Internal id, a UUID. */
  id: string;
  /** The application's id: any text of at most 64 bytes, without NUL. */
  userId: string;
  name: string;
  displayName: string;
  icon: string | null;
  /** `user.id` of ceremonies; null if the user's credentials bear a handle that is made of `userId`. */
  userHandle: Buffer | null;
}

/** What an application states about a user. */
export type StatedUser = Omit<PasskeyUser, "id" | "userHandle">;

const { passkeyUsers: table } = schema;

const columns = {
  id: table.id,
  userId: table.userId,
  name: table.name,
  displayName: table.displayName,
  icon: table.icon,
  userHandle: table.userHandle,
};

/** The limit of `user.id` (WebAuthn Level 3 section 5.4.3), which former versions derived from the application's id. */
export const MAX_USER_ID_BYTES = 64;

/** Finds a user by the application's id; null also for an id that is not valid. */
export async function findUser(db: ReadOnly, tenantId: string, userId: string): Promise<PasskeyUser | null> {
  if (userId.includes("\0")) return null;
  const [user] = await db
    .select(columns)
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)));
  return user ?? null;
}

/** Whether a handle, in base64url, stands for a user: as the random one, or made of the application's id. */
export async function isUserHandle(db: ReadOnly, tenantId: string, handle: string): Promise<boolean> {
  const userIds = userIdsOf(handle).filter((userId) => !userId.includes("\0"));
  const named = or(
    eq(table.userHandle, Buffer.from(handle, "base64url")),
    userIds.length > 0 ? inArray(table.userId, userIds) : undefined,
  );
  const found = await db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), named))
    .limit(1);
  return found.length > 0;
}

/** Finds a user by internal id. */
export async function findUserById(db: ReadOnly, tenantId: string, id: string): Promise<PasskeyUser | null> {
  const [user] = await db
    .select(columns)
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.id, id)));
  return user ?? null;
}

/**
 * Whether a user has credentials with the handle of former versions. Such a user gets no other one, so that an authenticator
 * goes on to treat all of them as one user's.
 */
async function bearsFormerHandle(tx: Transaction, tenantId: string, userId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from passkey_users u join passkey_credentials c on c.tenant_id = ${tenantId} and c.user_id = u.id
    where u.tenant_id = ${tenantId} and u.user_id = ${userId} and u.user_handle is null limit 1`);
  return rows.length > 0;
}

/** Creates a user, or updates the name, display name and icon of an existing one. */
export async function saveUser(
  tx: Transaction,
  { runtime, tenant, now }: Pick<RequestContext<Process>, "runtime" | "tenant" | "now">,
  { userId, ...shown }: StatedUser,
): Promise<PasskeyUser> {
  // Before the upsert, and not within it: Citus takes no subquery there.
  const keepsHandle = await bearsFormerHandle(tx, tenant.id, userId);
  const [user] = await tx
    .insert(table)
    .values({
      tenantId: tenant.id,
      id: runtime.platform.uuid(),
      userId,
      ...shown,
      userHandle: newUserHandle(runtime.platform),
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoUpdate({
      target: [table.tenantId, table.userId],
      set: {
        ...shown,
        ...(keepsHandle ? {} : { userHandle: sql`coalesce(${table.userHandle}, excluded.user_handle)` }),
        updatedAt: now,
      },
    })
    .returning(columns);
  if (!user) throw new Error("the upsert of a user returned no row");
  return user;
}

/**
 * Deletes a user with all credentials, transactions, confirmations and open challenges. The audit log keeps its entries
 * until they expire.
 *
 * @param userId the application's id
 * @returns false if there is no such user
 */
export async function deleteUser(tx: Transaction, tenantId: string, userId: string): Promise<boolean> {
  if (userId.includes("\0")) return false;
  const deleted = await tx
    .delete(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)))
    .returning({ id: table.id });
  return deleted.length === 1;
}

/** Deletes a user for an application. A ceremony of the user that is under way fails. */
export async function removeUser(
  context: RequestContext<Process>,
  userId: string,
): Promise<{ ok: true } | PasskeyRejection> {
  const { runtime, tenant } = context;
  return runtime.database.write.transaction(async (tx) => {
    if (!(await deleteUser(tx, tenant.id, userId))) return rejectPasskeyRequest("user_not_found");
    await auditPasskeys(context, "webauthn_user_deleted", { actorUserId: userId })(tx);
    return { ok: true as const };
  });
}
