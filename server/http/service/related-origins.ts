import { z } from "zod";
import { ceremonyOrigins } from "../../webauthn/origins.ts";
import { json, plainError } from "../answer/reply.ts";
import { address } from "../table/address.ts";
import type { Handler } from "../table/handler-context.ts";
import { described } from "../table/operation.ts";

/**
 * `GET /.well-known/webauthn`: the web origins that may use this relying party's passkeys (WebAuthn Level 3 section
 * 5.11.1). Browsers request it when a page of another domain names this relying party. 404 without related origins.
 */
const relatedOriginsHandler: Handler = ({ tenant }) => {
  if (tenant.config.webauthn.related_origins.length === 0)
    return plainError(404, "No related origins are configured.");
  const origins = ceremonyOrigins(tenant.config).filter((origin) => /^https?:/.test(origin));
  return json(200, { origins }, { headers: { "Cache-Control": "public, max-age=600" } });
};

/** What browsers ask on pages of another domain. */
export const relatedOriginsAddress = described(
  address("GET", "/.well-known/webauthn", relatedOriginsHandler, "plain", "public"),
  {
    id: "getRelatedOrigins",
    summary: "Get the origins that may use passkeys of this relying party",
    tag: "keys",
    answers: {
      200: { schema: z.object({ origins: z.array(z.url()) }) },
      404: "No related origins are configured.",
    },
  },
);
