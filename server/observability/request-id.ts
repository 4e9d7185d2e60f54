import { randomUUID } from "node:crypto";

/**
 * Returns the identifier for the response and the log lines of a request: that of the caller if it has 8 to 64 safe
 * characters, else that of its trace, else a new one.
 *
 * @param header `X-Request-ID` of the request
 */
export function requestIdOf(header: string | string[] | null | undefined, traceId?: string): string {
  const isGiven = typeof header === "string" && /^[A-Za-z0-9._-]{8,64}$/.test(header);
  return isGiven ? header : (traceId ?? randomUUID());
}
