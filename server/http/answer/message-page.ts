import { wordsOf } from "#words/words-of";
import type { Config } from "../../config/schema.ts";
import { hashSource } from "../../lib/hash-source.ts";
import type { RequestHeaders } from "../request/api-request.ts";
import { languageInCookie, pageLanguage } from "../request/language.ts";
import {
  followScript,
  followsLink,
  type Message,
  messageDocument,
  messageStyles,
  type PageMessage,
} from "./message-document.ts";
import type { Reply } from "./reply.ts";

/** The policy of these pages, which have one style sheet inside, and with frames one script. */
function policy(message: PageMessage): string {
  const { wayOn, frames = [], framable } = message;
  const hasForm = typeof wayOn === "object" && "action" in wayOn;
  const origins = new Set(frames.map((address) => new URL(address).origin));
  return [
    "default-src 'none'",
    `style-src ${hashSource(messageStyles)}`,
    ...(followsLink(message) ? [`script-src ${hashSource(followScript)}`] : []),
    ...(origins.size > 0 ? [`frame-src ${[...origins].join(" ")}`] : []),
    "base-uri 'none'",
    `form-action ${hasForm ? "'self'" : "'none'"}`,
    ...(framable ? [] : ["frame-ancestors 'none'"]),
  ].join("; ");
}

/**
 * A page that tells a person why there is no other page. The API sends it itself.
 *
 * @param request its cookies and headers select the language
 * @param message selects the texts
 */
export function messagePage(
  status: number,
  request: RequestHeaders,
  { service, words, mode }: Pick<Config, "service" | "words" | "mode">,
  message: Message,
  headers: Record<string, string> = {},
): Reply {
  const chosen = languageInCookie(request.get("cookie"));
  const language = pageLanguage(chosen, request.get("accept-language"), mode);
  const { page, errors } = wordsOf(language, words).flow;
  const texts = { language, page, errors };
  const { detail, ...told } = message(texts);
  const shown = mode === "development" && detail !== undefined ? { ...told, detail } : told;
  return {
    status,
    body: messageDocument(texts, service.name, shown),
    headers: {
      ...headers,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy(told),
    },
  };
}
