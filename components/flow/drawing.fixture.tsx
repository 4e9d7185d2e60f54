import { act, render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { vi } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import type { FlowWords } from "#words/flow";
import type { FlowAnswer, FlowServer, FlowType } from "./flow-server.ts";
import { Login } from "./login.tsx";
import type { ProviderReturn } from "./provider-return.ts";

/** A server that gives the answers in order and records the calls. Without an answer it hangs. */
export function fakeServer(...answers: (FlowState | FlowAnswer | Error)[]) {
  let version = 10;
  const next = (): Promise<FlowAnswer> => {
    const answer = answers.shift();
    version += 1;
    if (answer === undefined) return new Promise(() => {});
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve("state" in answer ? answer : { version, state: answer });
  };
  return {
    start: vi.fn<FlowServer["start"]>(next),
    act: vi.fn<FlowServer["act"]>(next),
    current: vi.fn<FlowServer["current"]>(next),
  };
}

export interface Drawing {
  type?: FlowType;
  words?: FlowWords;
  language?: string;
  signup?: boolean;
  /** 0 for a flow that was not started. */
  version?: number;
  redirect_to?: string;
  providerReturn?: ProviderReturn;
  base?: string;
  /** Answers after the first request for the current state, which is answered with `state`. */
  answers?: (FlowState | FlowAnswer | Error)[];
}

/** Lets everything happen that a page does within a minute. Its timers are those of `vi.useFakeTimers`. */
export const settle = () => act(() => vi.advanceTimersByTimeAsync(60_000));

/** Draws a state as the whole page, with scripts. */
export function draw(state: FlowState, drawing: Drawing = {}) {
  const {
    type = "login",
    words = en,
    language = "en",
    signup = true,
    version = 7,
    answers = [],
    redirect_to,
  } = drawing;
  const { providerReturn = null, base = "" } = drawing;
  const initial: FlowAnswer = { version, state, ...(redirect_to ? { redirect_to } : {}) };
  const server = fakeServer(...(version === 0 ? [] : [initial]), ...answers);
  const navigate = vi.fn<(url: string) => void>();
  const page = (
    <Login
      type={type}
      initial={initial}
      service="Stile"
      signup={signup}
      words={words}
      language={language}
      base={base}
      address={`https://login.example${base}/`}
      providerReturn={providerReturn}
      relyingParty="login.example"
      server={server}
      navigate={navigate}
    />
  );
  return { ...render(page), server, navigate, user: userEvent.setup() };
}
