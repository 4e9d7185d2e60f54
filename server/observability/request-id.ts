import { randomUUID } from "node:crypto";

/**
 * The identifier that a request's answer and its log lines carry: the caller's own, where that is short and
 * harmless in a log, or a new one.
 *
 * @param header `X-Request-ID` of the request
 */
export function requestIdOf(header: string | string[] | null | undefined): string {
  return typeof header === "string" && /^[A-Za-z0-9._-]{8,64}$/.test(header) ? header : randomUUID();
}
