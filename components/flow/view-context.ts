import type { ReactNode } from "react";
import type { FlowWords, StateWords } from "#words/flow";
import type { FlowType } from "./flow-server.ts";
import type { Flow } from "./use-flow.ts";

/** The data that the parts of a state's view share. */
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
  /** The prefix of every address of this service: empty, `/t/{tenant}`, or absolute on a page of another origin. */
  base: string;
  /** Values of hidden inputs that the page fills in, by name. */
  pageValues: PageValues;
  /** Shows another flow in the same container, and identifies the user there if asked to; absent where each flow has a page. */
  openFlow?: ((type: FlowType, identifier?: string) => void) | undefined;
  /** Where a sign-out that goes on elsewhere returns to. Default: this page, where it is one of an application. */
  signedOutAddress?: string;
  /** Drawings of payloads that this container alone shows. */
  drawings?: Drawings | undefined;
}

export type PageValues = Readonly<Record<string, unknown>>;

/** The item that an action is performed on, for instance one passkey. */
export interface ItemReference {
  /** The input that names the item. */
  input: string;
  id: string;
  /** The display name of the item. */
  name: string;
}

/** What the drawing of a member of a payload takes. */
export interface PayloadProps {
  value: unknown;
  words: FlowWords;
  language: string;
  /** Prefix of the addresses of this service. */
  base: string;
  /** Path of the user's picture. */
  path: unknown;
}

/** Payload member → drawing. */
export type Drawings = Record<string, (props: PayloadProps) => ReactNode>;
