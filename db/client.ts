import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";
import * as schema from "./schema/index.ts";

export { schema };

/** Something that runs queries: a pool, or the transaction that a step writes in. */
export type Queryable = Pick<
  NodePgDatabase<typeof schema>,
  "select" | "selectDistinct" | "execute" | "insert" | "update" | "delete" | "with" | "$with"
>;

/** A connection that PostgreSQL itself keeps from writing, and whether it keeps prepared statements. */
export type ReadOnly = Pick<NodePgDatabase<typeof schema>, "select" | "selectDistinct" | "with" | "$with"> & {
  prepares?: boolean;
};

/** Three pools over one database, told apart by what they may do and how long a commit of theirs waits. */
export interface Database {
  /** Writes, durably. */
  write: NodePgDatabase<typeof schema> & { $client: pg.Pool };
  /** Reads; PostgreSQL refuses anything else. */
  read: NodePgDatabase<typeof schema> & { $client: pg.Pool };
  /** Claims and counters; a commit here does not wait for the disk. */
  claim: NodePgDatabase<typeof schema> & { $client: pg.Pool };
  /** Whether connections keep prepared statements; some poolers cannot. */
  prepares: boolean;
  close(): Promise<void>;
}

/** The transaction that a step's changes are written in. */
export type Transaction = Parameters<Parameters<Database["write"]["transaction"]>[0]>[0];

/**
 * Opens the three pools; connections are made when they are needed.
 *
 * @param url address of a PostgreSQL 15 or newer
 * @param size most connections of each pool
 * @param onError told of connections that broke while idle
 * @param prepares false for poolers that cannot keep prepared statements
 */
export function openDatabase(
  url: string,
  size: number,
  onError: (error: Error) => void,
  prepares = true,
): Database {
  const open = (options?: string) => {
    const client = new pg.Pool({
      connectionString: url,
      max: size,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 30_000,
      ...(options ? { options } : {}),
    });
    client.on("error", onError);
    return drizzle({ client, schema });
  };
  const write = open();
  const read = Object.assign(open("-c default_transaction_read_only=on"), { prepares });
  const claim = open("-c synchronous_commit=off");
  return {
    write,
    read,
    claim,
    prepares,
    async close() {
      await Promise.all([write, read, claim].map((database) => database.$client.end()));
    },
  };
}
