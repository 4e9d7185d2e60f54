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

/** Leads to another page. No identity provider can be framed, so that the whole window goes there, and on to the application. */
export function leaveFrame(url: string): void {
  const isOwn = new URL(url, location.href).origin === location.origin;
  const { top } = window;
  if (!top || isOwn) {
    location.assign(url);
    return;
  }
  try {
    // Of a page of another origin, nothing but this can be set.
    top.location.href = url;
  } catch {
    // Its frame may not lead the window away: what the provider says of frames is shown there.
    location.assign(url);
  }
}
