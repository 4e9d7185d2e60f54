import { and, eq, inArray } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import type { RequestContext } from "../runtime.ts";

/** A person of an application that uses the passkey server; no account of ours. */
export interface PasskeyUser {
  /** Our own id, a UUID. */
  id: string;
  /** What the application calls them: any text of 64 bytes at most, without NUL. */
  userId: string;
  name: string;
  displayName: string;
  icon: string | null;
}

const { passkeyUsers: table } = schema;

const columns = {
  id: table.id,
  userId: table.userId,
  name: table.name,
  displayName: table.displayName,
  icon: table.icon,
};

/** `user.id` of WebAuthn holds no more bytes (Level 3 section 5.4.3), and it is made of the application's id. */
export const MAX_USER_ID_BYTES = 64;

/** The user that an application calls so; null also for what cannot be anybody's id. */
export async function findUser(db: ReadOnly, tenantId: string, userId: string): Promise<PasskeyUser | null> {
  const [user] = await findUsers(db, tenantId, [userId]);
  return user ?? null;
}

/** Those of several users that there are. */
export async function findUsers(
  db: ReadOnly,
  tenantId: string,
  userIds: readonly string[],
): Promise<PasskeyUser[]> {
  const possible = userIds.filter((userId) => !userId.includes("\0"));
  if (possible.length === 0) return [];
  return db
    .select(columns)
    .from(table)
    .where(and(eq(table.tenantId, tenantId), inArray(table.userId, possible)));
}

/** The user of an internal id. */
export async function findUserById(db: ReadOnly, tenantId: string, id: string): Promise<PasskeyUser | null> {
  const [user] = await db
    .select(columns)
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.id, id)));
  return user ?? null;
}

/** Writes a user anew, or their name, display name and icon. */
export async function saveUser(
  tx: Transaction,
  { runtime, tenant, now }: Pick<RequestContext, "runtime" | "tenant" | "now">,
  { userId, ...shown }: Omit<PasskeyUser, "id">,
): Promise<PasskeyUser> {
  const [user] = await tx
    .insert(table)
    .values({
      tenantId: tenant.id,
      id: runtime.platform.uuid(),
      userId,
      ...shown,
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoUpdate({ target: [table.tenantId, table.userId], set: { ...shown, updatedAt: now } })
    .returning(columns);
  if (!user) throw new Error("a user that was written is not there");
  return user;
}
