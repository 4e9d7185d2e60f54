import { z } from "zod";
import { ConfigError } from "../../config/errors.ts";
import { mergePatch } from "../../identity/metadata.ts";
import {
  createTenant,
  deleteTenant,
  pageOfTenants,
  readTenant,
  type TenantChange,
  TenantError,
  updateTenant,
} from "../../tenants/manage-tenants.ts";
import { isSettings, type Settings } from "../../tenants/tenant-config.ts";
import { type TenantObject, tenantObject, tenantObjectSchema } from "../../tenants/tenant-object.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import { pageQuery, uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { pageHeaders } from "../table/paging.ts";
import { type AdminRow, adminOperation, NOT_FOUND } from "./admin-operation.ts";
import { settingsBody } from "./settings-schema.ts";

const statuses: Record<TenantError["reason"], number> = {
  invalid: 400,
  not_found: 404,
  conflict: 409,
  forbidden: 403,
};

/** Runs a change of a tenant, and converts its rejection to an error that names the setting. */
async function answerTenantChange(change: () => Promise<Reply>): Promise<Reply> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof ConfigError) return plainError(400, sentence(error.message));
    if (!(error instanceof TenantError)) throw error;
    if (error.reason === "not_found") return plainError(404, "Not found.");
    return plainError(statuses[error.reason], sentence(error.message));
  }
}

/** The messages begin with the name of a setting as a rule. */
const sentence = (message: string) => `${message}.`;

/** Whether the key of a call is one of the default tenant, which manages all tenants. */
function isOperator({ runtime, tenant }: Pick<HandlerContext, "runtime" | "tenant">): boolean {
  return tenant.id === runtime.tenant.id;
}

/** The party that changes a tenant by a call. */
export const changingParty = (context: HandlerContext) => ({
  ...context.client,
  itself: !isOperator(context),
});

/** The id of the tenant that a path names, if the key may manage it: a tenant's key only its own. */
function managedTenant(context: HandlerContext, id: string | undefined): string | null {
  if (id === undefined || id === context.tenant.id) return context.tenant.id;
  return isOperator(context) ? id : null;
}

/** Both places of the operations on a tenant: that which the path names, and that of the key. */
export const tenantPlaces = [
  { prefix: "/admin/tenants/{id}", suffix: "OfTenant", params: { id: uuid() }, of: "a tenant" },
  { prefix: "/admin", suffix: "", params: {}, of: "the tenant of the key" },
] as const;

/**
 * Makes a row of an operation on a tenant, at either place: 404 if the key may not manage it.
 *
 * @param perform gets the id of the tenant; its TenantError or ConfigError becomes the answer
 */
export function tenantOperation<Params extends z.ZodObject, Body extends z.ZodType = z.ZodUndefined>(
  declared: Parameters<typeof adminOperation<Params, z.ZodObject<Record<never, never>>, Body>>[0],
  perform: (
    tenantId: string,
    context: HandlerContext,
    input: { params: z.output<Params>; body: z.output<Body> },
  ) => Promise<Reply>,
): AdminRow {
  return adminOperation<Params, z.ZodObject<Record<never, never>>, Body>(declared, (context, input) =>
    answerTenantChange(async () => {
      const { id } = input.params as { id?: string };
      const tenantId = managedTenant(context, id);
      return tenantId ? perform(tenantId, context, input) : plainError(404, "Not found.");
    }),
  );
}

const FORBIDDEN = "The key is not one of the default tenant, or the setting is the operator's.";
const DEFAULT_TENANT =
  "A conflict with another tenant, or the default tenant, which the configuration of the server defines.";
const INVALID = "The name, a host name or a setting is invalid; the message names it.";

const TENANT_NAME = "must have 1 to 200 characters";

const description = {
  name: z.string().min(1, TENANT_NAME).max(200, TENANT_NAME),
  hosts: z.array(z.string().max(253)).max(100),
};

const tenantChange = z.object({
  name: description.name.optional(),
  hosts: description.hosts.optional(),
  config: settingsBody
    .optional()
    .describe("A JSON Merge Patch (RFC 7396) of its settings: null removes one."),
});

async function shown(context: HandlerContext, id: string): Promise<TenantObject | null> {
  const { runtime } = context;
  const found = await readTenant(runtime, id);
  return found && tenantObject(runtime.vault, { ...found, isDefault: id === runtime.tenant.id });
}

async function changeTenant(
  context: HandlerContext,
  id: string,
  { name, hosts, config }: z.output<typeof tenantChange>,
): Promise<void> {
  const wanted: TenantChange = {
    name,
    hosts,
    ...(config ? { settings: (current: Settings) => patched(current, config) } : {}),
  };
  await updateTenant(context.runtime, id, wanted, changingParty(context));
}

