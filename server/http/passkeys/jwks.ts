import type { Handler } from "../handler-context.ts";
import { json } from "../reply.ts";

/** `GET .well-known/jwks.json`: the public keys of a tenant's passkey server (RFC 7517, 5). */
export const passkeyJwksHandler: Handler = async ({ runtime, tenant }) =>
  json(200, await runtime.signingKeys.of(tenant, "passkeys").jwks(), {
    headers: { "Cache-Control": "max-age=600" },
  });
