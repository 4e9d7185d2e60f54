import type { HandlerContext } from "../table/handler-context.ts";

/** Context of a procedure: the request, and the headers of its response. */
export interface Context {
  handlerContext: HandlerContext;
  responseHeaders: Headers;
}
