import { json } from "../answer/reply.ts";
import type { Handler } from "../table/handler-context.ts";

/** `GET .well-known/jwks.json`: the public keys of a tenant's passkey server (RFC 7517, 5). */
export const passkeyJwksHandler: Handler = async ({ runtime, tenant }) =>
  json(200, await runtime.signingKeys.of(tenant, "passkeys").jwks(), {
    headers: { "Cache-Control": "max-age=600" },
  });

/** `GET .well-known/receipt-keys.json`: the same and the retired keys, which verify receipts and no tokens. */
export const receiptKeysHandler: Handler = async ({ runtime, tenant }) =>
  json(200, await runtime.signingKeys.of(tenant, "passkeys").archive(), {
    headers: { "Cache-Control": "max-age=600" },
  });
