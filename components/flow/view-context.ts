import type { FlowWords, StateWords } from "#words/flow";
import type { FlowType } from "./flow-server.ts";
import type { Flow } from "./use-flow.ts";

/** What everything that is drawn of a state needs to know. */
export interface Stage {
  flow: Flow;
  type: FlowType;
  words: FlowWords;
  /** BCP 47 tag of `words`. */
  language: string;
  /** FlowWords of the state on show. */
  here: StateWords;
  /** A script runs: steps go through it instead of through the browser. */
  live: boolean;
  /** What stands before every address of this service: nothing, or `/t/{tenant}`. */
  base: string;
  /** Hidden inputs that the page can fill in by itself, by name. */
  known: Known;
}

export type Known = Readonly<Record<string, unknown>>;

/** One of several things that an action is about, for instance one of a person's passkeys. */
export interface Item {
  /** The input that names it. */
  input: string;
  id: string;
  /** What people call it. */
  name: string;
}
