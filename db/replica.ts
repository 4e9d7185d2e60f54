import { setTimeout as pause } from "node:timers/promises";
import { drizzle } from "drizzle-orm/node-postgres";
import type pg from "pg";
import type { Database } from "./client.ts";
import { Connection } from "./connection.ts";
import { BEHIND } from "./errors.ts";
import { AddressError, clientOf, destroy, hostOf } from "./hosts.ts";
import { type LogPosition, offsetOf } from "./log-position.ts";
import type { PrimaryLog } from "./primary-log.ts";
import { ReadPool } from "./read-pool.ts";
import * as schema from "./schema/index.ts";

/** Why a replica is not used. */
export type ReplicaFault =
  /** It does not answer. */
  | "unreachable"
  /** It takes writes: it follows no primary. */
  | "promoted"
  /** It is a standby of another cluster. */
  | "other_system"
  /** It lacks what the primary had before the bound of the lag. */
  | "behind"
  /** It does not show what this process has written at the primary of now. */
  | "astray";

/** The reads of a replica, as those of the primary. */
export type Reads = Database["read"];

/** Time between two questions for what it has replayed while a read waits. */
const POLL_MS = 2;

/** A read that waits longer for a connection is done at the primary. */
const CONNECT_TIMEOUT_MS = 1_500;

interface Answer {
  isStandby: boolean;
  replayed: string | null;
  system: string;
  ageMs: number | null;
}

const question = `select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as replayed,
  (select system_identifier::text from pg_control_system()) as system,
  1000 * extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as "ageMs"`;

/** SQL for the mark of a `PrimaryAnswer`. $1: the id of the process */
export const markText = "(select extract(epoch from leased_until)::text from instances where id = $1)";

/** A standby that is read at, by this process. */
export class Replica {
  readonly host: string;
  readonly read: Reads;
  readonly #url: string;
  readonly #pool: ReadPool;
  readonly #connections = new Set<Connection>();
  #fault: ReplicaFault | null = "unreachable";
  #lagMs = 0;
  /** Of the primary that it has been seen to follow: see `LogPosition`. Empty: none. */
  #branch = "";
  #replayed = 0n;
  /** The furthest position that a read was told it has replayed. */
  #promised = 0n;
  /** The connection that asks it. */
  #watching: pg.Client | undefined;
  #asking: Promise<Answer | Error> | undefined;

