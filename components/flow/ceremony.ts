import type { FlowState } from "#server/flow/wire";
import type { IconName } from "../ui/icon.tsx";
import type { ProviderReturn } from "./provider-return.ts";

/** What a ceremony leads to: an action, and what it is given. */
export interface Step {
  action: string;
  input: Record<string, unknown>;
  /** Code of something to tell beside the state that it leads to. */
  notice?: string;
}

/** What a ceremony can see and do beside the state on show. */
export interface CeremonyContext {
  state: FlowState;
  arrival: ProviderReturn | null;
  /** The person has come to this state by what they did on this page, or asks for it now. */
  led: boolean;
  /** What this page has tried before without asking. */
  attempts: Attempts;
  /** What stands before every address of this service: nothing, or `/t/{tenant}`. */
  base: string;
  /** Leaves the page for another site. */
  leave(url: string): void;
  /** Asks for the state on show once more, because what it holds has run out. */
  renew(): Promise<void>;
}

/**
 * A passkey is created without asking once at most; `silent` while that is under way. What a phone has answered, by
 * the address that told of it, was brought to the server so many times; what it did not answer was renewed so many
 * times since somebody was there.
 */
export interface Attempts {
  silent: boolean;
  tried: boolean;
  brought: { href: string; times: number } | null;
  renewals: number;
}

/** What only a browser can do in a state. */
export interface Ceremony {
  /** The action that carries the result; it is not for people to perform. */
  action: string;
  /**
   * `at once`: the state waits for this, and shows nothing else meanwhile. `beside`: it may happen while the person
   * does something else, and is dropped when they do.
   */
  when: "at once" | "beside";
  /** How the page looks while it waits. */
  waiting?: "outline" | "prompt";
  icon?: IconName;
  /** Payload member without which there is nothing to do. */
  needs?: string;
  /** If it comes to nothing, there is nothing to tell. */
  unasked?: true;
  /** Whether there is anything to do. Default: yes. */
  begins?(surroundings: CeremonyContext): boolean;
  /**
   * Finds out what comes next; null for nothing. Rejects when the person or the browser will not, or when it was
   * dropped.
   */
  perform(material: unknown, surroundings: CeremonyContext, dropped: AbortSignal): Promise<Step | null>;
}
