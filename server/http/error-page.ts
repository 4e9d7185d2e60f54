import type { Config } from "../config/schema.ts";
import { wantsPage } from "./accepts.ts";
import type { ErrorShape } from "./address.ts";
import { type MessageWords, messagePage, type PageMessage } from "./message-page.ts";
import type { Reply } from "./reply.ts";

/** The interfaces whose addresses browsers also visit. */
const visited: readonly ErrorShape[] = ["plain", "flow"];

/**
 * Replaces an error in JSON by a page where a browser shows the answer to a person, for instance after a link with a
 * missing parameter. Status, headers and cookies stay.
 *
 * @param home path of the sign-in page; null if no tenant was found
 */
export function forReader(
  reply: Reply,
  request: Headers,
  { errorShape, config, home }: { errorShape: ErrorShape; config: Config; home: string | null },
): Reply {
  if (reply.status < 400 || !visited.includes(errorShape) || !wantsPage(request)) return reply;
  const detail = messageIn(reply);
  if (detail === null) return reply;
  const page = messagePage(
    reply.status,
    request,
    config,
    (words) => ({ ...textsOf(reply.status, words), detail, ...(home === null ? {} : { wayOn: { home } }) }),
    reply.headers,
  );
  return { ...page, ...(reply.cookies ? { cookies: reply.cookies } : {}) };
}

function textsOf(status: number, { page, errors }: MessageWords): Pick<PageMessage, "title" | "sentence"> {
  if (status === 503) return { title: page.tooManyTitle, sentence: errors.temporarily_unavailable };
  if (status >= 500) return { title: page.errorTitle, sentence: errors.technical_error };
  if (status === 429) return { title: page.tooManyTitle, sentence: errors.rate_limit_exceeded };
  return { title: page.badReturnTitle, sentence: page.badLinkSentence };
}

/** The message of an error in JSON, for developers; null for an answer of another kind. */
function messageIn({ body, headers }: Reply): string | null {
  if (!headers?.["Content-Type"]?.startsWith("application/json")) return null;
  const { message, error } = JSON.parse(body ?? "{}") as { message?: unknown; error?: { message?: unknown } };
  const text = message ?? error?.message;
  return typeof text === "string" ? text : null;
}
