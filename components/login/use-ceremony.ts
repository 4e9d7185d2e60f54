import { useEffect, useRef, useState } from "react";
import type { FlowState } from "#server/flow/wire";
import { ceremonyToBegin, destinationOf, dropCeremony, problemOf, renewalDelay } from "./ceremonies.ts";
import type { Flow } from "./use-flow.ts";

/**
 * Runs what only a browser can do in the state on show, drops it when the person does something else, and follows
 * redirects.
 *
 * @param ready false until the state on show is known to be the current one
 * @param navigate leaves the page, for instance by `location.assign`
 * @returns begins the ceremony of the state on show again, on a person's wish
 */
export function useCeremony(flow: Flow, ready: boolean, navigate: (url: string) => void): () => void {
  const { state, busy, leaving } = flow.view;
  const [askedFor, setAskedFor] = useState<FlowState | null>(null);
  const begun = useRef(new WeakSet<FlowState>());
  const idle = ready && busy === null;
  const asked = askedFor === state;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const next = idle ? ceremonyToBegin(state, asked) : null;
    if (!next || begun.current.has(state)) return;
    const { ceremony, material } = next;
    // The same state may come to rest once more, for instance after a step was not answered.
    if (ceremony.when === "at once") begun.current.add(state);
    let over = false;
    ceremony.perform(material).then(
      (input) => {
        if (over) return;
        over = true;
        void flow.act(ceremony.action, input, { unasked: !ceremony.needs });
      },
      (error: unknown) => {
        if (over) return;
        over = true;
        const problem = problemOf(error);
        // Autofill that does not come about is nothing to bother anybody with.
        if (problem !== null && ceremony.when === "at once") void flow.act("back", {}, { notice: problem });
      },
    );
    return () => {
      if (over) return;
      over = true;
      begun.current.delete(state);
      dropCeremony();
    };
  }, [state, idle, asked]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const next = ready ? ceremonyToBegin(state, false) : null;
    const delay = next?.ceremony.when === "beside" ? renewalDelay(next.material) : null;
    if (delay === null) return;
    const due = Date.now() + delay;
    const renew = () => {
      // Nobody looks at a hidden page; it is renewed when somebody does again.
      if (document.visibilityState === "visible" && Date.now() >= due) void flow.refresh();
    };
    const timer = setInterval(renew, Math.max(delay / 9, 1000));
    document.addEventListener("visibilitychange", renew);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", renew);
    };
  }, [state, ready]);

  useEffect(() => {
    const destination = ready ? destinationOf(state, leaving) : null;
    if (destination) navigate(destination.href);
  }, [state, leaving, ready, navigate]);

  return () => {
    begun.current.delete(state);
    setAskedFor(state);
  };
}
