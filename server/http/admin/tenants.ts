import { z } from "zod";
import { notFound, rejectAdmin } from "../../admin/rejections.ts";
import { ConfigError } from "../../config/errors.ts";
import { mergePatch } from "../../identity/metadata.ts";
import { isTree, type Tree } from "../../lib/tree.ts";
import {
  createTenant,
  deleteTenant,
  pageOfTenants,
  readTenant,
  TenantError,
  updateTenant,
} from "../../tenants/manage-tenants.ts";
import { type TenantObject, tenantObject, tenantObjectSchema } from "../../tenants/tenant-object.ts";
import { uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import type { Place, UntaggedRow } from "../table/operation.ts";
import {
  type AdminInput,
  adminOperation,
  type Declared,
  listOperation,
  NOT_FOUND,
  type NoQuery,
  type Outcome,
} from "./admin-operation.ts";
import { changeConditions, conditionsOf, shownVersion, tenantConflict } from "./change-conditions.ts";
import { settingsBody } from "./settings-schema.ts";

/** Runs a change of a tenant, and converts its error to a rejection that names the setting. */
export async function rejecting<Found>(change: () => Promise<Outcome<Found>>): Promise<Outcome<Found>> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof ConfigError) return rejectAdmin("invalid", sentence(error.message));
    if (!(error instanceof TenantError)) throw error;
    if (error.reason === "not_found") return notFound;
    const { since, lockedOut } = error;
    const details = {
      ...(since.length > 0 ? { changes: since.map(shownVersion) } : {}),
      ...(lockedOut.length > 0 ? { locked_out: lockedOut } : {}),
    };
    return rejectAdmin(
      error.reason,
      sentence(error.message),
      Object.keys(details).length > 0 ? details : undefined,
    );
  }
}

/** The messages begin with the name of a setting as a rule. */
const sentence = (message: string) => `${message}.`;

/** Whether a call may manage all tenants: by a key of the default tenant, or by the role `operator` of the console. */
export function isOperator({
  runtime,
  tenant,
  visitor,
}: Pick<HandlerContext, "runtime" | "tenant" | "visitor">): boolean {
  return visitor ? visitor.role === "operator" : tenant.id === runtime.tenant.id;
}

/** The party that changes a tenant by a call. */
export const changingParty = (context: HandlerContext) => ({
  ...context.client,
  itself: !isOperator(context),
});

/** The id of the tenant that a path names, if the key may manage it: a tenant's key only its own. */
export function managedTenant(context: HandlerContext, id: string | undefined): string | null {
  if (id === undefined || id === context.tenant.id) return context.tenant.id;
  return isOperator(context) ? id : null;
}

/** Both places of the operations on a tenant: that which the path names, and that of the key. */
export const tenantPlaces = [
  { prefix: "/admin/tenants/{id}", suffix: "OfTenant", of: "a tenant" },
  { prefix: "/admin", suffix: "", of: "the tenant of the key" },
] as const;

/**
 * Makes a row of an operation on a tenant, at either place: 404 if the key may not manage it.
 *
 * @param perform gets the id of the tenant; its TenantError or ConfigError becomes the answer
 */
export function tenantOperation<
  At extends Place,
  Found,
  Query extends z.ZodObject = NoQuery,
  Body extends z.ZodType = z.ZodUndefined,
>(
  place: At,
  {
    perform,
    ...declared
  }: Declared<At, Query, Body> & {
    perform(
      tenantId: string,
      context: HandlerContext,
      input: AdminInput<At, Query, Body>,
    ): Promise<Outcome<Found>>;
  },
): UntaggedRow {
  return adminOperation<At, Found, Query, Body>(place, {
    ...declared,
    perform: (context, input) =>
      rejecting(async () => {
        const { id } = input.params as { id?: string };
        const tenantId = managedTenant(context, id);
        return tenantId !== null && perform(tenantId, context, input);
      }),
  });
}

export const FORBIDDEN = "The key is not one of the default tenant, or the setting is the operator's.";
export const DEFAULT_TENANT =
  "A conflict with another tenant, or the default tenant, which the configuration of the server defines.";
export const INVALID = "The name, a host name or a setting is invalid; the message names it.";

const TENANT_NAME = "must have 1 to 200 characters";

const description = {
  name: z.string().min(1, TENANT_NAME).max(200, TENANT_NAME),
  hosts: z.array(z.string().max(253)).max(100),
};

export const settingsPatch = () =>
  settingsBody.describe("A JSON Merge Patch (RFC 7396) of its settings: null removes one.");

