import type { FlowType } from "./flow-server.ts";

/**
 * The address of the page of a flow.
 *
 * @param base the prefix of every address of this service: empty, or `/t/{tenant}`
 */
export function startOf(base: string, type: FlowType): string {
  return type === "profile" ? `${base}/account` : `${base || "/"}?flow=${type}`;
}

/**
 * The address of the sign-in page that redirects back.
 *
 * @param back the absolute address to return to; not a string where the page does not know its address
 */
export function signInAt(base: string, back: unknown): string {
  const home = base || "/";
  return typeof back === "string" ? `${home}?redirect_to=${encodeURIComponent(back)}` : home;
}
