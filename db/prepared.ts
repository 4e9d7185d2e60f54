import type { ReadOnly } from "./client.ts";

/**
 * A query that is built once per pool, for hot paths. Where connections keep prepared statements it is one, under
 * `name`; no two queries may share a name.
 *
 * @param build writes the query, with `sql.placeholder` for what changes
 */
export function prepared<Query>(
  name: string,
  build: (db: ReadOnly) => { prepare(name: string): Query },
): (db: ReadOnly) => Query {
  const built = new WeakMap<ReadOnly, Query>();
  return (db) => {
    const known = built.get(db);
    if (known) return known;
    const query = build(db).prepare(db.prepares ? name : "");
    built.set(db, query);
    return query;
  };
}
