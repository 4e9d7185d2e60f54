import { json } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/** `GET /.well-known/jwks.json`: the public keys that verify a tenant's session tokens (RFC 7517, 5). */
export const jwksHandler: Handler = async ({ runtime, tenant }) =>
  json(200, await runtime.signingKeys.of(tenant).jwks(), {
    headers: { "Cache-Control": "public, max-age=600" },
  });
