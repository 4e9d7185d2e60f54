import { z } from "zod";
import { requiredClasses } from "../../console/enter.ts";
import { listGrants } from "../../console/grants.ts";
import { lockedOutAmong } from "../../dry-run/locked-out.ts";
import { type TenantChange, TenantError } from "../../tenants/manage-tenants.ts";
import { authorKinds, type SettingsVersion } from "../../tenants/settings-history.ts";
import { plainErrorSchema } from "../openapi/schemas.ts";
import { csv, instant, uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";

/** Conditions that a client may put on a change of a tenant, and what it is told if they are not met. */

const MAX_PROTECTED = 100;

const LOCK_OUT =
  "Ids of users who must not lose their access. If one of them could sign in and no longer can, the answer is 409. Default: for a change by the console, the accounts that may enter it, of which `console.require` is asked too; an empty list confirms that they are locked out.";

/** The parameter of a change whose body is the settings themselves. */
export const lockOutQuery = z.object({ unless_locked_out: csv(uuid()).optional().describe(LOCK_OUT) });

/** Members of the body of a change. */
export const changeConditions = {
  if_unchanged_since: instant()
    .optional()
    .describe(
      "`updated_at` of the tenant that the change was made of. If it was changed since, the answer is 409 with the newest changes.",
    ),
  unless_locked_out: z.array(uuid()).max(MAX_PROTECTED).optional().describe(LOCK_OUT),
};

/**
 * The conditions of a change that its call states. Without a list of users, a change by the console must not lock its own accounts
 * out; a key is locked out by no settings.
 */
export async function conditionsOf(
  { runtime, visitor }: HandlerContext,
  tenantId: string,
  {
    if_unchanged_since: ifUnchangedSince,
    unless_locked_out: stated,
  }: z.output<z.ZodObject<typeof changeConditions>>,
): Promise<Pick<TenantChange, "ifUnchangedSince" | "judge">> {
  const ownAccounts = async () =>
    (await listGrants(runtime, { id: tenantId })).slice(0, MAX_PROTECTED).map(({ user_id }) => user_id);
  const ids = stated ?? (visitor ? await ownAccounts() : []);
  if (ids.length === 0) return { ifUnchangedSince };
  const classes = stated ? undefined : requiredClasses(runtime.config);
  return {
    ifUnchangedSince,
    async judge(tx, change) {
      const lockedOut = await lockedOutAmong(tx, change, ids, classes);
      const [first, ...others] = lockedOut;
      if (first === undefined) return;
      const users = others.length === 0 ? `user ${first}` : `user ${first} and ${others.length} others`;
      const where = classes ? "enter the console" : "sign in";
      throw new TenantError(`${users} could no longer ${where}`, "conflict", { lockedOut });
    },
  };
}

const time = z.iso.datetime({ precision: 3 });

/** A version of the settings of a tenant. */
export const versionSchema = z
  .strictObject({
    id: z.guid(),
    created_at: time.describe("`updated_at` of the tenant after the change."),
    by: z
      .strictObject({
        kind: z.enum(authorKinds),
        id: z.guid().nullable().describe("Of the API key or the user."),
        tenant_id: z
          .guid()
          .optional()
          .describe(
            "The tenant of the user, while there is that account. Operators are users of the default tenant.",
          ),
      })
      .nullable()
      .describe("Who made the change; null if it is not known."),
    restored_id: z.guid().nullable().describe("The version whose settings the change restored."),
    changes: z
      .array(
        z.strictObject({
          path: z.string(),
          before: z.unknown().optional().describe("Absent where it was not set."),
          after: z.unknown().optional().describe("Absent where it is not set."),
          secret: z.literal(true).optional().describe("The values are secrets, and told as `***`."),
        }),
      )
      .describe(
        "The first hundred settings that the change changed. Of a long value the first 500 characters are told, as a text; what only a later version knows is told as `***`.",
      ),
  })
  .meta({ id: "SettingsVersion" });

export const shownVersion = ({ id, createdAt, author, restoredId, changes }: SettingsVersion) => ({
  id,
  created_at: createdAt.toISOString(),
  by: author && {
    kind: author.kind,
    id: author.id,
    ...(author.tenantId === undefined ? {} : { tenant_id: author.tenantId }),
  },
  restored_id: restoredId,
  changes,
});

/** The error of a change that conflicts with another one. */
export const tenantConflict = plainErrorSchema
  .extend({
    locked_out: z
      .array(z.guid())
      .optional()
      .describe("With `unless_locked_out`: the users who could no longer sign in."),
    changes: z
      .array(versionSchema)
      .optional()
      .describe("With `if_unchanged_since`: the changes of settings since then, newest first, at most ten."),
  })
  .meta({ id: "TenantConflict" });
