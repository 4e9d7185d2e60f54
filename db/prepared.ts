import type { SQL } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import type pg from "pg";
import type { Database, ReadOnly } from "./client.ts";
import type { Statement } from "./part.ts";

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

const dialect = new PgDialect();

/**
 * Runs a statement that is planned once per connection, if the pool supports prepared statements. For statements whose
 * planning costs more than their execution.
 *
 * @param name of the prepared statement; must be unique
 * @param statement its text must be the same in every call: values are parameters
 */
export async function executePrepared<Row extends object, Pool extends PoolName>(
  database: Pick<Database, Pool | "prepares">,
  pool: Pool,
  name: string,
  statement: SQL,
): Promise<Row[]> {
  return queryPrepared<Row, Pool>(database, pool, statementOf(name, statement));
}

/** Returns a statement as `queryPrepared` takes it. */
export function statementOf(name: string, statement: SQL): Statement {
  const { sql, params } = dialect.sqlToQuery(statement);
  return { name, text: sql, values: params };
}

type PoolName = "write" | "read" | "claim";

/** Runs a statement that is given as text on a pool, as `executePrepared` does. */
export async function queryPrepared<Row extends object, Pool extends PoolName>(
  database: Pick<Database, Pool | "prepares">,
  pool: Pool,
  { name, text, values }: Statement,
): Promise<Row[]> {
  const { $client } = database[pool] as Database["claim"];
  const { rows } = await $client.query<Row & pg.QueryResultRow>({
    ...(database.prepares ? { name } : {}),
    text,
    values,
  });
  return rows;
}
