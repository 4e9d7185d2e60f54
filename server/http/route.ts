import { requestIdOf } from "../observability/request-id.ts";
import { handle } from "./dispatch.ts";
import { notedPeer, notePeers } from "./peer.ts";

/** Every method that a route file of Next can export. */
type Methods = Record<
  "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS",
  (request: Request) => Promise<Response>
>;

/**
 * The exports of a route file of Next, for `next start` and for serverless platforms. Whatever the file's address,
 * requests go through the same table as under `npm start`, which also refuses the methods it does not know.
 */
export function route(): Methods {
  notePeers();
  const answer = async (request: Request): Promise<Response> => {
    const requestId = requestIdOf(request.headers.get("x-request-id"));
    const response = await handle(request, { peer: notedPeer(request.headers), requestId });
    return response ?? new Response(null, { status: 404 });
  };
  return {
    GET: answer,
    HEAD: answer,
    POST: answer,
    PUT: answer,
    PATCH: answer,
    DELETE: answer,
    OPTIONS: answer,
  };
}
