import type { Config } from "../../config/schema.ts";
import { wantsPage } from "../request/accepts.ts";
import type { RequestHeaders } from "../request/api-request.ts";
import type { ErrorShape } from "../table/address.ts";
import { messagePage } from "./message-page.ts";
import { refusedRequest } from "./messages.ts";
import type { Reply } from "./reply.ts";

/** The interfaces whose addresses browsers also visit. */
const visited: readonly ErrorShape[] = ["plain", "flow", "oauth"];

/**
 * Replaces an error in JSON by a page where a browser shows the answer to a person, for instance after a link with a
 * missing parameter. Status, headers and cookies stay.
 *
 * @param home path of the sign-in page; null if no tenant was found
 */
export function forReader(
  reply: Reply,
  request: RequestHeaders,
  { errorShape, config, home }: { errorShape: ErrorShape; config: Config; home: string | null },
): Reply {
  if (reply.status < 400 || !visited.includes(errorShape) || !wantsPage(request)) return reply;
  const detail = messageIn(reply);
  if (detail === null) return reply;
  const page = messagePage(
    reply.status,
    request,
    config,
    refusedRequest(reply.status, detail, home),
    reply.headers,
  );
  return { ...page, ...(reply.cookies ? { cookies: reply.cookies } : {}) };
}

/** The message of an error in JSON, for developers; null for an answer of another kind. */
function messageIn({ body, headers }: Reply): string | null {
  if (!headers?.["Content-Type"]?.startsWith("application/json")) return null;
  const { message, error, error_description } = JSON.parse(body ?? "{}") as {
    message?: unknown;
    error?: { message?: unknown };
    error_description?: unknown;
  };
  const text = message ?? error_description ?? error?.message;
  return typeof text === "string" ? text : null;
}
