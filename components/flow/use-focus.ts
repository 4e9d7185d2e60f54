import { useEffect, useRef } from "react";
import type { Flow } from "./use-flow.ts";

/**
 * Moves the focus after an answer: to the first invalid field, else, in a new state or after a completed action,
 * to the first field or the title. A renewed state does not move the focus.
 */
export function useFocus(flow: Flow, live: boolean, done: boolean) {
  const section = useRef<HTMLElement>(null);
  const { turn, state } = flow.view;
  const last = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state's name belongs to the turn
  useEffect(() => {
    if (!live) return;
    const entered = last.current !== state.name;
    last.current = state.name;
    const wrong = section.current?.querySelector<HTMLElement>("[aria-invalid]");
    const first = section.current?.querySelector<HTMLElement>(
      ".stile-form-primary :is(input:not([type=hidden], [readonly]), select, textarea)",
    );
    const title = section.current?.querySelector<HTMLElement>(".stile-title");
    const there = section.current?.contains(document.activeElement);
    const target = wrong ?? ((entered && !there) || done ? (first ?? title) : null);
    target?.focus({ preventScroll: !wrong });
    if (wrong instanceof HTMLInputElement) wrong.select();
  }, [turn, live]);
  return section;
}