const tenantChange = z.object({
  name: description.name.optional(),
  hosts: description.hosts.optional(),
  config: settingsPatch().optional(),
  ...changeConditions,
});

export async function shownTenant(context: HandlerContext, id: string): Promise<TenantObject | null> {
  const { runtime } = context;
  const found = await readTenant(runtime, id);
  return found && tenantObject(runtime.vault, { ...found, isDefault: id === runtime.tenant.id });
}

/** Applies a JSON Merge Patch to settings. */
export function patched(current: Tree, patch: Tree): Tree {
  const result = mergePatch(current, patch);
  return isTree(result) ? result : {};
}

/** Reading and changing a tenant, at one of both places. */
const readingAndChanging = (
  path: "/admin/tenants/{id}" | "/admin/tenant",
  texts: {
    get: { id: string; summary: string };
    change: { id: string; summary: string; description?: string };
  },
) => [
  tenantOperation(`GET ${path}`, {
    ...texts.get,
    answers: { 200: { schema: tenantObjectSchema } },
    perform: (id, context) => shownTenant(context, id),
  }),
  tenantOperation(`PATCH ${path}`, {
    ...texts.change,
    body: tenantChange,
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
    async perform(id, context, { body: { name, hosts, config, ...conditions } }) {
      const settings = config && { settings: (current: Tree) => patched(current, config) };
      // Other changes lock no account out.
      const conditional = await conditionsOf(context, id, {
        ...(settings ? {} : { unless_locked_out: [] }),
        ...conditions,
      });
      const change = { name, hosts, ...settings, ...conditional };
      await updateTenant(context.runtime, id, change, changingParty(context));
      return shownTenant(context, id);
    },
  }),
];

/** Tenants with their settings. */
export const tenantAddresses = [
  listOperation("GET /admin/tenants", {
    id: "listTenants",
    summary: "List tenants, oldest first",
    description: "A key of the default tenant sees all of them, any other key its own tenant.",
    item: tenantObjectSchema,
    counts: "Number of tenants.",
    async list(context, { page }) {
      const { runtime, tenant } = context;
      const only = isOperator(context) ? {} : { only: tenant.id };
      const { found, total } = await pageOfTenants(runtime, { ...page, ...only });
      const items = found.map((one) =>
        tenantObject(runtime.vault, { ...one, isDefault: one.row.id === runtime.tenant.id }),
      );
      return { items, total };
    },
  }),
  tenantOperation("POST /admin/tenants", {
    id: "createTenant",
    role: "operator",
    summary: "Create a tenant",
    body: z.object({
      id: uuid().optional().describe("Default: a new one."),
      name: description.name,
      hosts: description.hosts.default([]),
      config: settingsBody.default({}),
    }),
    answers: { 201: { schema: tenantObjectSchema }, 400: INVALID, 403: FORBIDDEN, 409: DEFAULT_TENANT },
    async perform(_own, context, { body: { id, name, hosts, config } }) {
      if (!isOperator(context))
        return rejectAdmin("forbidden", "Only a key of the default tenant creates tenants.");
      const wanted = { name, hosts, settings: patched({}, config), ...(id ? { id } : {}) };
      const made = await createTenant(context.runtime, wanted, context.client);
      return shownTenant(context, made.id);
    },
  }),
  ...readingAndChanging("/admin/tenants/{id}", {
    get: { id: "getTenant", summary: "Get a tenant with its settings" },
    change: {
      id: "changeTenant",
      summary: "Change a tenant's name, host names or settings",
      description: "Other servers see the change within five seconds.",
    },
  }),
  tenantOperation("DELETE /admin/tenants/{id}", {
    id: "deleteTenant",
    role: "operator",
    summary: "Delete a tenant with all of its data",
    query: z.object({
      with_users: z
        .boolean()
        .default(false)
        .describe("Whether a tenant that has users is deleted with them."),
    }),
    answers: {
      204: "The tenant is deleted.",
      403: FORBIDDEN,
      409: "It has users, or is the default tenant.",
    },
    async perform(id, context, { query }) {
      if (!isOperator(context))
        return rejectAdmin("forbidden", "Only a key of the default tenant deletes tenants.");
      await deleteTenant(context.runtime, id, { withUsers: query.with_users }, context.client);
      return true;
    },
  }),
  ...readingAndChanging("/admin/tenant", {
    get: { id: "getOwnTenant", summary: "Get the tenant of the key with its settings" },
    change: { id: "changeOwnTenant", summary: "Change the tenant of the key" },
  }),
];
