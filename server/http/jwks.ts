import type { Handler } from "./exchange.ts";
import { json } from "./reply.ts";

/** `GET /.well-known/jwks.json`: the public keys that sessions are signed by (RFC 7517, 5). */
export const jwksHandler: Handler = async ({ runtime }) =>
  json(200, await runtime.signingKeys.jwks(), { headers: { "Cache-Control": "public, max-age=600" } });
