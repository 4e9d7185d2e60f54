import { useEffect } from "react";
import type { FlowState } from "./embedding.ts";
import { recordOf } from "./payload-readers.ts";

/**
 * Loads the page again where it comes to ask about another client than it was loaded with: in a frame, the headers of the
 * page decide who may hold the question.
 *
 * @param first the state that the page was loaded with
 * @returns whether the page is being loaded again and must not show the question
 */
export function useOwnQuestion(state: FlowState, first: FlowState): boolean {
  const client = askingClient(state);
  const isOther = client !== undefined && client !== askingClient(first) && window.parent !== window;
  useEffect(() => {
    if (isOther) location.reload();
  }, [isOther]);
  return isOther;
}

const askingClient = ({ payload }: FlowState) => recordOf(recordOf(payload.authorization).client).id;

/** Leads the whole window to another page, out of a frame; the frame alone where that may not lead its window away. */
export function leaveWindow(url: string): void {
  try {
    // Of a page of another origin, nothing but this can be set.
    (window.top ?? window).location.href = url;
  } catch {
    location.assign(url);
  }
}

/** Leads to another page. No identity provider can be framed, so that the whole window goes there, and on to the application. */
export function leaveFrame(url: string): void {
  const isOwn = new URL(url, location.href).origin === location.origin;
  if (isOwn) location.assign(url);
  else leaveWindow(url);
}
