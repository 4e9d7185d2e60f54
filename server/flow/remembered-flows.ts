import type { FlowRecord, ResumeHashes } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { FlowType } from "./names.ts";

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

/** What names a flow, as in `FlowKey`. */
interface Key {
  tenantId: string;
  flowId: string;
  type: FlowType;
}

/** The flows that a process remembers, by their keys and the hash of their token, which each save replaces. */
export function createRememberedFlows() {
  const flows = new Map<string, { flow: RememberedFlow; offset: number }>();
  const nameOf = (tokenHash: Buffer, { tenantId, flowId, type }: Key) =>
    `${tenantId}/${flowId}/${type}/${tokenHash.toString("base64")}`;
  return {
    remember(tokenHash: Buffer, key: Key, flow: RememberedFlow): void {
      const [oldest] = flows.size >= MAX_FLOWS ? flows.keys() : [];
      if (oldest !== undefined) flows.delete(oldest);
      flows.set(nameOf(tokenHash, key), { flow, offset: clockOffset() });
    },
    /** Returns the flow with this token, and forgets it; null if this process has not saved it, or its clock was set since. */
    recall(tokenHash: Buffer, key: Key): RememberedFlow | null {
      const name = nameOf(tokenHash, key);
      const remembered = flows.get(name);
      if (!remembered) return null;
      flows.delete(name);
      return Math.abs(clockOffset() - remembered.offset) > MAX_CLOCK_CHANGE_MS ? null : remembered.flow;
    },
  };
}
