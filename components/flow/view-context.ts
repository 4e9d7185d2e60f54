import type { FlowWords, StateWords } from "#words/flow";
import type { FlowType } from "./flow-server.ts";
import type { Flow } from "./use-flow.ts";

/** What the parts of a state's view need to know. */
export interface ViewContext {
  flow: Flow;
  type: FlowType;
  words: FlowWords;
  /** BCP 47 tag of `words`. */
  language: string;
  /** The words of the current state. */
  copy: StateWords;
  /** Whether scripts run: then steps are made by a script, not by the browser. */
  live: boolean;
  /** The prefix of every address of this service: empty, or `/t/{tenant}`. */
  base: string;
  /** Hidden inputs that the page fills in, by name. */
  known: Known;
}

export type Known = Readonly<Record<string, unknown>>;

/** The item that an action is performed on, for instance one passkey. */
export interface ItemReference {
  /** The input that names the item. */
  input: string;
  id: string;
  /** The display name of the item. */
  name: string;
}
