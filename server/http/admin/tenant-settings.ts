import { z } from "zod";
import { notFound } from "../../admin/rejections.ts";
import { maskName } from "../../audit/mask.ts";
import { heavyRead, nextHeavyRead } from "../../database/heavy-reads.ts";
import { type AffectedUsers, dryRun, listAffected, namesOf } from "../../dry-run/dry-run.ts";
import { effects } from "../../dry-run/effects.ts";
import type { ListedUser } from "../../dry-run/users-by-facts.ts";
import { flowTypes, stateNames } from "../../flow/names.ts";
import { maskedIdentifier } from "../../lib/masked-identifier.ts";
import type { Tree } from "../../lib/tree.ts";
import { existingTenant, judgeSettings, restoreSettings } from "../../tenants/manage-tenants.ts";
import { pageOfVersions } from "../../tenants/settings-history.ts";
import { type ListedSetting, listSettings, setters, settingSources } from "../../tenants/settings-list.ts";
import { tenantObjectSchema } from "../../tenants/tenant-object.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { listOperation, NOT_FOUND } from "./admin-operation.ts";
import {
  changeConditions,
  conditionsOf,
  shownVersion,
  tenantConflict,
  versionSchema,
} from "./change-conditions.ts";
import { linesOf, streamed } from "./streamed.ts";
import {
  changingParty,
  DEFAULT_TENANT,
  FORBIDDEN,
  INVALID,
  isOperator,
  managedTenant,
  patched,
  settingsPatch,
  shownTenant,
  tenantOperation,
} from "./tenants.ts";

const count = z.int().min(0);
const time = z.iso.datetime({ precision: 3 });

const affectedUser = z.strictObject({
  id: z.guid(),
  email: z.string().nullable(),
  username: z.string().nullable(),
  phone: z.string().nullable(),
});

const reasons = z.array(z.string()).describe("What has decided that, a sentence each.");

/** Users with the same effect for different reasons; more are counted and not told. */
const MAX_GROUPS = 100;

const affectedUsers = z.strictObject({
  count: count.describe("Users of all groups."),
  groups: z
    .array(
      z.strictObject({
        count,
        reasons,
        sample: z.array(affectedUser).describe("A few of them, masked."),
        keys: z.array(z.int()).describe("What the export takes to list them all."),
      }),
    )
    .max(MAX_GROUPS)
    .describe("Users for the same reasons, the largest group first."),
});

const effectTexts: Record<(typeof effects)[number], string> = {
  locked_out: "Users who could sign in, and no longer can.",
  locked_out_before: "Users who can sign in neither before nor after.",
  regains_access: "Users who could not sign in, and can.",
  second_factor_asked: "Users who are asked for a second factor at the next sign-in, and were not.",
  second_factor_not_asked: "Users who are no longer asked for a second factor.",
  set_up_asked: "Users who are asked to set up a second factor at the next sign-in, and were not.",
  set_up_not_asked: "Users who are no longer asked to set up a second factor.",
};

const dryRunSchema = z
  .strictObject({
    updated_at: time.describe("That of the tenant: `if_unchanged_since` of the change."),
    users: count.describe("Users who were judged. Blocked ones are not."),
    ...(Object.fromEntries(
      effects.map((effect) => [effect, affectedUsers.describe(effectTexts[effect])]),
    ) as Record<(typeof effects)[number], typeof affectedUsers>),
    flows: z
      .array(
        z.strictObject({
          type: z.enum(flowTypes),
          state: z.enum(stateNames),
          count: count.describe("Flows under way in this state."),
          ends: z.boolean().describe("Nothing but `back` is left to do in it."),
          withdrawn: z
            .array(z.strictObject({ action: z.string(), reasons }))
            .describe("Actions that are no longer offered."),
        }),
      )
      .describe("Flows under way that the change affects, as far as settings alone decide it."),
  })
  .meta({ id: "DryRun" });

const masked = ({ id, email, username, phone }: ListedUser) => ({
  id,
  email: email && maskName(email),
  username: username && maskName(username),
  phone: phone && maskedIdentifier(phone),
});

