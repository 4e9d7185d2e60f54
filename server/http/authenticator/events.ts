import { type AuthenticatorRequest, findRequest } from "../../authenticator/requests.ts";
import { waitForAnswer } from "../../authenticator/wait-for-answer.ts";
import { json } from "../answer/reply.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { type Admitted, requireCaller } from "./caller.ts";
import { pageHeaders } from "./page-headers.ts";
import { statusOf } from "./resource.ts";
import { awaitAnswer, readWait, SERVERLESS_WAIT_SECONDS, waitingSource } from "./wait.ts";

/** Server-sent events (HTML standard, 9.2) for a page that waits for the answer. */

/** Proxies close connections that are silent for a minute, some sooner. */
const HEARTBEAT_INTERVAL_MS = 15_000;

/** Delay after which a browser reconnects if the stream ends before the request. */
const RETRY_DELAY_MS = 2_000;

const headers = {
  "Content-Type": "text/event-stream; charset=utf-8",
  // Proxies must not cache, compress or buffer the stream.
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
};

/**
 * `GET /authenticator/v1/uaf/requests/{id}/events`: one event `status` at once, and one when the status changes, with the
 * page's view of the request as data. A caller that does not accept events gets JSON, after at most `wait` seconds.
 */
export const eventsHandler = requireCaller(["page"], async (context, admitted) => {
  const { request } = admitted;
  if (!/\btext\/event-stream\b/i.test(context.request.headers.get("accept") ?? "")) {
    const wait = readWait(context, 25);
    if (!wait.ok) return wait.reply;
    const then = await awaitAnswer(context, admitted, wait.seconds);
    return json(200, statusOf(then), { headers: pageHeaders(context) });
  }
  // The browser reconnects after the last event; 204 makes it stop (9.2.3).
  const lastEventId = context.request.headers.get("last-event-id");
  if (request.status !== "PENDING" && lastEventId === request.status) {
    return { status: 204, headers: pageHeaders(context) };
  }
  const isHead = context.request.method === "HEAD";
  return new Response(isHead ? null : statusEvents(context, admitted), {
    headers: { ...headers, ...pageHeaders(context) },
  });
});

/** The stream ends with the request, the connection or the process; on serverless platforms after a few seconds. */
function statusEvents(context: HandlerContext, { caller, request }: Admitted): ReadableStream<Uint8Array> {
  const { runtime, tenant } = context;
  const closed = new AbortController();
  const ends = [context.request.signal, closed.signal];
  const signal = AbortSignal.any(
    runtime.closing ? ends : [...ends, AbortSignal.timeout(SERVERLESS_WAIT_SECONDS * 1000)],
  );
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      const send = (text: string) => {
        if (!closed.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const sendStatus = (then: AuthenticatorRequest) =>
        send(`event: status\nid: ${then.status}\ndata: ${JSON.stringify(statusOf(then))}\n\n`);
      const follow = async () => {
        send(`retry: ${RETRY_DELAY_MS}\n\n`);
        sendStatus(request);
        if (request.status !== "PENDING") return;
        const heartbeat = setInterval(() => send(":\n\n"), HEARTBEAT_INTERVAL_MS);
        try {
          const source = waitingSource(context, caller);
          if ((await waitForAnswer(runtime, tenant, request.id, signal, source)) !== "ended") return;
          const found = await findRequest(runtime, tenant, request.id);
          if (found) sendStatus(found.request);
        } finally {
          clearInterval(heartbeat);
        }
      };
      follow().then(
        () => closed.signal.aborted || controller.close(),
        (error: unknown) => {
          runtime.log.warn({ err: error, request_id: context.client.requestId }, "an event stream failed");
          if (!closed.signal.aborted) controller.error(error);
        },
      );
    },
    cancel: () => closed.abort(),
  });
}
