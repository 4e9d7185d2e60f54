import { useEffect, useRef, useState } from "react";
import type { FlowState } from "#server/flow/wire";
import {
  canRetry,
  ceremonyOf,
  ceremonyToBegin,
  destinationOf,
  isReplaced,
  lacksOptions,
  prompt,
  renewalDelay,
} from "./ceremonies.ts";
import type { Attempts, CeremonyContext, Step } from "./ceremony.ts";
import { ceremonyErrorOf } from "./ceremony-error.ts";
import { type ProviderReturn, removeReturnParameters } from "./provider-return.ts";
import type { Flow } from "./use-flow.ts";

export interface CeremonyControls {
  /** Whether the state is known to be current. */
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
 * @returns `act`: performs an action, or prompts in its place; `beginAgain` retries a ceremony; `mayBeginAgain`: whether one
 *   can be retried; `silent`: the ceremony in progress has nothing to show
 */
export function useCeremony(
  flow: Flow,
  { ready, providerReturn, onReturnUsed, unsavedCodes, base, navigate }: CeremonyControls,
) {
  const { version, state, busy, redirectTo, performed } = flow.view;
  const [request, setRequest] = useState<{ state: FlowState; times: number } | null>(null);
  const startedStates = useRef(new WeakSet<FlowState>());
  const attempts = useRef<Attempts>({ silent: false, tried: false, submitted: null, renewals: 0 });
  const hasLeft = useRef(false);
  const prompting = useRef<AbortController | null>(null);
  /** Prompts that have ended. */
  const [prompts, setPrompts] = useState(0);
  /** When the challenge of the state is to be renewed. */
  const expires = useRef(Number.POSITIVE_INFINITY);
  const returnSubmitted = useRef(false);
  const idle = ready && busy === null;
  // Counts the requests, because each of them begins the ceremony of the same state again.
  const requested = request?.state === state ? request.times : 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    // The token was accepted, and the action performed after it leads to a provider again.
    const returnTaken = returnSubmitted.current && state.payload.performed_action !== undefined;
    const context: CeremonyContext = {
      state,
      providerReturn: returnTaken ? null : providerReturn,
      attempts: attempts.current,
      base,
      // The browser may show a cached copy of this page when the user navigates back.
      userInitiated: requested > 0 || (performed !== null && !hasLeft.current),
      leave(url) {
        hasLeft.current = true;
        navigate(url);
      },
      renew: flow.refresh,
    };
    // Autofill would end a prompt.
    const next = idle && !prompting.current ? ceremonyToBegin(context, requested > 0) : null;
    if (!next || startedStates.current.has(state)) return;
    const { ceremony, options } = next;
    // The same state can become idle again, for instance after a step without an answer.
    if (ceremony.mode === "blocking") startedStates.current.add(state);
    const controller = new AbortController();
    let settled = false;
    const finish = (step: Step | null) => {
      if (settled) return;
      settled = true;
      if (step && providerReturn && ceremony.action === "exchange_token") returnSubmitted.current = true;
      if (step) perform(flow, step, ceremony.automatic ?? false);
    };
    ceremony.perform(options, context, controller.signal).then(finish, (error: unknown) => {
      const errorCode = ceremonyErrorOf(error);
      // A failure of autofill is not shown.
      if (errorCode === null || ceremony.mode === "background") settled = true;
      finish({ action: "back", input: {}, notice: errorCode ?? undefined });
    });
    return () => {
      if (settled) return;
      settled = true;
      startedStates.current.delete(state);
      controller.abort();
    };
  }, [state, idle, requested, prompts]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a provider return is used or reported once, by the first idle state
  useEffect(() => {
    if (!idle || !providerReturn) return;
    removeReturnParameters();
    const ceremony = ceremonyOf(state);
    const isAwaited = ceremony?.action === "exchange_token";
    if (!returnSubmitted.current && (isAwaited || ceremony?.mode === "blocking")) return;
    // No flow is waiting for the return.
    if (!returnSubmitted.current)
      flow.showNotice("error" in providerReturn ? providerReturn.error : "page_renewed");
    onReturnUsed();
  }, [state, idle, providerReturn]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions of a flow never change
  useEffect(() => {
    const ceremony = ready ? ceremonyOf(state) : null;
    const options =
      ceremony?.mode === "background" && ceremony.needs ? state.payload[ceremony.needs] : undefined;
    const delay = options === undefined ? null : renewalDelay(options);
    if (delay === null) return;
    const due = Date.now() + delay;
    expires.current = due;
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
    const destination = ceremonyOf(state)?.mode === "blocking" ? null : destinationOf(state, redirectTo);
    if (ready && !unsavedCodes && destination) navigate(destination.href);
  }, [state, redirectTo, ready, unsavedCodes, navigate]);

  async function beginAgain() {
    const shown = lacksOptions(state) ? await flow.renew() : state;
    startedStates.current.delete(shown);
    setRequest((last) => ({ state: shown, times: (last?.state === shown ? last.times : 0) + 1 }));
  }

  /** Prompts for a passkey, unless a call that was under way has started the flow. */
  async function promptInstead(action: string): Promise<void> {
    const controller = new AbortController();
    prompting.current = controller;
    let step: Step | null = null;
    flow.showNotice(null);
    if (Date.now() >= expires.current) await flow.renew();
    await flow.quietly(async (shown) => {
      // The challenge of a flow is valid as long as a prompt may take; one without a flow is valid longer.
      const mayPrompt = shown.version === 0 && isReplaced(shown.state, action);
      try {
        step = mayPrompt ? await prompt(shown.state, controller.signal) : { action, input: {} };
      } catch (error) {
        flow.showNotice(ceremonyErrorOf(error));
      }
    });
    prompting.current = null;
    // Autofill goes on.
    setPrompts((count) => count + 1);
    if (step) perform(flow, step, false);
  }

  const act: Flow["act"] = async (action, ...more) => {
    const isPrompt = version === 0 && isReplaced(state, action);
    if (isPrompt && prompting.current) return;
    endPrompt();
    return isPrompt ? promptInstead(action) : flow.act(action, ...more);
  };

  function endPrompt(): void {
    prompting.current?.abort();
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: it ends the prompt that is open then
  useEffect(() => endPrompt, []);

  return {
    mayBeginAgain: canRetry({ state, providerReturn, attempts: attempts.current }),
    beginAgain,
    act,
    silent: attempts.current.silent,
  };
}

/** Performs the step if the state offers the action; otherwise shows only the notice. */
function perform(flow: Flow, { action, input, notice }: Step, automatic: boolean): void {
  if (Object.hasOwn(flow.view.state.actions, action)) void flow.act(action, input, { automatic, notice });
  else if (notice) flow.showNotice(notice);
}
