import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import type pg from "pg";
import { observeCommits } from "./after-commit.ts";
import { Connection } from "./connection.ts";
import { beginsIn } from "./distribution.ts";
import { DatabaseHosts } from "./hosts.ts";
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
  /** For the queue of jobs, as `claim`: up to three connections. */
  jobs: pg.Pool;
  /** Whether connections support prepared statements, which some poolers do not. */
  prepares: boolean;
  /**
   * Ends connections of a PostgreSQL that hangs, from now on until it is closed (`watchSilence`). For processes that
   * answer requests.
   *
   * @param onEnded called with the number of connections that were ended at once
   */
  watch(onEnded: (count: number) => void): void;
  /**
   * Whether the pools have just moved to another primary, which may lack the last claims: what other processes have in hand is
   * recorded there before it is claimed again.
   */
  hasJustMoved(): boolean;
  /** Ends when PostgreSQL has ended each connection, or has not answered for a second. */
  close(): Promise<void>;
}

/** A transaction of the `write` pool. */
export type Transaction = Parameters<Parameters<Database["write"]["transaction"]>[0]>[0];

/** After a crash of the database the last commits may be missing. Jobs run at least once in any case. */
const LOSES_COMMITS = "-c synchronous_commit=off";

const MOVED = "Connection terminated: another server takes the writes of the database";

/** Each process finds another primary within a second or two of the first, and a busy one takes longer to write there. */
const SETTLING_MS = 5_000;

/** A request that waits longer for a connection fails; the client gets 503. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Connections of the queue of jobs, which looks for work beside what requests do. */
const JOB_CONNECTIONS = 3;

/** A PostgreSQL that does not answer the end of a connection delays `close()` by this. */
const GOODBYE_MS = 1_000;

/**
 * Opens the three pools. They connect when a connection is needed.
 *
 * @param address of a database of PostgreSQL 15 or newer; of several servers, pools are emptied when another one takes
 *   the writes
 * @param size maximum connections of each pool
 * @param onError called when an idle connection fails
 * @param prepares false for poolers in transaction mode: no prepared statements, and no parameters of a session, which
 *   such poolers reject. The pools then differ in their use only
 * @param connectTimeoutMs how long a query waits for a free connection
 */
export function openDatabase(
  address: string | DatabaseHosts,
  size: number,
  onError: (error: Error) => void,
  prepares = true,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): Database {
  const hosts = typeof address === "string" ? new DatabaseHosts(address) : address;
  const connections = new Set<Connection>();
  /** Connections that are being opened. The pool tells of them only once they are. */
  const opening = new Set<Connection>();
  class TrackedConnection extends Connection {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      opening.add(this);
      for (const event of ["connect", "end"] as const) this.once(event, () => opening.delete(this));
    }
  }
  const pools: pg.Pool[] = [];
  let lastEnded = () => {};
  let endWatch = () => {};
  const open = (PoolOfKind: typeof Pool, options?: string, more: pg.PoolConfig = {}) => {
    const client = new PoolOfKind({
      Client: TrackedConnection,
      connectionString: hosts.url,
      max: size,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      ...(options && prepares ? { options } : {}),
      ...more,
      // One that was being opened while the database moved has not been ended with the others.
      verify: (client, done) =>
        done((client as unknown as Connection).address === hosts.url ? undefined : new Error(MOVED)),
    });
    pools.push(client);
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
    return client;
  };
  const write = drizzle({ client: open(Pool), schema });
  observeCommits(write, (tx) => beginsIn({ claim }, tx));
  const reading = open(ReadPool, "-c default_transaction_read_only=on");
  const read = Object.assign(drizzle({ client: reading, schema }), { prepares });
  const claim = drizzle({ client: open(Pool, LOSES_COMMITS), schema });
  const jobs = open(Pool, LOSES_COMMITS, { application_name: "stile-jobs", max: JOB_CONNECTIONS });
  let movedAt = Number.NEGATIVE_INFINITY;
  hosts.onMove((url) => {
    movedAt = performance.now();
    for (const { options } of pools) options.connectionString = url;
    // What they wait for may never be answered: the former server may be gone without a word.
    for (const connection of [...connections, ...opening]) connection.abandon();
  });
  return {
    write,
    read,
    claim,
    jobs,
    prepares,
    watch(onEnded) {
      endWatch();
      hosts.watch();
      endWatch = watchSilence(() => hosts.url, connections, onEnded);
    },
    hasJustMoved: () => performance.now() - movedAt < SETTLING_MS,
    async close() {
      endWatch();
      hosts.end();
      await Promise.all(pools.map((pool) => pool.end()));
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
