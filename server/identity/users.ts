import { and, eq } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { executeParts, type Part } from "#db/part";
import type { Platform } from "../lib/platform.ts";
import type { IfTaken } from "./identifier.ts";
import { type IdentifierKind, identifiers } from "./identifiers.ts";
import { deleteUploadedPicture } from "./picture.ts";

const { users } = schema;

/** Whether a tenant has a user with this id. */
export async function isUser(db: ReadOnly, tenantId: string, userId: string): Promise<boolean> {
  const found = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
  return found.length > 0;
}

/** An account to create. */
export interface NewUser {
  id: string;
  /** In canonical form; an email address becomes the primary one. */
  identifiers?: { [Kind in IdentifierKind]?: { value: string; verifiedAt?: Date | null } };
  names?: { [Name in "name" | "givenName" | "familyName" | "picture"]?: string | undefined };
  declinesPasskey?: boolean;
  now: Date;
  platform: Platform;
}

/** Creates an account with its identifiers, as `userParts` does. */
export async function createUser(tx: Transaction, tenantId: string, user: NewUser): Promise<void> {
  await executeParts(tx, userParts(tenantId, user));
}

const userText = `new_user as (
  insert into users (tenant_id, id, name, given_name, family_name, picture, passkey_declined_at, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $8))`;

/**
 * Returns the parts that create an account with its identifiers. They violate the constraints of an identifier that
 * another account of the tenant has.
 *
 * @param ifTaken as for `emailPart`
 */
export function userParts(tenantId: string, user: NewUser, ifTaken: IfTaken = "violation"): Part[] {
  const { id: userId, identifiers: named = {}, names = {}, declinesPasskey, now, platform } = user;
  const { name = null, givenName = null, familyName = null, picture = null } = names;
  const declinedAt = declinesPasskey ? now : null;
  const row: Part = {
    name: "user",
    text: userText,
    values: [tenantId, userId, name, givenName, familyName, picture, declinedAt, now],
  };
  const parts = identifiers.flatMap(({ kind, part }) => {
    const identifier = named[kind];
    if (!identifier) return [];
    const added = { verifiedAt: null, ...identifier, userId, id: platform.uuid(), now };
    return [part(tenantId, added, ifTaken)];
  });
  return [row, ...parts];
}

/** Remembers that the user does not want a passkey now. */
export async function setPasskeyDeclined(
  tx: Transaction,
  tenantId: string,
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  await tx
    .update(users)
    .set({ passkeyDeclinedAt: now })
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
}

/**
 * Changes profile fields of an account: null clears a field, undefined keeps it. A change of the picture deletes the one
 * that the user uploaded.
 */
export async function updateUserProfile(
  tx: Transaction,
  tenantId: string,
  {
    userId,
    now,
    ...fields
  }: { userId: string; now: Date } & {
    [Field in "name" | "givenName" | "familyName" | "picture" | "language"]?: string | null | undefined;
  },
): Promise<void> {
  if (fields.picture !== undefined) await deleteUploadedPicture(tx, tenantId, userId);
  await tx
    .update(users)
    .set({ ...fields, updatedAt: now })
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
}
