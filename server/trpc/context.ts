import type { HandlerContext } from "../http/handler-context.ts";

/** What a procedure works with: the request, and the headers of its answer. */
export interface Context {
  handlerContext: HandlerContext;
  answerHeaders: Headers;
}
