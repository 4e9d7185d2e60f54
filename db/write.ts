import type { Transaction } from "./client.ts";
import type { InlineInsert } from "./inline-insert.ts";

/** A deferred change. All changes of a step are written in one transaction after its decision. */
export type Write = ((tx: Transaction) => Promise<void>) & { inlineInsert?: InlineInsert };
