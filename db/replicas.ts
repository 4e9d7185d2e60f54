import type { Database } from "./client.ts";
import { type LogPosition, positionText } from "./log-position.ts";
import { queryPrepared } from "./prepared.ts";
import { type PrimaryAnswer, PrimaryLog } from "./primary-log.ts";
import { markText, type Reads, Replica, type ReplicaFault } from "./replica.ts";

/** Time between two looks at the primary and its replicas. */
const LOOK_INTERVAL_MS = 500;

/** How long a read waits for replicas to replay the log. */
const MAX_WAIT_MS = 50;

/** How long a replica has to be out before that is told: what passes by itself is no news. */
const TOLD_AFTER_MS: Readonly<Record<ReplicaFault, number>> = {
  unreachable: 0,
  promoted: 0,
  other_system: 0,
  behind: 1_000,
  astray: 15_000,
};

/** A replica, as operators are told of it. */
export interface ReplicaState {
  /** Its place in the list of addresses, from 1. */
  place: number;
  /** Its host and port. */
  host: string;
  /** Why it is not used; null if it is. */
  fault: ReplicaFault | null;
  lagMs: number;
}

export interface ReplicasOptions {
  /** Maximum connections to each. */
  size: number;
  /** A replica that is further behind is not used. */
  maxLagMs: number;
  /** The id of this process among the running servers. */
  processId: string;
  /** Renews its lease at the primary. */
  renew(): Promise<void>;
  /** Called once when a replica is used, or is not used any more. */
  onChange(state: ReplicaState): void;
}

/** The standbys of a database that are read at. */
export class Replicas {
  readonly #replicas: { replica: Replica; told: ReplicaFault | null | undefined; since: number }[];
  readonly #primary: Pick<Database, "read" | "prepares">;
  readonly #options: ReplicasOptions;
  readonly #log = new PrimaryLog();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #ended = false;

  /**
   * @param addresses each of one server
   * @throws AddressError
   */
  constructor(
    addresses: readonly string[],
    primary: Pick<Database, "read" | "prepares">,
    options: ReplicasOptions,
  ) {
    this.#replicas = addresses.map((address) => ({
      replica: new Replica(address, options.size),
      told: undefined,
      since: performance.now(),
    }));
    this.#primary = primary;
    this.#options = options;
  }

  get states(): ReplicaState[] {
    return this.#replicas.map(({ replica: { host, fault, lagMs } }, index) => ({
      place: index + 1,
      host,
      fault,
      lagMs,
    }));
  }

  /**
   * Looks at them from now on, twice a second.
   *
   * @throws the error of the driver if the primary does not say what they are compared with
   */
  async watch(): Promise<void> {
    await this.#askPrimary();
    const look = async () => {
      this.#looking = this.#look();
      await this.#looking;
      if (!this.#ended) this.#timer = setTimeout(look, LOOK_INTERVAL_MS).unref();
    };
    void look();
  }

  /**
   * Finds a replica that has replayed the log to a position, or does within a moment. They take turns.
   *
   * @returns why there is none now: none is used, or those that are have not replayed it
   */
  async reaching(position: LogPosition): Promise<Reads | "none" | "behind"> {
    const used = this.#replicas.map(({ replica }) => replica).filter(({ fault }) => fault === null);
    if (used.length === 0) return "none";
    const until = performance.now() + MAX_WAIT_MS;
    this.#next = (this.#next + 1) % used.length;
    for (const replica of [...used.slice(this.#next), ...used.slice(0, this.#next)])
      if (await replica.reaches(position, until)) return replica.read;
    return "behind";
  }

  async close(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#replicas.map(({ replica }) => replica.close()));
  }

  async #look(): Promise<void> {
    const { processId, maxLagMs, renew } = this.#options;
    const answer = await this.#askPrimary().catch(() => null);
    // A primary that does not answer authenticates no caller that could read at a replica.
    if (!answer?.position) return;
    // A standby of a former primary would show what was written before it was lost.
    if (this.#log.see(answer, performance.now())) await renew().catch(() => {});
    await Promise.all(this.#replicas.map(({ replica }) => replica.look(this.#log, processId, maxLagMs)));
    this.#tell();
  }

  async #askPrimary(): Promise<PrimaryAnswer | null> {
    const text = `select ${positionText} as position,
      (select system_identifier::text from pg_control_system()) as system, ${markText} as mark`;
    const statement = { name: "replicas_primary", text, values: [this.#options.processId] };
    const [answer] = await queryPrepared<PrimaryAnswer, "read">(this.#primary, "read", statement);
    return answer ?? null;
  }

  #tell(): void {
    const now = performance.now();
    for (const [index, state] of this.states.entries()) {
      const one = this.#replicas[index];
      if (!one) continue;
      const { fault } = state;
      if (fault === null) one.since = now;
      if (fault === one.told) continue;
      if (fault !== null && now - one.since < TOLD_AFTER_MS[fault]) continue;
      one.told = fault;
      this.#options.onChange(state);
    }
  }
}
