import { type AuthenticatorRequest, findRequest } from "../../authenticator/requests.ts";
import { waitForAnswer } from "../../authenticator/wait-for-answer.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { Reply } from "../reply.ts";
import { authenticatorError } from "./error.ts";

/** Long polling: an answer that comes when there is something to tell. */

/** Shorter than what proxies allow; where no connection can last, shorter still. */
const longestSeconds = 25;
export const brieflySeconds = 5;

/**
 * Reads `wait`, whole seconds; more than there may be is as many as there may be.
 *
 * @param otherwise where it is left out
 */
export function readWait(
  { url, runtime }: HandlerContext,
  otherwise: number,
): { seconds: number } | { rejection: Reply } {
  const [wait = String(otherwise), ...others] = url.searchParams.getAll("wait");
  if (!/^\d{1,6}$/.test(wait) || others.length > 0)
    return { rejection: authenticatorError(400, "wait must be a whole number of seconds.") };
  return { seconds: Math.min(Number(wait), runtime.closing ? longestSeconds : brieflySeconds) };
}

/**
 * Waits so long for a request to be answered, or to run out.
 *
 * @returns it as it stands then, which is at once where too many wait already
 */
export async function awaitAnswer(
  { runtime, tenant, request: asked }: HandlerContext,
  request: AuthenticatorRequest,
  seconds: number,
): Promise<AuthenticatorRequest> {
  if (seconds === 0 || request.status !== "PENDING" || asked.method === "HEAD") return request;
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(seconds * 1000)]);
  if (!(await waitForAnswer(runtime, tenant, request.id, signal))) return request;
  return (await findRequest(runtime, tenant, request.id))?.request ?? request;
}
