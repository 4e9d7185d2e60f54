import { after } from "next/server";
import { requestIdOf } from "../observability/request-id.ts";
import { currentRuntime } from "../runtime-slot.ts";
import { handle } from "./dispatch.ts";
import { notedPeer, notePeers } from "./peer.ts";

/** Every method that a route file of Next can export. */
type Methods = Record<
  "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS",
  (request: Request) => Promise<Response>
>;

/** Jobs that are done after an answer: those of the step it told of, and a few that were left over. */
const JOBS_AFTER_ANSWER = 5;

/** No worker lives on between requests here, so each request that may have made work does some. */
async function doDueJobs(): Promise<void> {
  const { jobs, log } = currentRuntime();
  try {
    await jobs.runDue(JOBS_AFTER_ANSWER);
  } catch (error) {
    log.error({ err: error }, "due jobs could not be done");
  }
}

/**
 * The exports of a route file of Next, for `next start` and for serverless platforms. Whatever the file's address,
 * requests go through the same table as under `npm start`, which also refuses the methods it does not know.
 */
export function route(): Methods {
  notePeers();
  const answer = async (request: Request): Promise<Response> => {
    const requestId = requestIdOf(request.headers.get("x-request-id"));
    const response = await handle(request, { peer: notedPeer(request.headers), requestId });
    if (request.method === "POST") after(doDueJobs);
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
