import { json, type Reply } from "../reply.ts";

/** Titles of refusals that are the same at every address. */
const defaultTitles: Record<number, string> = {
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Request Entity Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/**
 * A refusal of the passkey server: `{title, details, status}`, never without a body, since clients take an error
 * without one for a success.
 *
 * @param details what is wrong, for the people who build clients; no secret, and nothing of other tenants
 */
export function errorReply(
  status: number,
  title = defaultTitles[status] ?? "Bad Request",
  details = "",
  headers: Record<string, string> = {},
): Reply {
  // What was not expected is told to nobody.
  const told = status === 500 ? { title, status } : { title, details, status };
  return json(status, told, { headers });
}
