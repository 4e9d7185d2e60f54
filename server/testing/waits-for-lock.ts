import type pg from "pg";
import { eventually } from "./eventually.ts";

/** Waits until a statement of a database waits for a lock. */
export function waitsForLock(client: Pick<pg.Client | pg.Pool, "query">): Promise<void> {
  return eventually(async () => {
    const { rowCount } = await client.query(
      `select from pg_locks l join pg_database d on d.oid = l.database
       where not granted and datname = current_database()`,
    );
    if (!rowCount) throw new Error("nothing waits");
  });
}