const settingSchema = z
  .strictObject({
    name: z.string(),
    variable: z.string().describe("The environment variable that sets it for the server."),
    description: z.string(),
    default: z.unknown().optional().describe("Absent where it has none, or derives from other settings."),
    value: z
      .unknown()
      .optional()
      .describe(
        "The value in force, without secrets. Absent where there is none, or the key may not know it.",
      ),
    source: z
      .enum(settingSources)
      .describe("Where the value comes from. `derived`: from the name or the address of the tenant."),
    set_by: z
      .enum(setters)
      .describe(
        "`server`: by its configuration alone; `operator`: for a tenant by a key of the default tenant; `tenant`: by any key of the tenant.",
      ),
    secret: z.boolean().describe("It, or a value in it, is a secret, and not told."),
    bounds: z
      .array(
        z.strictObject({
          name: z
            .string()
            .describe(
              "`[]` stands for each entry of a list, `{}` for each member of a map, `{key}` for its names.",
            ),
          kind: z.enum(["text", "choice", "number", "boolean", "list", "map", "json"]),
          min: z.number().optional(),
          max: z.number().optional(),
          levels: z.int().optional().describe("Nested levels of JSON."),
          unit: z.enum(["seconds"]).optional().describe("What a number counts, where it is a duration."),
          values: z.array(z.unknown()).optional().describe("Accepted values of a choice."),
          note: z.string().optional(),
          set_by: z.enum(setters),
        }),
      )
      .describe("Of the setting, and of the values in it."),
  })
  .meta({ id: "Setting" });

const shownSetting = ({ path, setBy, bounds, ...setting }: ListedSetting) => ({
  name: path.join("."),
  ...setting,
  set_by: setBy,
  bounds: bounds.map(({ path: at, setBy: by, ...bound }) => ({ name: at.join("."), ...bound, set_by: by })),
});

/** The facts of users are the bits of a number that PostgreSQL stores in four bytes. */
const MAX_KEY = 2 ** 31 - 1;

/** Both places of these operations: the tenant that the path names, and that of the key. */
const places = [
  { prefix: "/admin/tenants/{id}", suffix: "OfTenant", of: "a tenant" },
  { prefix: "/admin/tenant", suffix: "", of: "the tenant of the key" },
] as const;

const judgedPatch = (context: HandlerContext, tenantId: string, patch: Tree) =>
  judgeSettings(context.runtime, tenantId, (current) => patched(current, patch), changingParty(context));

const patchOfDryRun = () =>
  settingsPatch().describe(
    "A JSON Merge Patch (RFC 7396) of its settings. Of the default tenant, one of the server's configuration.",
  );

const errors = { 400: INVALID, 403: FORBIDDEN, 404: NOT_FOUND };

