import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { readText } from "../http/body.ts";
import type { Handler } from "../http/handler-context.ts";
import { json, type Reply } from "../http/reply.ts";
import { parseJson } from "../lib/strict-json.ts";
import { appRouter } from "./router.ts";

const ENDPOINT = "/api/trpc";

/** `POST /api/trpc/{procedure}`. The body is read here, within our bounds, and handed on as it was. */
export const trpcHandler: Handler = async (context) => {
  const { request, runtime, client, url: asked } = context;
  // Every step needs the cookie of the one before, so nothing can be batched; and a streamed batch sets no cookie.
  if (asked.searchParams.has("batch")) return refuse("BAD_REQUEST", 400);
  const body = await readText(request, "application/json");
  if (!body.ok && body.reason === "too_large")
    return refuse("PAYLOAD_TOO_LARGE", 413, { Connection: "close" });
  if (!body.ok || parseJson(body.value) === undefined) return refuse("BAD_REQUEST", 400);
  const { method, headers } = request;
  const response = await fetchRequestHandler({
    endpoint: ENDPOINT,
    router: appRouter,
    req: new Request(asked, { method, headers, body: body.value }),
    createContext: ({ resHeaders }) => ({ handlerContext: context, answerHeaders: resHeaders }),
    onError({ error }) {
      if (error.code === "INTERNAL_SERVER_ERROR") {
        runtime.log.error({ err: error.cause ?? error, request_id: client.requestId }, "a tRPC call failed");
      }
    },
  });
  response.headers.set("Content-Type", "application/json; charset=utf-8");
  return response;
};

/** The shape in which tRPC's client looks for errors; JSON-RPC's number for a request that is not valid. */
function refuse(
  code: "PAYLOAD_TOO_LARGE" | "BAD_REQUEST",
  status: number,
  headers: Record<string, string> = {},
): Reply {
  const message = "The request is not valid.";
  return json(status, { error: { message, code: -32600, data: { code, httpStatus: status } } }, { headers });
}
