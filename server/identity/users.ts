import { and, eq, getViewSelectedFields, sql } from "drizzle-orm";
import { type Queryable, type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import { executePart, executeParts, type Part } from "#db/part";
import { prepared } from "#db/prepared";
import type { Platform } from "../lib/platform.ts";
import { deleteUploadedPicture } from "./picture.ts";

const { emails, phoneNumbers, userFacts, usernames, users } = schema;

const { tenantId: _, ...facts } = getViewSelectedFields(userFacts);

/** Facts about a user that flows decide by: a row of the view `user_facts`. */
export type UserFacts = Omit<typeof userFacts.$inferSelect, "tenantId">;

const byEmail = prepared("facts_by_email", (db) =>
  db
    .select(facts)
    .from(emails)
    .innerJoin(userFacts, and(eq(userFacts.tenantId, emails.tenantId), eq(userFacts.userId, emails.userId)))
    .where(
      and(eq(emails.tenantId, sql.placeholder("tenantId")), eq(emails.address, sql.placeholder("address"))),
    ),
);

const byUsername = prepared("facts_by_username", (db) =>
  db
    .select(facts)
    .from(usernames)
    .innerJoin(
      userFacts,
      and(eq(userFacts.tenantId, usernames.tenantId), eq(userFacts.userId, usernames.userId)),
    )
    .where(
      and(
        eq(usernames.tenantId, sql.placeholder("tenantId")),
        eq(usernames.username, sql.placeholder("username")),
      ),
    ),
);

const byPhone = prepared("facts_by_phone", (db) =>
  db
    .select(facts)
    .from(phoneNumbers)
    .innerJoin(
      userFacts,
      and(eq(userFacts.tenantId, phoneNumbers.tenantId), eq(userFacts.userId, phoneNumbers.userId)),
    )
    .where(
      and(
        eq(phoneNumbers.tenantId, sql.placeholder("tenantId")),
        eq(phoneNumbers.number, sql.placeholder("number")),
      ),
    ),
);

const byId = prepared("facts_by_id", (db) =>
  db
    .select(facts)
    .from(userFacts)
    .where(
      and(
        eq(userFacts.tenantId, sql.placeholder("tenantId")),
        eq(userFacts.userId, sql.placeholder("userId")),
      ),
    ),
);

/** Facts as `factsJson` gives them. */
export type FactsJson = Omit<UserFacts, "passkeyDeclinedAt"> & { passkeyDeclinedAt: string | null };

/** SQL of a JSON object with the facts of a row of `user_facts`, for statements that read more. @param row its alias */
export function factsJson(row: string): string {
  const members = Object.entries(facts).map(([name, column]) => `'${name}', ${row}.${column.name}`);
  return `json_build_object(${members.join(", ")})`;
}

/** Converts what `factsJson` returns. */
export function factsOfJson({ passkeyDeclinedAt, ...json }: FactsJson): UserFacts {
  return { ...json, passkeyDeclinedAt: passkeyDeclinedAt === null ? null : new Date(passkeyDeclinedAt) };
}

/** SQL of the columns with the facts of a row of `user_facts`, for statements without a query builder. @param row its alias */
export function factColumns(row: string): string {
  return Object.values(facts)
    .map((column) => `${row}.${column.name}`)
    .join(", ");
}

/** The facts in a row with `factColumns`; null if the statement found none. */
export function factsOfColumns(row: Record<string, unknown>): UserFacts | null {
  if (!row[facts.userId.name]) return null;
  return Object.fromEntries(
    Object.entries(facts).map(([name, column]) => [name, row[column.name]]),
  ) as unknown as UserFacts;
}

/**
 * Finds a user by any address of the account, primary or not.
 *
 * @param address in canonical form
 */
export async function factsByEmail(
  db: ReadOnly,
  tenantId: string,
  address: string,
): Promise<UserFacts | null> {
  const [user] = await byEmail(db).execute({ tenantId, address });
  return user ?? null;
}

/** @param username in canonical form */
export async function factsByUsername(
  db: ReadOnly,
  tenantId: string,
  username: string,
): Promise<UserFacts | null> {
  const [user] = await byUsername(db).execute({ tenantId, username });
  return user ?? null;
}

/** @param number in canonical form */
export async function factsByPhone(
  db: ReadOnly,
  tenantId: string,
  number: string,
): Promise<UserFacts | null> {
  const [user] = await byPhone(db).execute({ tenantId, number });
  return user ?? null;
}

export async function factsById(db: ReadOnly, tenantId: string, userId: string): Promise<UserFacts | null> {
  const [user] = await byId(db).execute({ tenantId, userId });
  return user ?? null;
}

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
  email?: { address: string; verifiedAt: Date | null };
  username?: string;
  phone?: { number: string; verifiedAt: Date | null };
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
 * Returns the parts that create an account with its identifiers. They violate `emails_address_unique`,
 * `usernames_username_unique` or `phone_numbers_number_unique` if another account of the tenant has the identifier.
 *
 * @param ifTaken as for `emailPart`
 */
export function userParts(tenantId: string, user: NewUser, ifTaken: IfTaken = "violation"): Part[] {
  const { id: userId, email, username, phone, names = {}, declinesPasskey, now, platform } = user;
  const { name = null, givenName = null, familyName = null, picture = null } = names;
  const declinedAt = declinesPasskey ? now : null;
  const row: Part = {
    name: "user",
    text: userText,
    values: [tenantId, userId, name, givenName, familyName, picture, declinedAt, now],
  };
  const primary = email && { ...email, isPrimary: true, userId, id: platform.uuid(), now };
  return [
    row,
    ...(primary ? [emailPart(tenantId, primary, ifTaken)] : []),
    ...(username ? [usernamePart(tenantId, { username, userId, id: platform.uuid(), now })] : []),
    ...(phone ? [phonePart(tenantId, { ...phone, userId, id: platform.uuid(), now })] : []),
  ];
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
    [Field in "name" | "givenName" | "familyName" | "picture"]: string | null | undefined;
  },
): Promise<void> {
  if (fields.picture !== undefined) await deleteUploadedPicture(tx, tenantId, userId);
  await tx
    .update(users)
    .set({ ...fields, updatedAt: now })
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
}

