import type { FlowRecord, ResumeHashes } from "./data.ts";
import type { Facts } from "./facts.ts";

/**
 * A flow as this process has saved it last, for the step that presents its token: what that step is going to ask is known
 * before the flow is claimed, so that it is asked in the statement that claims it. A step that does nothing but choose is
 * judged by it (`step-at-once.ts`); every other one by the flow and the account as the claim reads them.
 */
export interface RememberedFlow {
  /** Without secrets. */
  record: FlowRecord;
  facts: Facts;
  /** Milliseconds by which the database's clock is ahead of that of this process. */
  clockAhead: number;
  /** Null if it is not stored yet, or has sealed members, which this process does not keep. */
  resume: ResumeHashes | null;
}

export type RememberedFlows = ReturnType<typeof createRememberedFlows>;

/** A flow takes some kilobytes. What is forgotten is read by a statement more. */
const MAX_FLOWS = 2_000;

/**
 * A greater change between the two clocks of a process means that its clock was set, or that the machine slept: what it
 * knows of the database's clock is wrong.
 */
const MAX_CLOCK_CHANGE_MS = 1_000;

const clockOffset = () => Date.now() - performance.now();

/** The flows that a process remembers, by the hash of their token, which each save replaces. */
export function createRememberedFlows() {
  const flows = new Map<string, { flow: RememberedFlow; offset: number }>();
  return {
    remember(tokenHash: Buffer, flow: RememberedFlow): void {
      const [oldest] = flows.size >= MAX_FLOWS ? flows.keys() : [];
      if (oldest !== undefined) flows.delete(oldest);
      flows.set(tokenHash.toString("base64"), { flow, offset: clockOffset() });
    },
    /** Returns the flow with this token, and forgets it; null if this process has not saved it, or its clock was set since. */
    recall(tokenHash: Buffer, flowId: string): RememberedFlow | null {
      const key = tokenHash.toString("base64");
      const remembered = flows.get(key);
      if (remembered?.flow.record.id !== flowId) return null;
      flows.delete(key);
      return Math.abs(clockOffset() - remembered.offset) > MAX_CLOCK_CHANGE_MS ? null : remembered.flow;
    },
  };
}
