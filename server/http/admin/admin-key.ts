import { recordRejectedKey, verifyApiKey } from "../../tenants/api-keys.ts";
import type { Handler } from "../handler-context.ts";
import { plainError } from "../reply.ts";

/**
 * `Authorization: Bearer <key>` with one space; the scheme is case-insensitive (RFC 9110, 11.1). Node joins repeated
 * headers with a comma, which keys do not contain.
 */
const bearer = /^bearer ([\w-]{1,512})$/i;

/**
 * Wraps a handler of the administration interface so that it requires a key of the interface `admin` of the tenant,
 * which is verified before the body is read. A key in the query does not count. The answer to a wrong key does not
 * depend on what is wrong with it. Entries of the audit log name the key (`client.apiKey`).
 */
export function requireAdminKey(handler: Handler): Handler {
  return async (context) => {
    const { runtime, tenant, request, client } = context;
    const [, key = ""] = bearer.exec(request.headers.get("authorization") ?? "") ?? [];
    const found = await verifyApiKey(runtime, { interface: "admin", tenant }, key);
    if (found) return handler({ ...context, client: { ...client, apiKey: found.id } });
    await recordRejectedKey(context, "admin", key);
    return plainError(
      401,
      "A valid key of the administration interface is needed: Authorization: Bearer <key>.",
      {
        "WWW-Authenticate": 'Bearer realm="admin"',
      },
    );
  };
}
