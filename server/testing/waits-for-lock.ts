import type pg from "pg";
import { eventually } from "./eventually.ts";

/** Waits until a number of statements of a database wait for a lock. */
export function waitsForLock(client: Pick<pg.Client | pg.Pool, "query">, count = 1): Promise<void> {
  return eventually(async () => {
    // A transaction sees the same activity for as long as it takes.
    await client.query("select pg_stat_clear_snapshot()");
    const { rowCount } = await client.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    if ((rowCount ?? 0) < count) throw new Error(`${rowCount} wait`);
  });
}
