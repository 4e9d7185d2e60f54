import { emit } from "../events/emit.ts";
import { MAX_METADATA_CHARACTERS, patchMetadata, readMetadata, writeMetadata } from "../identity/metadata.ts";
import type { UserObject } from "../objects/user-object.ts";
import { type AdminContext, changeUser } from "./change-user.ts";
import { type AdminVerdict, rejectAdmin } from "./rejections.ts";

const kinds = ["public_metadata", "private_metadata", "unsafe_metadata"] as const;

/** JSON Merge Patches (RFC 7396) by kind of metadata: null clears a kind, and instead of all of them everything. */
export type MetadataPatch =
  | {
      [Kind in (typeof kinds)[number]]?: Record<string, unknown> | null | undefined;
    }
  | null;

/** Patches the metadata of a user, in their current state. */
export function patchUserMetadata(
  context: AdminContext,
  userId: string,
  patch: MetadataPatch,
): Promise<AdminVerdict<{ metadata: UserObject["metadata"] }>> {
  const { tenant, now } = context;
  return changeUser(context, userId, async ({ tx, record, shown }) => {
    const metadata = await readMetadata(tx, tenant.id, userId);
    const named = kinds.filter((kind) => patch === null || patch[kind] !== undefined);
    for (const kind of named) {
      const patched = patchMetadata(metadata[kind], patch === null ? null : patch[kind]);
      if (!patched)
        return rejectAdmin(
          "invalid",
          `\`${kind}\` has at most ${MAX_METADATA_CHARACTERS} characters of JSON.`,
        );
      metadata[kind] = patched;
    }
    if (named.length > 0) {
      await writeMetadata(tx, tenant.id, { userId, now, metadata });
      await record("metadata_changed", { kinds: named });
      await emit(context, "user.update", userId)(tx);
    }
    const { metadata: written } = await shown();
    return { ok: true, metadata: written };
  });
}