/** Settings of tenants: their meaning, their history, and what a change of them would do. */
export const tenantSettingsAddresses = places.flatMap(({ prefix, suffix, of }) => {
  const history = `${prefix}/settings_history` as const;
  return [
    tenantOperation(`GET ${prefix}/settings`, {
      id: `listSettings${suffix}`,
      summary: `List all settings with their values for ${of}`,
      description: "Values of settings of the server are told to keys of the default tenant alone.",
      query: z.object({
        section: z
          .string()
          .max(100)
          .optional()
          .describe("Only this setting, or those in this section: `password`, `session.cookie`."),
      }),
      answers: { 200: { schema: z.array(settingSchema) }, 404: NOT_FOUND },
      async perform(id, context, { query: { section } }) {
        const { runtime } = context;
        const found = await existingTenant(runtime, id);
        const reader = { isDefault: id === runtime.tenant.id, isOperator: isOperator(context) };
        const settings = listSettings({ ...runtime, ...reader }, found).map(shownSetting);
        const isIn = (name: string) => name === section || name.startsWith(`${section}.`);
        return section === undefined ? settings : settings.filter(({ name }) => isIn(name));
      },
    }),
    tenantOperation(`POST ${prefix}/settings/check`, {
      id: `checkSettings${suffix}`,
      changesNothing: true,
      summary: `Tell whether a change of the settings of ${of} would be valid`,
      description: "Nothing is changed, and no user is read. What contradicts is the message of the error.",
      body: z.object({ config: patchOfDryRun() }),
      answers: {
        200: {
          schema: z.strictObject({
            updated_at: time.describe("That of the tenant: `if_unchanged_since` of the change."),
          }),
        },
        ...errors,
      },
      async perform(id, context, { body: { config } }) {
        const { updatedAt } = await judgedPatch(context, id, config);
        return { updated_at: updatedAt.toISOString() };
      },
    }),
    tenantOperation(`POST ${prefix}/dry_run`, {
      id: `dryRunSettings${suffix}`,
      changesNothing: true,
      summary: `Tell what a change of the settings of ${of} would do`,
      description:
        "Nothing is changed. Users are judged by the conditions that decide sign-ins, those with equal methods and identifiers once.",
      body: z.object({ config: patchOfDryRun() }),
      answers: { 200: { schema: dryRunSchema }, ...errors },
      async perform(id, context, { body: { config } }) {
        const { read } = context.runtime.database;
        const { updatedAt, ...change } = await judgedPatch(context, id, config);
        const found = await dryRun(read, change, { inTurn: turnsOf(context) });
        const told = effects.map((effect) => [effect, found.effects[effect].slice(0, MAX_GROUPS)] as const);
        const examples = told.flatMap(([, groups]) => groups.flatMap((group) => group.examples));
        const names = await namesOf(read, id, examples);
        return {
          updated_at: updatedAt.toISOString(),
          users: found.users,
          ...Object.fromEntries(
            told.map(([effect, groups]) => [effect, shownEffect(found.effects[effect], groups, names)]),
          ),
          flows: found.flows,
        };
      },
    }),
    tenantOperation(`POST ${prefix}/dry_run/users`, {
      id: `exportDryRun${suffix}`,
      changesNothing: true,
      summary: `List the users of ${of} whom a change of settings would affect, as lines of JSON`,
      description: "An answer that breaks off is incomplete.",
      body: z.object({
        config: patchOfDryRun(),
        keys: z
          .array(z.int().min(0).max(MAX_KEY))
          .min(1)
          .max(4096)
          .describe("Those of groups of the dry run of the same change."),
      }),
      answers: {
        200: { schema: z.string().describe("A user a line, masked."), mediaType: "application/jsonl" },
        ...errors,
      },
      async perform(id, context, { body: { config, keys } }) {
        const change = await judgedPatch(context, id, config);
        const batches = listAffected(context.runtime.database.read, change, keys);
        return streamed(context, linesOf(batches, masked), {
          what: "a dry run",
          file: "affected-users.jsonl",
          mediaType: "application/jsonl",
        });
      },
    }),
    listOperation(`GET ${history}`, {
      id: `listSettingsHistory${suffix}`,
      summary: `List the changes of the settings of ${of}, newest first`,
      description:
        "Each is a version of the settings that can be restored. At most 200 are kept. The default tenant has none: the configuration of the server defines its settings.",
      item: versionSchema,
      counts: "Number of versions.",
      async list(context, { params, page }) {
        const tenantId = managedTenant(context, (params as { id?: string }).id);
        if (tenantId === null) return notFound;
        const { database, tenant: defaultTenant } = context.runtime;
        const { versions, total } = await pageOfVersions(database.read, defaultTenant, tenantId, page);
        return { items: versions.map(shownVersion), total };
      },
    }),
    tenantOperation(`POST ${history}/{version_id}/restore`, {
      id: `restoreSettings${suffix}`,
      summary: `Make the settings of ${of} those of a version again`,
      description: "The settings are validated as those of any change.",
      body: z.object(changeConditions),
      answers: {
        200: { schema: tenantObjectSchema },
        400: INVALID,
        403: FORBIDDEN,
        404: NOT_FOUND,
        409: {
          schema: tenantConflict,
          description: `${DEFAULT_TENANT} Or a condition of the change is not met.`,
        },
      },
      async perform(id, context, { params, body }) {
        const conditions = await conditionsOf(context, id, body);
        const { version_id } = params as { version_id: string };
        await restoreSettings(context.runtime, id, version_id, conditions, changingParty(context));
        return shownTenant(context, id);
      },
    }),
  ];
});

function shownEffect(all: AffectedUsers[], groups: AffectedUsers[], names: Map<string, ListedUser>) {
  return {
    count: all.reduce((sum, group) => sum + group.count, 0),
    groups: groups.map(({ count, reasons, examples, keys }) => ({
      count,
      reasons,
      sample: examples.flatMap((id) => names.get(id) ?? []).map(masked),
      keys,
    })),
  };
}

/** The turns of the statements of one call among heavy reads. One that has begun is not rejected. */
function turnsOf({
  runtime,
  request,
}: HandlerContext): <Result>(read: () => Promise<Result>) => Promise<Result> {
  let hasBegun = false;
  return (read) => {
    const pool = runtime.database.read;
    if (hasBegun) return nextHeavyRead(pool, read, request.signal);
    hasBegun = true;
    return heavyRead(pool, read);
  };
}
