import type { Config } from "../config/schema.ts";
import type { ErrorShape } from "./address.ts";
import { corsHeaders } from "./cors.ts";
import type { Reply } from "./reply.ts";
import { securityHeaders } from "./security-headers.ts";
import { withinTenant } from "./tenant-path.ts";

/** Makes the response of a reply. Every response of the API is made here, and has the common headers. */
export function toResponse(
  request: Request,
  reply: Reply | Response,
  { config, requestId, errorShape }: { config: Config; requestId: string; errorShape: ErrorShape },
): Response {
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
  const { status, body = null, cookies = [] } = reply;
  const plain: Record<string, string> = { ...common, ...reply.headers };
  if (common.Vary && reply.headers?.Vary) plain.Vary = `${reply.headers.Vary}, ${common.Vary}`;
  // Handlers name addresses as the table does, without the prefix of the tenant.
  const { Location } = plain;
  if (Location?.startsWith("/")) plain.Location = withinTenant(config, Location);
  const headers =
    cookies.length === 0
      ? plain
      : [...Object.entries(plain), ...cookies.map((cookie): [string, string] => ["Set-Cookie", cookie])];
  return new Response(withoutBody ? null : body, { status, headers });
}
