import { useEffect, useRef, useState } from "react";
import type { FlowState } from "#server/flow/wire";
import {
  ceremonyOf,
  ceremonyToBegin,
  destinationOf,
  dropCeremony,
  problemOf,
  renewalDelay,
} from "./ceremonies.ts";
import type { Attempts, CeremonyContext, Step } from "./ceremony.ts";
import { type ProviderReturn, tidyAddress } from "./provider-return.ts";
import type { Flow } from "./use-flow.ts";

export interface CeremonyControls {
  /** False until the state on show is known to be the current one. */
  ready: boolean;
  /** What the person brought back from an identity provider; null once it was used. */
  arrival: ProviderReturn | null;
  /** Says that it was used. */
  arrived(): void;
  /** The person has yet to put away what is shown only once, so the page stays. */
  held: boolean;
  /** What stands before every address of this service: nothing, or `/t/{tenant}`. */
  base: string;
  /** Leaves the page, for instance by `location.assign`. */
  navigate(url: string): void;
}

/**
 * Runs what only a browser can do in the state on show, drops it when the person does something else, and follows
 * redirects.
 *
 * @returns `beginAgain` begins the ceremony of the state on show again, on a person's wish, and `mayBeginAgain` tells
 *   whether there is one that was refused; `silent`: what is under way has nothing to show
 */
export function useCeremony(flow: Flow, { ready, arrival, arrived, held, base, navigate }: CeremonyControls) {
  const { state, busy, leaving, performed } = flow.view;
  const [askedFor, setAskedFor] = useState<FlowState | null>(null);
  const begun = useRef(new WeakSet<FlowState>());
  const attempts = useRef<Attempts>({ silent: false, tried: false, brought: null, renewals: 0 });
  const gone = useRef(false);
  const idle = ready && busy === null;
  const asked = askedFor === state;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const surroundings: CeremonyContext = {
      ...{ state, arrival, attempts: attempts.current, base },
      // A browser that kept this page while it was elsewhere shows it again when the person turns back.
      led: asked || (performed !== null && !gone.current),
      leave(url) {
        gone.current = true;
        navigate(url);
      },
      renew: flow.refresh,
    };
    const next = idle ? ceremonyToBegin(surroundings, asked) : null;
    if (!next || begun.current.has(state)) return;
    const { ceremony, material } = next;
    // The same state may come to rest once more, for instance after a step was not answered.
    if (ceremony.when === "at once") begun.current.add(state);
    const dropping = new AbortController();
    let over = false;
    const take = (step: Step | null) => {
      if (over) return;
      over = true;
      if (step) perform(flow, step, ceremony.unasked ?? false);
    };
    ceremony.perform(material, surroundings, dropping.signal).then(take, (error: unknown) => {
      const problem = problemOf(error);
      // Autofill that does not come about is nothing to bother anybody with.
      if (problem === null || ceremony.when === "beside") over = true;
      take({ action: "back", input: {}, ...(problem === null ? {} : { notice: problem }) });
    });
    return () => {
      if (over) return;
      over = true;
      begun.current.delete(state);
      dropping.abort();
      dropCeremony();
    };
  }, [state, idle, asked]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: an arrival is used or told once, by whatever state rests
  useEffect(() => {
    if (!idle || !arrival) return;
    tidyAddress();
    const ceremony = ceremonyOf(state);
    const awaited = ceremony?.action === "exchange_token";
    if (awaited ? performed === null : ceremony?.when === "at once") return;
    // Whoever comes back when nothing waits for them any more starts afresh, and is told so.
    if (!awaited) flow.tell("error" in arrival ? arrival.error : "page_renewed");
    arrived();
  }, [state, idle, arrival]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const ceremony = ready ? ceremonyOf(state) : null;
    const material =
      ceremony?.when === "beside" && ceremony.needs ? state.payload[ceremony.needs] : undefined;
    const delay = material === undefined ? null : renewalDelay(material);
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
    // What a ceremony does about a redirect is its own affair.
    const led = ceremonyOf(state)?.when === "at once" ? null : destinationOf(state, leaving);
    if (ready && !held && led) navigate(led.href);
  }, [state, leaving, ready, held, navigate]);

  const again = {
    ...{ state, arrival, attempts: attempts.current, base, led: true },
    ...{ leave: navigate, renew: flow.refresh },
  };
  return {
    mayBeginAgain:
      state.error !== undefined &&
      ceremonyOf(state)?.when === "at once" &&
      ceremonyToBegin(again, true) !== null,
    beginAgain() {
      begun.current.delete(state);
      setAskedFor(state);
    },
    silent: attempts.current.silent,
  };
}

/** A way back that the state does not offer is none; then there is only something to tell. */
function perform(flow: Flow, { action, input, notice }: Step, unasked: boolean): void {
  if (Object.hasOwn(flow.view.state.actions, action))
    void flow.act(action, input, { unasked, ...(notice === undefined ? {} : { notice }) });
  else if (notice !== undefined) flow.tell(notice);
}
