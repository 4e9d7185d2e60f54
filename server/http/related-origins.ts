import { ceremonyOrigins } from "../webauthn/origins.ts";
import type { Handler } from "./handler-context.ts";
import { json, plainError } from "./reply.ts";

/**
 * `GET /.well-known/webauthn`: the web origins that may use this relying party's passkeys (WebAuthn Level 3 section
 * 5.11.1). Browsers request it when a page of another domain names this relying party. 404 without related origins.
 */
export const relatedOriginsHandler: Handler = ({ tenant }) => {
  if (tenant.config.webauthn.related_origins.length === 0)
    return plainError(404, "No related origins are configured.");
  const origins = ceremonyOrigins(tenant.config).filter((origin) => /^https?:/.test(origin));
  return json(200, { origins }, { headers: { "Cache-Control": "public, max-age=600" } });
};
