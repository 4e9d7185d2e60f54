import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { collecting } from "./collected.ts";
import type * as schema from "./schema/index.ts";

type Pool = Pick<NodePgDatabase<typeof schema>, "transaction">;

/** The same in every copy of this module, as in `collected.ts`. */
const slot = Symbol.for("stile.afterCommit");

interface Holder {
  [slot]?: (() => void)[];
}

/**
 * Calls `callback` once the transaction is committed, and never if it is rolled back. If the connection is lost during
 * the commit, the outcome is unknown and it is not called.
 *
 * @param tx a transaction of the `write` pool, not one nested in it
 * @param callback must not throw
 */
export function afterCommit(tx: object, callback: () => void): void {
  const callbacks = (tx as Holder)[slot];
  if (!callbacks) throw new TypeError("afterCommit requires a transaction of the write pool");
  callbacks.push(callback);
}

/**
 * Makes every transaction of a pool write what it has collected, and call what `afterCommit` was given for it.
 *
 * @param begun called with each
 */
export function observeCommits(pool: Pool, begun: (tx: object) => void): void {
  const begin: Pool["transaction"] = pool.transaction.bind(pool);
  pool.transaction = async (work, options) => {
    const callbacks: (() => void)[] = [];
    const result = await begin(async (tx) => {
      (tx as Holder)[slot] = callbacks;
      begun(tx);
      return collecting(tx, work);
    }, options);
    for (const callback of callbacks) callback();
    return result;
  };
}
