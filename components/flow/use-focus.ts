import { useEffect, useRef } from "react";
import type { Flow } from "./use-flow.ts";

/**
 * Puts the focus where the person goes on: on what is wrong, else, in a new state or when a step is done, on the
 * first field or on the title. Nothing moves when a state was only renewed.
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
