import { z } from "zod";
import {
  type ApiKey,
  createApiKey,
  deleteApiKey,
  keyInterfaces,
  listApiKeys,
  MAX_API_KEYS,
} from "../../tenants/api-keys.ts";
import { TenantError } from "../../tenants/manage-tenants.ts";
import { json, plainError } from "../answer/reply.ts";
import { uuid } from "../table/fields.ts";
import { adminOperation, NOT_FOUND } from "./admin-operation.ts";

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
  adminOperation(
    {
      method: "GET",
      path: "/admin/api_keys",
      id: "listApiKeys",
      summary: "List the tenant's API keys, oldest first, without the keys",
      tag: "admin: tenants",
      answers: { 200: { schema: z.array(apiKeyObject) } },
    },
    async ({ runtime, tenant }) => json(200, (await listApiKeys(runtime, tenant)).map(objectOf)),
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/api_keys",
      id: "createApiKey",
      summary: "Create an API key of the tenant",
      description: "The answer has the key. It is stored as a hash and cannot be shown again.",
      tag: "admin: tenants",
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
    },
    async ({ runtime, tenant, client }, { body }) => {
      const made = await createApiKey(runtime, tenant, body, client).catch((error: unknown) => {
        if (error instanceof TenantError) return null;
        throw error;
      });
      if (!made) return plainError(409, `A tenant has at most ${MAX_API_KEYS} keys of an interface.`);
      return json(201, { id: made.id, interface: body.interface, name: body.name, key: made.key });
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path: "/admin/api_keys/{id}",
      id: "deleteApiKey",
      summary: "Delete an API key of the tenant",
      description: "It is invalid at once. A key can delete itself.",
      tag: "admin: tenants",
      params: z.object({ id: uuid() }),
      answers: { 204: "The key is deleted.", 404: NOT_FOUND },
    },
    async ({ runtime, tenant, client }, { params }) =>
      (await deleteApiKey(runtime, tenant, params.id, client))
        ? { status: 204 }
        : plainError(404, "Not found."),
  ),
];
