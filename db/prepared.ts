import type { ReadOnly } from "./client.ts";

/**
 * Returns a function that builds a query once per pool, for hot paths. The query is a prepared statement if the pool
 * supports those.
 *
 * @param name of the prepared statement; must be unique
 * @param build builds the query with `sql.placeholder` for its parameters
 */
export function prepared<Query>(
  name: string,
  build: (db: ReadOnly) => { prepare(name: string): Query },
): (db: ReadOnly) => Query {
  const built = new WeakMap<ReadOnly, Query>();
  return (db) => {
    const existing = built.get(db);
    if (existing) return existing;
    const query = build(db).prepare(db.prepares ? name : "");
    built.set(db, query);
    return query;
  };
}
