import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import type pg from "pg";
import { observeCommits } from "./after-commit.ts";
import { Connection } from "./connection.ts";
import { Pool } from "./pool.ts";
import { ReadPool } from "./read-pool.ts";
import * as schema from "./schema/index.ts";
import { watchSilence } from "./silence.ts";

export { schema };

/** A pool or a transaction. */
export type Queryable = Pick<
  NodePgDatabase<typeof schema>,
  "select" | "selectDistinct" | "execute" | "insert" | "update" | "delete" | "with" | "$with"
>;

/** A pool of read-only connections. `prepares`: whether its connections support prepared statements. */
export type ReadOnly = Pick<NodePgDatabase<typeof schema>, "select" | "selectDistinct" | "with" | "$with"> & {
  prepares?: boolean;
};

/** Three connection pools of one database. They differ in their rights and in the durability of a commit. */
export interface Database {
  /** For durable writes. */
  write: NodePgDatabase<typeof schema> & { $client: pg.Pool };
  /** For reads. PostgreSQL rejects anything else. Prepared ones of one turn of the event loop share a round trip. */
  read: NodePgDatabase<typeof schema> & { $client: pg.Pool };
  /** For claims and counters. A commit does not wait for the disk. */
  claim: NodePgDatabase<typeof schema> & { $client: pg.Pool };
  /** Whether connections support prepared statements, which some poolers do not. */
  prepares: boolean;
  /**
   * Ends connections of a PostgreSQL that hangs, from now on until it is closed (`watchSilence`). For processes that
   * answer requests.
   *
   * @param onEnded called with the number of connections that were ended at once
   */
  watch(onEnded: (count: number) => void): void;
  /** Ends when PostgreSQL has ended each connection, or has not answered for a second. */
  close(): Promise<void>;
}

/** A transaction of the `write` pool. */
export type Transaction = Parameters<Parameters<Database["write"]["transaction"]>[0]>[0];

/** A request that waits longer for a connection fails; the client gets 503. */
const CONNECT_TIMEOUT_MS = 3_000;

/** A PostgreSQL that does not answer the end of a connection delays `close()` by this. */
const GOODBYE_MS = 1_000;

/**
 * Opens the three pools. They connect when a connection is needed.
 *
 * @param url a database of PostgreSQL 15 or newer
 * @param size maximum connections of each pool
 * @param onError called when an idle connection fails
 * @param prepares false for poolers in transaction mode: no prepared statements, and no parameters of a session, which
 *   such poolers reject. The pools then differ in their use only
 * @param connectTimeoutMs how long a query waits for a free connection
 */
export function openDatabase(
  url: string,
  size: number,
  onError: (error: Error) => void,
  prepares = true,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): Database {
  const connections = new Set<Connection>();
  let lastEnded = () => {};
  let endWatch = () => {};
  const open = (PoolOfKind: typeof Pool, options?: string) => {
    const client = new PoolOfKind({
      Client: Connection,
      connectionString: url,
      max: size,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      ...(options && prepares ? { options } : {}),
    });
    client.on("error", onError);
    client.on("connect", (opened) => {
      const connection = opened as unknown as Connection;
      connections.add(connection);
      // A connection that fails in use rejects its query. Without a listener its event would end the process, too.
      connection.on("error", () => {});
    });
    client.on("remove", (connection) => {
      connections.delete(connection as unknown as Connection);
      if (connections.size === 0) lastEnded();
    });
    return drizzle({ client, schema });
  };
  const write = open(Pool);
  observeCommits(write);
  const read = Object.assign(open(ReadPool, "-c default_transaction_read_only=on"), { prepares });
  const claim = open(Pool, "-c synchronous_commit=off");
  return {
    write,
    read,
    claim,
    prepares,
    watch(onEnded) {
      endWatch();
      endWatch = watchSilence(url, connections, onEnded);
    },
    async close() {
      endWatch();
      await Promise.all([write, read, claim].map((database) => database.$client.end()));
      // A pool ends before its connections have: PostgreSQL, if it stops now, would report an error on each of them.
      if (connections.size === 0) return;
      await new Promise<void>((resolve) => {
        const giveUp = setTimeout(resolve, GOODBYE_MS);
        lastEnded = () => {
          clearTimeout(giveUp);
          resolve();
        };
      });
    },
  };
}

/** What reads or writes the database. */
export interface Databases {
  database: Database;
}
