import { type AuthenticatorRequest, findRequest } from "../../authenticator/requests.ts";
import { waitForAnswer } from "../../authenticator/wait-for-answer.ts";
import type { Reply } from "../answer/reply.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import type { Admitted, Caller } from "./caller.ts";
import { authenticatorError } from "./error.ts";

/** Long polling. */

/** Shorter than the timeouts of proxies; on serverless platforms, shorter still. */
const MAX_WAIT_SECONDS = 25;
export const SERVERLESS_WAIT_SECONDS = 5;

/**
 * Reads `wait`, whole seconds, reduced to the maximum.
 *
 * @param otherwise if it is absent
 */
export function readWait(
  { url, runtime }: HandlerContext,
  otherwise: number,
): { ok: true; seconds: number } | { ok: false; reply: Reply } {
  const [wait = String(otherwise), ...others] = url.searchParams.getAll("wait");
  if (!/^\d{1,6}$/.test(wait) || others.length > 0)
    return { ok: false, reply: authenticatorError(400, "wait must be a whole number of seconds.") };
  return {
    ok: true,
    seconds: Math.min(Number(wait), runtime.closing ? MAX_WAIT_SECONDS : SERVERLESS_WAIT_SECONDS),
  };
}

/** Whose waits are counted together; see `waitForAnswer`. */
export function waitingSource({ client }: HandlerContext, caller: Caller): string | null {
  return caller === "application" ? null : client.source;
}

/**
 * Waits until a request ends, for at most so many seconds.
 *
 * @returns the current request; at once if there are too many waits
 */
export async function awaitAnswer(
  context: HandlerContext,
  { caller, request }: Admitted,
  seconds: number,
): Promise<AuthenticatorRequest> {
  const { runtime, tenant, request: asked } = context;
  if (seconds === 0 || request.status !== "PENDING" || asked.method === "HEAD") return request;
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(seconds * 1000)]);
  if (!(await waitForAnswer(runtime, tenant, request.id, signal, waitingSource(context, caller))))
    return request;
  return (await findRequest(runtime, tenant, request.id))?.request ?? request;
}