  /**
   * @param size maximum connections
   * @throws AddressError
   */
  constructor(url: string, size: number) {
    this.#url = url;
    this.host = hostOf(url);
    try {
      clientOf(url);
    } catch {
      throw new AddressError(`${this.host || "one of them"} is no address`);
    }
    this.#pool = new ReadPool({
      Client: Connection,
      connectionString: url,
      max: size,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: 30_000,
      application_name: "stile-replica",
      // A server that has restarted may be behind where it was. Connections from before have ended with it.
      verify: (client, done) => {
        const known = this.#promised > this.#replayed ? this.#promised : this.#replayed;
        hasReplayed(client, known).then((has) => done(has ? undefined : new Error(BEHIND)), done);
      },
    });
    // What fails is told by the next look, and read at the primary meanwhile.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (opened) => {
      const connection = opened as unknown as Connection;
      this.#connections.add(connection);
      connection.on("error", () => {});
    });
    this.#pool.on("remove", (removed) => this.#connections.delete(removed as unknown as Connection));
    this.read = Object.assign(drizzle({ client: this.#pool, schema }), { prepares: true });
  }

  /** Why it is not used; null if it is. */
  get fault(): ReplicaFault | null {
    return this.#fault;
  }

  /** How far it was behind when it was last looked at, in milliseconds. */
  get lagMs(): number {
    return this.#lagMs;
  }

  /**
   * Looks at it, and judges whether it may be used.
   *
   * @param processId the id whose mark is in the log
   */
  async look(log: PrimaryLog, processId: string, maxLagMs: number): Promise<void> {
    const answer = await this.#ask();
    this.#judgedAs(await this.#judge(answer, log, processId, maxLagMs));
  }

  async #judge(
    answer: Answer | Error,
    log: PrimaryLog,
    processId: string,
    maxLagMs: number,
  ): Promise<ReplicaFault | null> {
    if (answer instanceof Error) return "unreachable";
    if (!answer.isStandby || answer.replayed === null) return "promoted";
    if (answer.system !== log.system) return "other_system";
    this.#lagMs = log.lagMs(this.#replayed, answer.ageMs, performance.now());
    if (this.#lagMs > maxLagMs) return "behind";
    if (this.#branch === log.branch) return null;
    if (!log.hasMade(await this.#mark(processId))) return "astray";
    this.#branch = log.branch;
    // Positions of another primary are no measure of this one.
    this.#promised = 0n;
    return null;
  }

  #judgedAs(fault: ReplicaFault | null): void {
    this.#fault = fault;
    if (fault === null || fault === "behind" || fault === "astray") return;
    this.#branch = "";
    // What waits for it may wait for ever.
    for (const connection of this.#connections) connection.abandon();
  }

  /**
   * Whether it has replayed the log to a position, at once or soon. Reads that begin then see all below it.
   *
   * @param until when it is given up, by `performance.now`. It is not waited for if it was further behind than that
   */
  async reaches({ branch, offset }: LogPosition, until: number): Promise<boolean> {
    while (this.#fault === null && this.#branch === branch) {
      if (this.#replayed >= offset) {
        if (offset > this.#promised) this.#promised = offset;
        return true;
      }
      const leftMs = until - performance.now();
      if (leftMs <= this.#lagMs) return false;
      await Promise.race([this.#ask(), pause(leftMs, undefined, { ref: false })]);
      if (this.#replayed < offset) await pause(POLL_MS, undefined, { ref: false });
    }
    return false;
  }

  async close(): Promise<void> {
    this.#letGo();
    await this.#pool.end();
  }

  /** Asks it. Those who ask at once share an answer: what it has replayed only grows. */
  #ask(): Promise<Answer | Error> {
    this.#asking ??= this.#answer().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #answer(): Promise<Answer | Error> {
    try {
      const { rows } = await (await this.#connection()).query<Answer>(question);
      const [answer] = rows;
      if (!answer) throw new Error("it does not say what it is");
      if (answer.isStandby && answer.replayed !== null) this.#replayed = offsetOf(answer.replayed);
      else this.#judgedAs("promoted");
      return answer;
    } catch (error) {
      this.#letGo();
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #mark(processId: string): Promise<string | null> {
    // Without a connection, or of a cluster without the table, it shows none.
    const found = await this.#watching
      ?.query<{ mark: string | null }>(`select ${markText} as mark`, [processId])
      .catch(() => undefined);
    return found?.rows[0]?.mark ?? null;
  }

  async #connection(): Promise<pg.Client> {
    if (this.#watching) return this.#watching;
    const client = clientOf(this.#url);
    client.on("end", () => {
      if (this.#watching === client) this.#watching = undefined;
    });
    await client.connect();
    this.#watching = client;
    return client;
  }

  #letGo(): void {
    if (this.#watching) destroy(this.#watching);
    this.#watching = undefined;
  }
}

/** Whether the server of a connection is a standby that has replayed the log to an offset. */
async function hasReplayed(client: Pick<pg.ClientBase, "query">, offset: bigint): Promise<boolean> {
  const lsn = `${(offset >> 32n).toString(16)}/${(offset & 0xffffffffn).toString(16)}`;
  const { rows } = await client.query<{ has: boolean | null }>(
    "select pg_is_in_recovery() and pg_last_wal_replay_lsn() >= $1::pg_lsn as has",
    [lsn],
  );
  return rows[0]?.has === true;
}