/** An address to add to an account. */
export interface NewEmail {
  userId: string;
  address: string;
  isPrimary: boolean;
  verifiedAt: Date | null;
  id: string;
  now: Date;
}

/** What follows if an account of the tenant has the address: the constraint violation, or the conflict `address`. */
type IfTaken = "violation" | "conflict";

const emailText = `new_email as (
  insert into emails (tenant_id, id, user_id, address, is_primary, verified_at, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $7)`;

/**
 * The part that adds an address to an account: the one place that inserts rows of `emails`. It violates
 * `emails_address_unique` if an account of the tenant has the address, and `emails_primary_unique` if `isPrimary` is set
 * and the account has a primary address.
 */
export function emailPart(tenantId: string, email: NewEmail, ifTaken: IfTaken = "violation"): Part {
  const { id, userId, address, isPrimary, verifiedAt, now } = email;
  const values = [tenantId, id, userId, address, isPrimary, verifiedAt, now];
  if (ifTaken === "violation") return { name: "email", text: `${emailText})`, values, ofAccount: true };
  return {
    name: "email_free",
    text: `${emailText} on conflict (tenant_id, address) do nothing returning 1)`,
    values,
    refuses: "case when not exists (select from new_email) then 'address' end",
    ofAccount: true,
  };
}

/** Adds an address to an account, as `emailPart` does. */
export async function addEmail(tx: Transaction, tenantId: string, email: NewEmail): Promise<void> {
  await executePart(tx, emailPart(tenantId, email));
}

const verification = prepared("email_proof", (db) =>
  db
    .select({ verifiedAt: emails.verifiedAt })
    .from(emails)
    .where(
      and(
        eq(emails.tenantId, sql.placeholder("tenantId")),
        eq(emails.userId, sql.placeholder("userId")),
        eq(emails.address, sql.placeholder("address")),
      ),
    ),
);

/** Whether an account has verified an address. False if it does not have the address. */
export async function isEmailVerified(
  db: ReadOnly,
  tenantId: string,
  { userId, address }: { userId: string; address: string },
): Promise<boolean> {
  const [email] = await verification(db).execute({ tenantId, userId, address });
  return email?.verifiedAt != null;
}

/**
 * Locks an account until the transaction ends, so that concurrent changes of it run one after the other.
 *
 * @throws ConflictError("user") if the account does not exist
 */
export async function lockUser(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  const [user] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)))
    .for("no key update");
  if (!user) throw new ConflictError("user");
}

/**
 * Marks an address of an account as verified. The time of an earlier verification stays.
 *
 * @throws ConflictError("email") if the account does not have the address
 */
export async function setEmailVerified(
  tx: Transaction,
  tenantId: string,
  { userId, address, now }: { userId: string; address: string; now: Date },
): Promise<void> {
  const marked = await tx
    .update(emails)
    .set({
      verifiedAt: sql`coalesce(${emails.verifiedAt}, ${now.toISOString()}::timestamptz)`,
      updatedAt: now,
    })
    .where(and(eq(emails.tenantId, tenantId), eq(emails.userId, userId), eq(emails.address, address)))
    .returning({ id: emails.id });
  if (marked.length === 0) throw new ConflictError("email");
}

/** A username to set. */
export interface NewUsername {
  userId: string;
  username: string;
  id: string;
  now: Date;
}

const usernameText = `new_username as (
  insert into usernames (tenant_id, id, user_id, username, created_at, updated_at) values ($1, $2, $3, $4, $5, $5))`;

/**
 * The part that sets the username of an account that has none. It violates `usernames_username_unique` if another account
 * of the tenant has the name, and `usernames_user_unique` if this account has a username.
 */
export function usernamePart(tenantId: string, { userId, username, id, now }: NewUsername): Part {
  return {
    name: "username",
    text: usernameText,
    values: [tenantId, id, userId, username, now],
    ofAccount: true,
  };
}

/** A phone number to set. */
export interface NewPhone {
  userId: string;
  number: string;
  verifiedAt: Date | null;
  id: string;
  now: Date;
}

const phoneText = `new_phone as (
  insert into phone_numbers (tenant_id, id, user_id, number, verified_at, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $6))`;

/**
 * The part that sets the phone number of an account that has none. It violates `phone_numbers_number_unique` if another
 * account of the tenant has the number, and `phone_numbers_user_unique` if this account has one.
 */
export function phonePart(tenantId: string, { userId, number, verifiedAt, id, now }: NewPhone): Part {
  return {
    name: "phone",
    text: phoneText,
    values: [tenantId, id, userId, number, verifiedAt, now],
    ofAccount: true,
  };
}
