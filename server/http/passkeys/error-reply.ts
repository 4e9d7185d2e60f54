import { json, type Reply } from "../answer/reply.ts";

/** Titles of errors that do not depend on the endpoint. */
const defaultTitles: Record<number, string> = {
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Request Entity Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/**
 * Returns an error of the passkey server, `{title, details, status}`. It always has a body, because published clients
 * take an error without one for a success.
 *
 * @param details the cause, for developers; no secrets, and no data of other tenants
 */
export function errorReply(
  status: number,
  title = defaultTitles[status] ?? "Bad Request",
  details = "",
  headers: Record<string, string> = {},
): Reply {
  // Unexpected errors have no details.
  const body = status === 500 ? { title, status } : { title, details, status };
  return json(status, body, { headers });
}
