import type { Config } from "../../config/schema.ts";
import type { ApiRequest } from "../request/api-request.ts";
import { withinTenant } from "../request/tenant-path.ts";
import type { ErrorShape } from "../table/address.ts";
import { corsHeaders } from "./cors.ts";
import type { Reply } from "./reply.ts";
import { securityHeaders } from "./security-headers.ts";

/** What a request was, as far as the common headers of its answer depend on it. */
interface Answered {
  config: Config;
  requestId: string;
  errorShape: ErrorShape;
}

/**
 * Completes a reply with the common headers, and removes the body of an answer to `HEAD`. Every answer of the API passes
 * here.
 */
export function complete<Answer extends Reply | Response>(
  request: Pick<ApiRequest, "method" | "headers">,
  reply: Answer,
  answered: Answered,
): Answer;
export function complete(
  request: Pick<ApiRequest, "method" | "headers">,
  reply: Reply | Response,
  { config, requestId, errorShape }: Answered,
): Reply | Response {
  const common: Record<string, string> = {
    ...securityHeaders(config),
    ...corsHeaders(request.headers.get("origin"), config, errorShape),
    "X-Request-ID": requestId,
  };
  const withoutBody = request.method === "HEAD";
  if (reply instanceof Response) {
    for (const [name, value] of Object.entries(common)) {
      // The answer varies by what its handler names, and by what lets other origins read it.
      if (name === "Vary") reply.headers.append(name, value);
      else if (!reply.headers.has(name)) reply.headers.set(name, value);
    }
    return withoutBody ? new Response(null, { status: reply.status, headers: reply.headers }) : reply;
  }
  const headers: Record<string, string> = { ...common, ...reply.headers };
  if (common.Vary && reply.headers?.Vary) headers.Vary = `${reply.headers.Vary}, ${common.Vary}`;
  // Handlers name addresses as the table does, without the prefix of the tenant.
  const { Location } = headers;
  if (Location?.startsWith("/")) headers.Location = withinTenant(config, Location);
  const { status, body, cookies } = reply;
  return {
    status,
    headers,
    ...(body === undefined || withoutBody ? {} : { body }),
    ...(cookies ? { cookies } : {}),
  };
}

/** Makes a web-standard response of a complete reply, for platforms that send those. */
export function toResponse(reply: Reply | Response): Response {
  if (reply instanceof Response) return reply;
  const { status, body = null, headers = {}, cookies = [] } = reply;
  return new Response(body, {
    status,
    headers: [
      ...Object.entries(headers),
      ...cookies.map((cookie): [string, string] => ["Set-Cookie", cookie]),
    ],
  });
}
