import type { Exchange } from "../http/handler-context.ts";

/** What a procedure works with: the request, and the headers of its answer. */
export interface Context {
  exchange: Exchange;
  answerHeaders: Headers;
}
