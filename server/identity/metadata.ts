import { and, eq } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Metadata } from "#db/schema/users";
import type { Write } from "#db/write";
import type { RequestContext } from "../context/context.ts";

/** Maximum length of one kind of metadata, in characters of JSON without spaces. */
export const MAX_METADATA_CHARACTERS = 3000;

/**
 * Applies a JSON Merge Patch (RFC 7396): null removes a member, objects are merged, other values replace.
 *
 * Every name is data, `__proto__` included: no property is assigned, so a patch cannot change a prototype.
 *
 * @param target the current value; not modified
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/**
 * Patches metadata.
 *
 * @param patch an object, or null to clear the metadata
 * @returns null if the patch is neither, or the result is too long or cannot be stored
 */
export function patchMetadata(current: Metadata, patch: unknown): Metadata | null {
  if (patch === null) return {};
  if (!isObject(patch)) return null;
  const patched = mergePatch(current, patch) as Metadata;
  return isStorable(patched) && JSON.stringify(patched).length <= MAX_METADATA_CHARACTERS ? patched : null;
}

/** The three kinds of metadata of a user. */
export type UserMetadata = Record<"public_metadata" | "private_metadata" | "unsafe_metadata", Metadata>;

/** Reads the metadata of a user who exists. */
export async function readMetadata(tx: Transaction, tenantId: string, userId: string): Promise<UserMetadata> {
  const { users } = schema;
  const [user] = await tx
    .select({
      public_metadata: users.publicMetadata,
      private_metadata: users.privateMetadata,
      unsafe_metadata: users.unsafeMetadata,
    })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
  return user ?? { public_metadata: {}, private_metadata: {}, unsafe_metadata: {} };
}

/** Replaces the metadata of a user. */
export async function writeMetadata(
  tx: Transaction,
  tenantId: string,
  { userId, now, metadata }: { userId: string; now: Date; metadata: UserMetadata },
): Promise<void> {
  const { users } = schema;
  await tx
    .update(users)
    .set({
      publicMetadata: metadata.public_metadata,
      privateMetadata: metadata.private_metadata,
      unsafeMetadata: metadata.unsafe_metadata,
      updatedAt: now,
    })
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)));
}

/**
 * Patches the metadata that users may change themselves, in their current state.
 *
 * @throws ConflictError("metadata") if a concurrent change makes the result too long, or the account does not exist
 */
export function patchUnsafeMetadata(
  { tenant, now }: RequestContext<object>,
  userId: string,
  patch: unknown,
): Write {
  const { users } = schema;
  const own = and(eq(users.tenantId, tenant.id), eq(users.id, userId));
  return async (tx) => {
    const [user] = await tx
      .select({ current: users.unsafeMetadata })
      .from(users)
      .where(own)
      .for("no key update");
    const patched = user && patchMetadata(user.current, patch);
    if (!patched) throw new ConflictError("metadata");
    await tx.update(users).set({ unsafeMetadata: patched, updatedAt: now }).where(own);
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether PostgreSQL can store a value as jsonb, which rejects NUL and unpaired surrogates. */
export function isStorable(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
