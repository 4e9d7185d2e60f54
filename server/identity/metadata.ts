import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Metadata } from "#db/schema/users";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";

/** Most characters of one kind of metadata, as JSON without spaces. */
export const MAX_METADATA_CHARACTERS = 3000;

/**
 * Applies a JSON Merge Patch (RFC 7396): members that are null go, objects are merged, anything else replaces.
 *
 * Every name is data here, `__proto__` too: nothing is assigned, so nothing is inherited from what a client sent.
 *
 * @param target what is there; never changed
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
 * The metadata after a patch.
 *
 * @param patch an object, or null, which clears them
 * @returns null when the patch is neither, or what comes of it is too long or cannot be stored
 */
export function patchMetadata(current: Metadata, patch: unknown): Metadata | null {
  if (patch === null) return {};
  if (!isObject(patch)) return null;
  const patched = mergePatch(current, patch) as Metadata;
  return isStorable(patched) && JSON.stringify(patched).length <= MAX_METADATA_CHARACTERS ? patched : null;
}

/**
 * Patches the metadata that are a person's own to change, as they stand when it is written.
 *
 * @throws TakenError("metadata") when they have grown meanwhile and would be too long, or the account is gone
 */
export function patchUnsafeMetadata({ tenant, now }: RequestContext, userId: string, patch: unknown): Write {
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

/** PostgreSQL's jsonb takes neither NUL nor half a surrogate pair. */
function isStorable(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}
