import { z } from "zod";
import { rejectAdmin } from "../../admin/rejections.ts";
import {
  type ApiKey,
  createApiKey,
  deleteApiKey,
  keyInterfaces,
  listApiKeys,
  MAX_API_KEYS,
} from "../../tenants/api-keys.ts";
import { TenantError } from "../../tenants/manage-tenants.ts";
import { adminOperation } from "./admin-operation.ts";

const time = z.iso.datetime({ precision: 3 });

const apiKeyObject = z.strictObject({
  id: z.guid(),
  interface: z.enum(keyInterfaces),
  name: z.string(),
  created_at: time,
  last_used_at: time.nullable().describe("To the minute; null if it was never used."),
});

const objectOf = ({ id, interface: keyInterface, name, createdAt, lastUsedAt }: ApiKey) => ({
  id,
  interface: keyInterface,
  name,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});

/** API keys of the tenant. A key makes and deletes keys of its own tenant only. */
export const apiKeyAddresses = [
  adminOperation("GET /admin/api_keys", {
    id: "listApiKeys",
    summary: "List the tenant's API keys, oldest first, without the keys",
    answers: { 200: { schema: z.array(apiKeyObject) } },
    perform: async ({ runtime, tenant }) => (await listApiKeys(runtime, tenant)).map(objectOf),
  }),
  adminOperation("POST /admin/api_keys", {
    id: "createApiKey",
    // A key of the default tenant manages all tenants, or registers factors.
    roleAtDefaultTenant: "operator",
    summary: "Create an API key of the tenant",
    description: "The answer has the key. It is stored as a hash and cannot be shown again.",
    body: z.object({ interface: z.enum(keyInterfaces), name: z.string().max(200).default("") }),
    answers: {
      201: {
        schema: z.strictObject({
          id: z.guid(),
          interface: z.enum(keyInterfaces),
          name: z.string(),
          key: z.string().describe("The key, in this answer alone."),
        }),
      },
      409: `The tenant has ${MAX_API_KEYS} keys of the interface, the most it may have.`,
    },
    async perform({ runtime, tenant, client }, { body }) {
      const made = await createApiKey(runtime, tenant, body, client).catch((error: unknown) => {
        if (error instanceof TenantError) return null;
        throw error;
      });
      return made
        ? { id: made.id, interface: body.interface, name: body.name, key: made.key }
        : rejectAdmin("conflict", `A tenant has at most ${MAX_API_KEYS} keys of an interface.`);
    },
  }),
  adminOperation("DELETE /admin/api_keys/{id}", {
    id: "deleteApiKey",
    roleAtDefaultTenant: "operator",
    summary: "Delete an API key of the tenant",
    description: "It is invalid at once. A key can delete itself.",
    answers: { 204: "The key is deleted." },
    perform: ({ runtime, tenant, client }, { params }) => deleteApiKey(runtime, tenant, params.id, client),
  }),
];
