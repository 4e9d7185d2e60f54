import type { Config } from "../../config/schema.ts";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
import { metadataOf } from "../../openid/clients.ts";
import { registeredMethods } from "../../openid/registered-clients.ts";
import { readDescription } from "../../openid/unlisted-clients.ts";
import { json } from "../answer/reply.ts";
import type { ApiRequest } from "../request/api-request.ts";
import { readObject } from "../request/body.ts";
import type { Handler } from "../table/handler-context.ts";
import { answerByProvider } from "./answer-by-provider.ts";
import { oauthError } from "./error.ts";

/**
 * `POST /oauth/register`: an application registers itself (RFC 7591, 3). What it says is read here, so that the library stores
 * what is known and bounded, and no more.
 */
export const registrationHandler: Handler = async (context) => {
  const { runtime, tenant, client, request } = context;
  const { openid } = tenant.config;
  if (!openid.enabled || openid.registration === "off")
    return oauthError(404, "Applications cannot register themselves here (openid.registration).");
  const rate = await runtime.rates.consume(tenant.id, "client_registration", client.source);
  if (!rate.ok)
    return oauthError(429, "Too many applications have registered from this source.", {
      "Retry-After": String(rate.retryAfterSeconds),
    });
  if (openid.registration === "token" && !hasToken(request, openid)) {
    const error = { error: "invalid_token", error_description: "An initial access token is needed." };
    return json(401, error, { headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' } });
  }
  const read = await readObject(request);
  if (!read.ok && read.reason === "too_large")
    return oauthError(413, "The body is too large.", { Connection: "close" });
  if (!read.ok)
    return json(400, {
      error: "invalid_client_metadata",
      error_description: "The body is not a JSON object.",
    });
  const judged = readDescription(read.value, registeredMethods);
  if (!judged.ok) return json(400, { error: judged.fault.error, error_description: judged.fault.message });
  const metadata = metadataOf(tenant.config, judged.description, {});
  return answerByProvider(context, null, { body: new TextEncoder().encode(JSON.stringify(metadata)) });
};

/** Whether a request has one of the initial access tokens (RFC 7591, 1.2 and 3; RFC 6750, 2.1). */
function hasToken({ headers }: ApiRequest, { registration_tokens }: Config["openid"]): boolean {
  const [, token] = /^Bearer +([^ ]+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  // Each is compared, so that the time tells nothing.
  return (
    token !== undefined && registration_tokens.filter((known) => constantTimeEqual(known, token)).length > 0
  );
}
