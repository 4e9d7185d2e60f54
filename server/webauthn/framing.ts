import type { ClientData } from "./responses.ts";

/** The pages of other origins in whose frames a ceremony may take place. */
export interface Framing {
  /** Origins of top-level pages that may hold the frame. */
  topOrigins: readonly string[];
  /** The origin of the page in whose frame the flow was started; null for a flow of a top-level page. */
  startedIn: string | null;
}

/** A ceremony of a top-level page. */
export const noFraming: Framing = { topOrigins: [], startedIn: null };

/**
 * Whether the frame that the client data tell of is accepted (WebAuthn Level 3 sections 7.1, steps 10 and 11, and 7.2,
 * steps 13 and 14). Safari does not name the top-level page: without `topOrigin`, the frame is accepted in a flow that
 * was started in a frame of an accepted page, which `frame-ancestors` has let in.
 */
export function isAcceptedFraming(
  { crossOrigin = false, topOrigin }: ClientData,
  { topOrigins, startedIn }: Framing,
): boolean {
  if (topOrigin !== undefined) return crossOrigin && topOrigins.includes(topOrigin);
  return !crossOrigin || (startedIn !== null && topOrigins.includes(startedIn));
}
