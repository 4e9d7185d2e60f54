import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { parseJson } from "../../lib/strict-json.ts";
import { json, type Reply } from "../answer/reply.ts";
import { FRAME_HEADER, type Frame, parseFrame } from "../page/frame.ts";
import { readText } from "../request/body.ts";
import { otherOriginOf } from "../request/origin.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { appRouter } from "./router.ts";

const ENDPOINT = "/api/trpc";

/** `POST /api/trpc/{procedure}`. The body is read here, with our limits, and passed on unchanged. */
export const trpcHandler: Handler = async (context) => {
  const { request, runtime, client, url } = context;
  // Each step needs the cookie of the previous one, so calls cannot be batched; and a streamed answer sets no cookies.
  if (url.searchParams.has("batch") || request.headers.has("trpc-accept"))
    return errorReply("BAD_REQUEST", 400);
  const body = await readText(request, "application/json");
  if (!body.ok && body.reason === "too_large")
    return errorReply("PAYLOAD_TOO_LARGE", 413, { Connection: "close" });
  if (!body.ok || parseJson(body.value) === undefined) return errorReply("BAD_REQUEST", 400);
  const { method } = request;
  const frame = frameOf(context);
  const otherOrigin = otherOriginOf(request.headers, context.tenant.config);
  if (frame === "refused" || (frame && otherOrigin)) return errorReply("FORBIDDEN", 403);
  const response = await fetchRequestHandler({
    endpoint: ENDPOINT,
    router: appRouter,
    req: new Request(url, { method, headers: { "Content-Type": "application/json" }, body: body.value }),
    createContext: ({ resHeaders }) => ({
      handlerContext: {
        ...context,
        ...(frame ? { frame, client: { ...client, embedding: "frame" } } : {}),
        ...(otherOrigin ? { otherOrigin, client: { ...client, embedding: "element" } } : {}),
      },
      responseHeaders: resHeaders,
    }),
    onError({ error }) {
      if (error.code === "INTERNAL_SERVER_ERROR") {
        runtime.log.error({ err: error.cause ?? error, request_id: client.requestId }, "A tRPC call failed.");
      }
    },
  });
  response.headers.set("Content-Type", "application/json; charset=utf-8");
  return response;
};

/** The frame that a call names; null for a call of our own page. */
function frameOf({ request, tenant }: HandlerContext): Frame | null | "refused" {
  const named = request.headers.get(FRAME_HEADER);
  if (named === null) return null;
  const parsed = parseFrame(new URLSearchParams(named), tenant.config);
  return parsed.ok ? parsed.frame : "refused";
}

/** An error in tRPC's shape, with JSON-RPC's code for an invalid request. */
function errorReply(
  code: "PAYLOAD_TOO_LARGE" | "BAD_REQUEST" | "FORBIDDEN",
  status: number,
  headers: Record<string, string> = {},
): Reply {
  const message = "Invalid request.";
  return json(status, { error: { message, code: -32600, data: { code, httpStatus: status } } }, { headers });
}
