import { useEffect, useRef, useState } from "react";
import type { FlowState } from "#server/flow/wire";
import {
  ceremonyErrorOf,
  ceremonyOf,
  ceremonyToBegin,
  destinationOf,
  dropCeremony,
  renewalDelay,
} from "./ceremonies.ts";
import type { Attempts, CeremonyContext, Step } from "./ceremony.ts";
import { type ProviderReturn, tidyAddress } from "./provider-return.ts";
import type { Flow } from "./use-flow.ts";

export interface CeremonyControls {
  /** False until the state is known to be current. */
  ready: boolean;
  /** The result of an identity provider; null once it was used. */
  providerReturn: ProviderReturn | null;
  /** Reports that `providerReturn` was used. */
  onReturnUsed(): void;
  /** Recovery codes are not yet saved, so the page does not redirect. */
  unsavedCodes: boolean;
  /** The prefix of every address of this service: empty, or `/t/{tenant}`. */
  base: string;
  /** Navigates to another page, for instance by `location.assign`. */
  navigate(url: string): void;
}

/**
 * Runs the ceremony of the current state, aborts it when the user performs another action, and follows redirects.
 *
 * @returns `beginAgain` retries a ceremony; `mayBeginAgain`: whether one can be retried; `silent`: the ceremony in
 *   progress has nothing to show
 */
export function useCeremony(
  flow: Flow,
  { ready, providerReturn, onReturnUsed, unsavedCodes, base, navigate }: CeremonyControls,
) {
  const { state, busy, leaving, performed } = flow.view;
  const [askedFor, setAskedFor] = useState<FlowState | null>(null);
  const begun = useRef(new WeakSet<FlowState>());
  const attempts = useRef<Attempts>({ silent: false, tried: false, submitted: null, renewals: 0 });
  const gone = useRef(false);
  const idle = ready && busy === null;
  const asked = askedFor === state;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const context: CeremonyContext = {
      ...{ state, providerReturn, attempts: attempts.current, base },
      // The browser may show a cached copy of this page when the user navigates back.
      userInitiated: asked || (performed !== null && !gone.current),
      leave(url) {
        gone.current = true;
        navigate(url);
      },
      renew: flow.refresh,
    };
    const next = idle ? ceremonyToBegin(context, asked) : null;
    if (!next || begun.current.has(state)) return;
    const { ceremony, material } = next;
    // The same state can become idle again, for instance after a step without an answer.
    if (ceremony.mode === "blocking") begun.current.add(state);
    const dropping = new AbortController();
    let over = false;
    const take = (step: Step | null) => {
      if (over) return;
      over = true;
      if (step) perform(flow, step, ceremony.automatic ?? false);
    };
    ceremony.perform(material, context, dropping.signal).then(take, (error: unknown) => {
      const problem = ceremonyErrorOf(error);
      // A failure of autofill is not shown.
      if (problem === null || ceremony.mode === "background") over = true;
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: a provider return is used or reported once, by the first idle state
  useEffect(() => {
    if (!idle || !providerReturn) return;
    tidyAddress();
    const ceremony = ceremonyOf(state);
    const awaited = ceremony?.action === "exchange_token";
    if (awaited ? performed === null : ceremony?.mode === "blocking") return;
    // A return that no flow is waiting for starts a new flow and shows a notice.
    if (!awaited) flow.tell("error" in providerReturn ? providerReturn.error : "page_renewed");
    onReturnUsed();
  }, [state, idle, providerReturn]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const ceremony = ready ? ceremonyOf(state) : null;
    const material =
      ceremony?.mode === "background" && ceremony.needs ? state.payload[ceremony.needs] : undefined;
    const delay = material === undefined ? null : renewalDelay(material);
    if (delay === null) return;
    const due = Date.now() + delay;
    const renew = () => {
      // A hidden page is renewed when it becomes visible.
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
    // A blocking ceremony handles its redirect itself.
    const userInitiated = ceremonyOf(state)?.mode === "blocking" ? null : destinationOf(state, leaving);
    if (ready && !unsavedCodes && userInitiated) navigate(userInitiated.href);
  }, [state, leaving, ready, unsavedCodes, navigate]);

  const again = {
    ...{ state, providerReturn, attempts: attempts.current, base, userInitiated: true },
    ...{ leave: navigate, renew: flow.refresh },
  };
  return {
    mayBeginAgain:
      state.error !== undefined &&
      ceremonyOf(state)?.mode === "blocking" &&
      ceremonyToBegin(again, true) !== null,
    beginAgain() {
      begun.current.delete(state);
      setAskedFor(state);
    },
    silent: attempts.current.silent,
  };
}

/** Performs the step if the state offers the action; otherwise shows only the notice. */
function perform(flow: Flow, { action, input, notice }: Step, automatic: boolean): void {
  if (Object.hasOwn(flow.view.state.actions, action))
    void flow.act(action, input, { automatic, ...(notice === undefined ? {} : { notice }) });
  else if (notice !== undefined) flow.tell(notice);
}