function patched(current: Settings, patch: Settings): Settings {
  const result = mergePatch(current, patch);
  return isSettings(result) ? result : {};
}

/** Reading and changing a tenant, at one of both places. */
const readingAndChanging = (
  place: { path: string; params?: z.ZodObject },
  texts: {
    get: { id: string; summary: string };
    change: { id: string; summary: string; description?: string };
  },
) => [
  tenantOperation(
    {
      method: "GET",
      ...place,
      ...texts.get,
      tag: "admin: tenants",
      answers: { 200: { schema: tenantObjectSchema }, ...(place.params ? { 404: NOT_FOUND } : {}) },
    },
    async (id, context) => {
      const found = await shown(context, id);
      return found ? json(200, found) : plainError(404, "Not found.");
    },
  ),
  tenantOperation(
    {
      method: "PATCH",
      ...place,
      ...texts.change,
      tag: "admin: tenants",
      body: tenantChange,
      answers: {
        200: { schema: tenantObjectSchema },
        400: INVALID,
        403: FORBIDDEN,
        404: NOT_FOUND,
        409: DEFAULT_TENANT,
      },
    },
    async (id, context, { body }) => {
      await changeTenant(context, id, body);
      return json(200, await shown(context, id));
    },
  ),
];

/** Tenants with their settings. */
export const tenantAddresses = [
  adminOperation(
    {
      method: "GET",
      path: "/admin/tenants",
      id: "listTenants",
      summary: "List tenants, oldest first",
      description: "A key of the default tenant sees all of them, any other key its own tenant.",
      tag: "admin: tenants",
      query: z.object(pageQuery),
      answers: {
        200: {
          schema: z.array(tenantObjectSchema),
          headers: { "X-Total-Count": "Number of tenants.", Link: "The other pages (RFC 8288)." },
        },
      },
    },
    async (context, { query }) => {
      const { runtime, tenant, url } = context;
      const page = { number: query.page, size: query.per_page };
      const { found, total } = await pageOfTenants(runtime, {
        ...page,
        ...(isOperator(context) ? {} : { only: tenant.id }),
      });
      const objects = found.map((one) =>
        tenantObject(runtime.vault, { ...one, isDefault: one.row.id === runtime.tenant.id }),
      );
      return json(200, objects, { headers: pageHeaders(tenant.config, url, page, total) });
    },
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/tenants",
      id: "createTenant",
      summary: "Create a tenant",
      tag: "admin: tenants",
      body: z.object({
        id: uuid().optional().describe("Default: a new one."),
        name: description.name,
        hosts: description.hosts.default([]),
        config: settingsBody.default({}),
      }),
      answers: { 201: { schema: tenantObjectSchema }, 400: INVALID, 403: FORBIDDEN, 409: DEFAULT_TENANT },
    },
    async (context, { body: { id, name, hosts, config } }) => {
      if (!isOperator(context)) return plainError(403, "Only a key of the default tenant creates tenants.");
      return answerTenantChange(async () => {
        const wanted = { name, hosts, settings: patched({}, config), ...(id ? { id } : {}) };
        const made = await createTenant(context.runtime, wanted, context.client);
        return json(201, await shown(context, made.id));
      });
    },
  ),
  ...readingAndChanging(
    { path: "/admin/tenants/{id}", params: z.object({ id: uuid() }) },
    {
      get: { id: "getTenant", summary: "Get a tenant with its settings" },
      change: {
        id: "changeTenant",
        summary: "Change a tenant's name, host names or settings",
        description: "Other servers see the change within five seconds.",
      },
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path: "/admin/tenants/{id}",
      id: "deleteTenant",
      summary: "Delete a tenant with all of its data",
      tag: "admin: tenants",
      params: z.object({ id: uuid() }),
      query: z.object({
        with_users: z
          .boolean()
          .default(false)
          .describe("Whether a tenant that has users is deleted with them."),
      }),
      answers: {
        204: "The tenant is deleted.",
        403: FORBIDDEN,
        404: NOT_FOUND,
        409: "It has users, or is the default tenant.",
      },
    },
    async (context, { params, query }) => {
      if (!managedTenant(context, params.id)) return plainError(404, "Not found.");
      if (!isOperator(context)) return plainError(403, "Only a key of the default tenant deletes tenants.");
      return answerTenantChange(async () => {
        const withUsers = query.with_users;
        await deleteTenant(context.runtime, params.id, { withUsers }, context.client);
        return { status: 204 };
      });
    },
  ),
  ...readingAndChanging(
    { path: "/admin/tenant" },
    {
      get: { id: "getOwnTenant", summary: "Get the tenant of the key with its settings" },
      change: { id: "changeOwnTenant", summary: "Change the tenant of the key" },
    },
  ),
];
