/** Writes what was collected during a transaction. */
export type Collector<Tx, Item> = (tx: Tx, items: Item[]) => Promise<void>;

/** The same in every copy of this module: Next bundles copies of it, and one may use a transaction that another began. */
const slot = Symbol.for("stile.collected");

interface Holder {
  [slot]?: Map<unknown, unknown[]>;
}

/**
 * Leaves an item to a collector, which writes all items of the transaction together before the commit: one statement
 * instead of one for each. A rollback drops them.
 *
 * @param tx a transaction of the `write` pool, not one nested in it
 * @param collector a constant function; it is called once
 */
export function collect<Tx extends object, Item>(tx: Tx, collector: Collector<Tx, Item>, item: Item): void {
  const collected = (tx as Holder)[slot];
  if (!collected) throw new TypeError("collect requires a transaction of the write pool");
  const items = collected.get(collector);
  if (items) items.push(item);
  else collected.set(collector, [item]);
}

/** Runs the work of a transaction, then the collectors of what it has collected. */
export async function collecting<Tx extends object, Result>(
  tx: Tx,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const collected = new Map<unknown, unknown[]>();
  (tx as Holder)[slot] = collected;
  const result = await work(tx);
  for (const [collector, items] of collected) await (collector as Collector<Tx, unknown>)(tx, items);
  return result;
}
