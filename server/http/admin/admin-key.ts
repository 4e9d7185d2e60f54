import { type KeyVerdict, recordRejectedKey, verifyApiKey } from "../../tenants/api-keys.ts";
import { plainError } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";

/**
 * `Authorization: Bearer <key>` with one space; the scheme is case-insensitive (RFC 9110, 11.1). Node joins repeated
 * headers with a comma, which keys do not contain.
 */
const bearer = /^bearer ([\w-]{1,512})$/i;

/**
 * Returns the valid key of the interface `admin` of the tenant that a request presents; null without one. A wrong key is
 * recorded in the audit log.
 */
export async function presentedAdminKey(
  context: HandlerContext,
): Promise<Extract<KeyVerdict, { ok: true }> | null> {
  const { runtime, tenant, request } = context;
  const [, key] = bearer.exec(request.headers.get("authorization") ?? "") ?? [];
  if (key === undefined) return null;
  const verdict = await verifyApiKey(
    runtime,
    { interface: "admin", tenant, withPosition: runtime.replicas.areConfigured },
    key,
  );
  if (verdict.ok) return verdict;
  await recordRejectedKey(context, "admin", verdict.reason);
  return null;
}

/**
 * Wraps a handler of the administration interface so that it requires a key of the interface `admin` of the tenant,
 * which is verified before the body is read. A key in the query does not count. The answer to a wrong key does not
 * depend on what is wrong with it. Entries of the audit log name the key (`client.apiKey`).
 */
export function requireAdminKey(handler: Handler): Handler {
  return async (context) => {
    const { client } = context;
    const found = await presentedAdminKey(context);
    if (found) {
      const { key, position } = found;
      return handler({ ...context, position, client: { ...client, apiKey: key.id } });
    }
    return plainError(
      401,
      "A valid key of the administration interface is needed: Authorization: Bearer <key>.",
      {
        "WWW-Authenticate": 'Bearer realm="admin"',
      },
    );
  };
}
