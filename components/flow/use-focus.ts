import { useEffect, useRef } from "react";
import type { Flow } from "./use-flow.ts";

/**
 * Moves the focus after an answer: to the first invalid field, else, in a new state or after a completed action,
 * to the first field or the title. A renewed state does not move the focus, and neither do scripts that arrive after the
 * user has begun. Whatever has the focus, a message, else the title of a new state, is scrolled into view.
 */
export function useFocus(flow: Flow, live: boolean, done: boolean) {
  const section = useRef<HTMLElement>(null);
  const { answerCount, state } = flow.view;
  const lastName = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect runs once for each answer
  useEffect(() => {
    if (!live) return;
    const isArrival = lastName.current === null;
    // A frame takes no focus from the page that holds it.
    const isElsewhere = window.parent !== window && !document.hasFocus();
    const hasBegun =
      isArrival && (isElsewhere || (document.activeElement ?? document.body) !== document.body);
    const isNewState = lastName.current !== state.name && !hasBegun;
    lastName.current = state.name;
    const invalid = section.current?.querySelector<HTMLElement>("[aria-invalid]");
    const first = section.current?.querySelector<HTMLElement>(
      ".stile-form-primary :is(input:not([type=hidden], [readonly]), select, textarea)",
    );
    const title = section.current?.querySelector<HTMLElement>(".stile-title");
    const hasFocus = section.current?.contains(document.activeElement);
    const target = invalid ?? ((isNewState && !hasFocus) || done ? (first ?? title) : null);
    target?.focus({ preventScroll: !invalid });
    if (invalid instanceof HTMLInputElement) invalid.select();
  }, [answerCount, live]);

  const { notice } = flow.view;
  const isShown = useRef(false);
  useEffect(() => {
    if (!live) return;
    const title = isShown.current ? null : section.current?.querySelector(".stile-title");
    isShown.current = true;
    // A page that has just been loaded is where its reader left it.
    if (answerCount === 0 && notice === null) return;
    (section.current?.querySelector(".stile-alert") ?? title)?.scrollIntoView?.({ block: "nearest" });
  }, [answerCount, notice, live]);
  return section;
}
