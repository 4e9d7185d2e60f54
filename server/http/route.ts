import { after } from "next/server";
import { requestIdOf } from "../observability/request-id.ts";
import { currentRuntime } from "../runtime-slot.ts";
import { handle } from "./dispatch.ts";
import { recordedPeer, recordPeers } from "./peer.ts";

/** The methods that a route file of Next can export. */
type Methods = Record<
  "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS",
  (request: Request) => Promise<Response>
>;

/** Number of jobs run after a response: those of the request, and a few earlier ones. */
const MAX_JOBS_AFTER_RESPONSE = 5;

/** Runs due jobs within a request, since no worker runs between requests. */
async function runDueJobs(): Promise<void> {
  const { jobs, log } = currentRuntime();
  try {
    await jobs.runDue(MAX_JOBS_AFTER_RESPONSE);
  } catch (error) {
    log.error({ err: error }, "running due jobs failed");
  }
}

/**
 * The exports of a route file of Next, for `next start` and for serverless platforms. Every route file passes its
 * requests to the same table as `npm start`, which also rejects methods that an address does not have.
 */
export function route(): Methods {
  recordPeers();
  const respond = async (request: Request): Promise<Response> => {
    const requestId = requestIdOf(request.headers.get("x-request-id"));
    const response = await handle(request, { peer: recordedPeer(request.headers), requestId });
    if (request.method === "POST") after(runDueJobs);
    return response ?? new Response(null, { status: 404 });
  };
  return {
    GET: respond,
    HEAD: respond,
    POST: respond,
    PUT: respond,
    PATCH: respond,
    DELETE: respond,
    OPTIONS: respond,
  };
}
