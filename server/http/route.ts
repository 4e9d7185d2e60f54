import { setImmediate as turn } from "node:timers/promises";
import { after } from "next/server";
import { levelOf, loggedFields } from "../observability/access-fields.ts";
import { requestIdOf } from "../observability/request-id.ts";
import { beginRequest } from "../observability/requests.ts";
import { currentRuntime } from "../runtime-slot.ts";
import { loggablePath, serves } from "./addresses.ts";
import type { Reply } from "./answer/reply.ts";
import { sendReply } from "./answer/send-reply.ts";
import { toResponse } from "./answer/to-response.ts";
import { type ConnectionInfo, dispatch, handle } from "./dispatch.ts";
import { sourceOf } from "./request/client-address.ts";
import {
  type NodeMessages,
  recordedPeer,
  recordMessages,
  untouchedMessages,
} from "./request/node-messages.ts";
import { NodeRequest } from "./request/node-request.ts";
import { requestAddress } from "./request/request-address.ts";

/** Answers requests outside the API. */
type Pages = (request: Request, info: { address: string; requestId: string }) => Promise<Response>;

/** The methods that a route file of Next can export. */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

type Methods = Record<(typeof methods)[number], (request: Request) => Promise<Response>>;

/** Number of jobs run after a response: those of the request, and a few earlier ones. */
const MAX_JOBS_AFTER_RESPONSE = 5;

/** The same of attempts to deliver an event. */
const MAX_DELIVERIES_AFTER_RESPONSE = 20;

/** Characters of a path in a log line. */
const MAX_LOGGED_PATH_LENGTH = 200;

/** Time between two purges of a process. The first one is due as long after its start. */
const PURGE_INTERVAL_MS = 10 * 60_000;

/** Time between two searches for work that no request of this process has caused, such as retries. */
const SEARCH_INTERVAL_MS = 2_000;

let purgedAt = performance.now();
let searchedAt = Number.NEGATIVE_INFINITY;

/** The work to look for after a request: what it caused, and now and then whatever is due. Null for none. */
function dueWork(method: string): "all" | "woken" | null {
  const { jobs, webhooks, recorder, standing } = currentRuntime();
  if (standing.outgrownBy !== null) return null;
  const now = performance.now();
  if (method === "POST" && now - searchedAt >= SEARCH_INTERVAL_MS) {
    searchedAt = now;
    return "all";
  }
  return jobs.isWoken() || webhooks.isWoken() || recorder.isWaiting() ? "woken" : null;
}

/** Runs due work within a request, and now and then a purge, since no worker runs between requests. */
async function runDueWork(which: "all" | "woken"): Promise<void> {
  const { jobs, webhooks, recorder, log, purgeExpired } = currentRuntime();
  try {
    await Promise.all([
      recorder.flush(),
      jobs.runDue(MAX_JOBS_AFTER_RESPONSE, which),
      which === "all" || webhooks.isWoken() ? webhooks.runDue(MAX_DELIVERIES_AFTER_RESPONSE) : 0,
    ]);
    if (performance.now() - purgedAt < PURGE_INTERVAL_MS) return;
    purgedAt = performance.now();
    await purgeExpired();
  } catch (error) {
    log.error({ err: error }, "running due jobs failed");
  }
}

/** Writes the line of a request, as `npm start` does. */
function logRequest(
  request: Request,
  { address, requestId, accessFields }: Required<ConnectionInfo>,
  status: number,
  startedAt: number,
): void {
  const runtime = currentRuntime();
  const { pathname } = new URL(request.url);
  runtime.log[levelOf(accessFields)]({
    request_id: requestId,
    method: request.method,
    path: loggablePath(request.method, pathname).slice(0, MAX_LOGGED_PATH_LENGTH),
    status,
    duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
    source: sourceOf(address),
    ...loggedFields(accessFields),
  });
}

/**
 * Sends a reply as `npm start` does. What Next would make of it costs more than most requests: a stream of the body, two
 * writes, chunks instead of a length.
 *
 * @returns a response of which nothing is left to send
 */
async function sendItself({ outgoing }: NodeMessages, reply: Reply): Promise<Response> {
  // A client that has gone needs no answer.
  if (!outgoing.destroyed) sendReply(outgoing, reply);
  // Next ends the answer as soon as it has the response. `sendReply` has written it by then.
  await turn();
  return new Response(null);
}

/**
 * The exports of a route file of Next, for `next start` and for serverless platforms. Whatever file Next chooses, a
 * request is answered by the same table and the same pages as under `npm start`.
 *
 * @param address of the file; see `serves`
 * @throws Error, which fails the build, if the service has no such address
 */
export function route(address: string, answerPage: Pages): Methods {
  if (!serves(address)) throw new Error(`the service has no address ${address}, so no route file serves it`);
  recordMessages();
  const respond = async (request: Request): Promise<Response> => {
    const observed = beginRequest(request.method, (name) => request.headers.get(name) ?? undefined);
    const requestId = requestIdOf(request.headers.get("x-request-id"), observed.traceId);
    const peer = recordedPeer(request.headers);
    const startedAt = performance.now();
    const messages = untouchedMessages(request.headers);
    const address = requestAddress(currentRuntime(), request.headers, peer);
    const info = { peer, address, requestId, accessFields: {} };
    const answering = async () => {
      const answered = messages
        ? await dispatch(new NodeRequest(messages.incoming, messages.outgoing, new URL(request.url)), info)
        : await handle(request, info);
      return answered ?? (await answerPage(request, info));
    };
    const answer = await observed.run(answering).catch((error: unknown) => {
      observed.end(500, info.accessFields);
      throw error;
    });
    logRequest(request, info, answer.status, startedAt);
    observed.end(answer.status, info.accessFields);
    const due = dueWork(request.method);
    if (due) after(() => runDueWork(due));
    const { counters, standing, telemetry } = currentRuntime();
    if (standing.outgrownBy === null && counters.isDue()) after(() => counters.flush());
    // The platform may suspend the process between requests.
    if (telemetry) after(() => telemetry.flush());
    if (!messages || answer instanceof Response) return toResponse(answer);
    return sendItself(messages, answer);
  };
  return Object.fromEntries(methods.map((method) => [method, respond])) as Methods;
}
