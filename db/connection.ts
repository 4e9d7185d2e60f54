import type { Socket } from "node:net";
import pg from "pg";
import { beginWait } from "../server/observability/waits.ts";
import { type BoundStatement, ExtendedQuery } from "./extended-query.ts";

type Answered = (error: Error | null, result?: pg.QueryResult) => void;

/** The socket of a connection, which is not in the types of the driver. */
export const streamOf = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** A connection of a pool. It runs statements with parameters as `ExtendedQuery`. */
export class Connection extends pg.Client {
  /** Since when it owes an answer, or when it was last seen to send; null if it owes none. */
  #owesSince: number | null = null;
  #bytesRead = 0;
  /** Gives it back to its pool, which sets this while it is in use. */
  release?: (destroy?: boolean) => void;

  /** The address that it was made with. */
  readonly address: string | undefined;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.address = typeof config === "object" ? config.connectionString : config;
    this.on("drain", () => {
      this.#owesSince = null;
    });
  }

  /**
   * How long it has owed an answer and sent nothing, in milliseconds, as far as calls of this function have seen.
   *
   * @param now by `performance.now`
   */
  silentMs(now: number): number {
    if (this.#owesSince === null) return 0;
    const { bytesRead } = streamOf(this);
    if (bytesRead !== this.#bytesRead) this.#owesSince = now;
    this.#bytesRead = bytesRead;
    return now - this.#owesSince;
  }

  /** Ends it without a word to PostgreSQL. Its statements fail as if the connection was lost. */
  abandon(): void {
    streamOf(this).destroy(new Error("Connection terminated: the database does not answer"));
  }

  // The driver declares an overload for each form of its arguments.
  // biome-ignore lint/suspicious/noExplicitAny: it returns what the form of the arguments asks for
  override query(...[config, values, callback]: unknown[]): any {
    this.#owesSince ??= performance.now();
    const statement = statementOf(config, values);
    if (!statement) {
      // An `ExtendedQuery` measures itself.
      const given = [config, measured(values), measured(callback)];
      const answered = Reflect.apply(super.query, this, given);
      if (answered instanceof Promise) void answered.then(...twice(beginWait("database", 1)));
      // Drizzle would keep the connection for ever, and the pool would have one less.
      if (isBegin(config)) Promise.resolve(answered).catch(() => this.release?.(true));
      return answered;
    }
    const run = (answered: Answered) =>
      super.query(
        new ExtendedQuery([statement], (error, [result]) =>
          error ? answered(error) : answered(null, result),
        ),
      );
    if (typeof callback === "function") return void run(callback as Answered);
    return new Promise((resolve, reject) => {
      run((error, result) => (error ? reject(error) : resolve(result)));
    }).catch((error: Error) => {
      // The place that asked says more than the socket's, at which PostgreSQL's answer was read.
      Error.captureStackTrace(error);
      throw error;
    });
  }
}

/** A callback of the driver that ends a wait, which begins now; anything else as it is. */
function measured(argument: unknown): unknown {
  if (typeof argument !== "function") return argument;
  const endWait = beginWait("database", 1);
  return (...answer: unknown[]) => {
    endWait();
    argument(...answer);
  };
}

const twice = (end: () => void) => [end, end] as const;

/** Whether a query is the one with which Drizzle begins a transaction. */
function isBegin(config: unknown): boolean {
  const text = typeof config === "string" ? config : (config as { text?: unknown }).text;
  return typeof text === "string" && /^begin(?: [a-z ,]+)?$/.test(text);
}

/** The statement of a query with parameters; null for a simple query, such as `begin`. */
export function statementOf(config: unknown, values: unknown): BoundStatement | null {
  if (config instanceof ExtendedQuery) return null;
  const { text, ...statement } = (
    typeof config === "string" ? { text: config } : config
  ) as Partial<BoundStatement>;
  const bound = statement.values ?? (Array.isArray(values) ? (values as unknown[]) : []);
  if (text === undefined || (!statement.name && bound.length === 0)) return null;
  return { ...statement, text, values: bound };
}
