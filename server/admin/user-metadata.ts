import type { Databases } from "#db/client";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { RequestContext } from "../context/context.ts";
import { emit, type WakesWebhooks } from "../events/emit.ts";
import { MAX_METADATA_CHARACTERS, patchMetadata, readMetadata, writeMetadata } from "../identity/metadata.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { readUserObject, type UserObject } from "../objects/user-object.ts";
import { changeUser } from "./change-user.ts";
import { type AdminRejection, notFound, rejectAdmin } from "./rejections.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & AuditOutputs & WakesWebhooks & Enqueuing<MailJob>;

/** JSON Merge Patches (RFC 7396) by kind of metadata: null clears a kind, and instead of all of them everything. */
export type MetadataPatch =
  | {
      [Kind in "public_metadata" | "private_metadata" | "unsafe_metadata"]?:
        | Record<string, unknown>
        | null
        | undefined;
    }
  | null;

const kinds = ["public_metadata", "private_metadata", "unsafe_metadata"] as const;

/** Patches the metadata of a user, in their current state. */
export function patchUserMetadata(
  context: RequestContext<Process>,
  userId: string,
  patch: MetadataPatch,
): Promise<{ ok: true; metadata: UserObject["metadata"] } | AdminRejection> {
  const { tenant, now } = context;
  return changeUser(context, userId, async ({ tx, record }) => {
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
    const user = await readUserObject(tx, tenant, userId);
    return user ? { ok: true, metadata: user.metadata } : notFound;
  });
}
