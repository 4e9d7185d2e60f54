import type { Transaction } from "./client.ts";
import { executePart, type Part } from "./part.ts";

/** A deferred change. All changes of a step are written together, after its decision. */
export type Write = ((tx: Transaction) => Promise<void>) & {
  /** The same change as parts of a statement, which needs no transaction around it. */
  parts?: readonly Part[];
  /** Called after the commit if the parts were written, with what parts return, by their names. */
  committed?: (returned: { [name: string]: unknown }) => void;
  /** Why something failed, if the change is the record of that: a reason of `server/audit/failure-reasons.ts`. */
  reason?: string;
};

/** A write that needs no transaction around it. */
export type WriteOfParts = Write & { parts: readonly Part[] };

/** Makes the write of parts. In a transaction each of them runs alone. */
export function writeOf(...parts: Part[]): WriteOfParts {
  const write = async (tx: Transaction) => {
    for (const part of parts) await executePart(tx, part);
  };
  return Object.assign(write, { parts });
}
