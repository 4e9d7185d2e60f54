import { type AuthenticatorRequest, findRequest } from "../../authenticator/requests.ts";
import { waitForAnswer } from "../../authenticator/wait-for-answer.ts";
import type { Handler, HandlerContext } from "../handler-context.ts";
import { json } from "../reply.ts";
import { admit } from "./caller.ts";
import { pageHeaders } from "./page-headers.ts";
import { pageResourceOf } from "./resource.ts";
import { awaitAnswer, brieflySeconds, readWait } from "./wait.ts";

/** Server-sent events (HTML standard, 9.2), for a page that waits for the phone. */

/** Proxies take a connection for dead on which nothing is said for a minute, some after less. */
const heartbeatMilliseconds = 15_000;

/** When a browser comes back after a stream has ended before the request has. */
const retryMilliseconds = 2_000;

const headers = {
  "Content-Type": "text/event-stream; charset=utf-8",
  // Neither kept, nor compressed, nor gathered on the way.
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
};

/**
 * `GET /authenticator/v1/uaf/requests/{id}/events`: one event `status` at once and one when the status changes, each
 * with what a page may know as data. To whoever does not ask for events, what there is to tell comes as JSON, at most
 * `wait` seconds later.
 */
export const eventsHandler: Handler = async (context) => {
  const admitted = await admit(context, "page");
  if ("rejection" in admitted) return admitted.rejection;
  const { request } = admitted;
  if (!/\btext\/event-stream\b/i.test(context.request.headers.get("accept") ?? "")) {
    const wait = readWait(context, 25);
    if ("rejection" in wait) return wait.rejection;
    const then = await awaitAnswer(context, request, wait.seconds);
    return json(200, pageResourceOf(context, then), { headers: pageHeaders(context) });
  }
  // A browser that has heard the last there is to hear comes back, and is told to stop (9.2.3).
  const heard = context.request.headers.get("last-event-id");
  if (request.status !== "PENDING" && heard === request.status) {
    return { status: 204, headers: pageHeaders(context) };
  }
  const isHead = context.request.method === "HEAD";
  return new Response(isHead ? null : statusEvents(context, request), {
    headers: { ...headers, ...pageHeaders(context) },
  });
};

/** The stream: ends with the request, with the connection, with the process, and briefly where none can last. */
function statusEvents(context: HandlerContext, request: AuthenticatorRequest): ReadableStream<Uint8Array> {
  const { runtime, tenant } = context;
  const gone = new AbortController();
  const ends = [context.request.signal, gone.signal];
  const signal = AbortSignal.any(
    runtime.closing ? ends : [...ends, AbortSignal.timeout(brieflySeconds * 1000)],
  );
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      const say = (text: string) => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const tell = (then: AuthenticatorRequest) =>
        say(`event: status\nid: ${then.status}\ndata: ${JSON.stringify(pageResourceOf(context, then))}\n\n`);
      const follow = async () => {
        say(`retry: ${retryMilliseconds}\n\n`);
        tell(request);
        if (request.status !== "PENDING") return;
        const heartbeat = setInterval(() => say(":\n\n"), heartbeatMilliseconds);
        try {
          if ((await waitForAnswer(runtime, tenant, request.id, signal)) !== "over") return;
          const found = await findRequest(runtime, tenant, request.id);
          if (found) tell(found.request);
        } finally {
          clearInterval(heartbeat);
        }
      };
      follow().then(
        () => gone.signal.aborted || controller.close(),
        (error: unknown) => {
          runtime.log.warn({ err: error, request_id: context.client.requestId }, "a stream broke off");
          if (!gone.signal.aborted) controller.error(error);
        },
      );
    },
    cancel: () => gone.abort(),
  });
}
