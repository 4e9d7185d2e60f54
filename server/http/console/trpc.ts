import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { parseJson } from "../../lib/strict-json.ts";
import { plainError } from "../answer/reply.ts";
import { MAX_BODY_BYTES, readText } from "../request/body.ts";
import type { Handler } from "../table/handler-context.ts";
import { consoleRouter } from "./router.ts";
import { isOfConsole } from "./sign-in.ts";
import { presentedVisitor } from "./visitor.ts";

export const CONSOLE_TRPC = "/api/console/trpc";

/** Calls that one request may carry. */
const MAX_BATCH = 20;

/** A file of users in pieces is the largest input. */
const MAX_BYTES = 1024 * 1024;

/**
 * `POST /api/console/trpc/{procedure}`: queries too are posted, so that what is searched for is in no log, and no link calls
 * them. Only pages of the same origin reach this handler (`Sec-Fetch-Site`, `Origin`), and the cookie is `SameSite=Strict`.
 */
export const consoleTrpcHandler: Handler = async (context) => {
  const { request, runtime, client, cookies, url } = context;
  if (!isOfConsole(context)) return plainError(404, "Not found.");
  const visitor = presentedVisitor(runtime, cookies);
  // A failure is told by the calls.
  const isSignedIn = await visitor.then(Boolean, () => false);
  const body = await readText(request, "application/json", isSignedIn ? MAX_BYTES : MAX_BODY_BYTES);
  if (!body.ok && body.reason === "too_large")
    return plainError(413, "The body is too large.", { Connection: "close" });
  if (!body.ok || (body.value !== "" && parseJson(body.value) === undefined))
    return plainError(400, "The body must be JSON.");
  return fetchRequestHandler({
    endpoint: CONSOLE_TRPC,
    router: consoleRouter,
    allowMethodOverride: true,
    maxBatchSize: MAX_BATCH,
    req: new Request(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: body.value === "" ? null : body.value,
    }),
    createContext: () => ({ request: context, visitor: () => visitor }),
    onError({ error }) {
      if (error.code === "INTERNAL_SERVER_ERROR")
        runtime.log.error(
          { err: error.cause ?? error, request_id: client.requestId },
          "a call of the console failed",
        );
    },
  });
};
