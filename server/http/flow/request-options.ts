import { unstartedRequestOptions } from "../../methods/passkey/passkeys.ts";
import { json, plainError } from "../answer/reply.ts";
import { isDisallowedOrigin } from "../request/origin.ts";
import type { Handler } from "../table/handler-context.ts";

/**
 * `GET /login/request_options`: what a passkey is asked for with, for a login that its response begins. Nothing is stored;
 * it is limited as the start of a flow.
 */
export const requestOptionsHandler: Handler = async (context) => {
  const { runtime, tenant, client, request } = context;
  if (isDisallowedOrigin(request.headers, tenant.config))
    return plainError(403, "The origin is not one of cors.allow_origins.");
  if (!tenant.config.passkey.enabled) return plainError(404, "Passkeys are disabled.");
  const rate = await runtime.rates.consume(tenant.id, "flow_start", client.source);
  if (!rate.ok)
    return plainError(429, "Too many sign-ins were started. Retry later.", {
      "Retry-After": String(rate.retryAfterSeconds),
    });
  return json(200, { request_options: unstartedRequestOptions(context) });
};
