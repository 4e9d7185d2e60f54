import type { FlowType } from "./flow-server.ts";

/**
 * Where the page of a flow begins.
 *
 * @param base what stands before every address of this service: nothing, or `/t/{tenant}`
 */
export function startOf(base: string, type: FlowType): string {
  return type === "profile" ? `${base}/account` : `${base || "/"}?flow=${type}`;
}

/**
 * Where people sign in to come back.
 *
 * @param back the absolute address of the page they come from; unknown where nothing was drawn on a server
 */
export function signInAt(base: string, back: unknown): string {
  const home = base || "/";
  return typeof back === "string" ? `${home}?redirect_to=${encodeURIComponent(back)}` : home;
}
