import pg from "pg";
import type { Database } from "./client.ts";
import { asConflict, isConnectionLost } from "./errors.ts";
import { type Part, type Statement, statementsOf } from "./part.ts";

/**
 * Runs parts as one transaction in one round trip: their statements are sent together with one Sync, so PostgreSQL runs
 * them in an implicit transaction, without BEGIN and COMMIT (PostgreSQL manual, 54.2.3).
 *
 * @param pool `claim`: the commit does not wait for the disk
 * @returns the values that parts return, by their names
 * @throws ConflictError if a part refuses; nothing was written
 */
export async function runTogether<Returned extends object>(
  { prepares, ...pools }: Pick<Database, "write" | "claim" | "prepares">,
  parts: readonly Part[],
  pool: "write" | "claim" = "write",
): Promise<Partial<Returned>> {
  const statements = statementsOf(parts);
  const client = await pools[pool].$client.connect();
  let broken: boolean | undefined;
  try {
    const results = await new Promise<pg.QueryResult[]>((resolve, reject) => {
      client.query(new Batch(statements, prepares, (error, done) => (error ? reject(error) : resolve(done))));
    });
    return Object.assign({}, ...results.map(({ rows }) => rows[0]));
  } catch (error) {
    broken = isConnectionLost(error);
    throw asConflict(error);
  } finally {
    client.release(broken);
  }
}

/** What the client of `pg` calls on a query, and this file on the queries of a batch. */
interface ProtocolQuery {
  name: string | undefined;
  text: string;
  callback: (error: Error | null, result: pg.QueryResult) => void;
  prepare(connection: pg.Connection): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}

interface ProtocolConnection extends pg.Connection {
  submittedNamedStatements: Record<string, string>;
  sync(): void;
}

type Done = (error: Error | null, results: pg.QueryResult[]) => void;

/** Statements that share one Sync, as a query of the driver. The first error ends all of them. */
class Batch {
  readonly #queries: ProtocolQuery[];
  readonly #results: pg.QueryResult[] = [];
  readonly #done: Done;
  #failure: Error | null = null;
  /** The statement that PostgreSQL answers at present. */
  #current = 0;
  /** The client requires one. */
  readonly callback = () => {};

  constructor(statements: readonly Statement[], prepares: boolean, done: Done) {
    this.#done = done;
    const callback: ProtocolQuery["callback"] = (error, result) => {
      if (error) this.#failure = error;
      else this.#results.push(result);
    };
    this.#queries = statements.map(({ name, text, values }) => {
      const query = new pg.Query(prepares ? { name, text, values } : { text, values });
      return Object.assign(query as unknown as ProtocolQuery, { callback });
    });
  }

  /** The client notes under this name and text what PostgreSQL has parsed. */
  get name(): string | undefined {
    return this.#queries[this.#current]?.name;
  }

  get text(): string | undefined {
    return this.#queries[this.#current]?.text;
  }

  submit(connection: pg.Connection): Error | null {
    const messages: Buffer[] = [];
    const collecting: ProtocolConnection = Object.create(connection, {
      _send: { value: (message: Buffer) => messages.push(message) },
      // A Sync after each statement would commit it.
      sync: { value: () => {} },
    });
    for (const query of this.#queries) query.prepare(collecting);
    // A value has no form that PostgreSQL takes. Nothing was sent.
    if (this.#failure) return this.#failure;
    (connection as ProtocolConnection).sync.call(collecting);
    // One write, because each is a system call.
    connection.stream.write(Buffer.concat(messages));
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.#queries[this.#current]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#current]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: pg.Connection): void {
    const query = this.#queries[this.#current];
    query?.handleCommandComplete(message, connection);
    query?.handleReadyForQuery(connection);
    this.#current += 1;
  }

  handleReadyForQuery(): void {
    this.#done(this.#failure, this.#results);
  }

  handleError(error: Error, connection: pg.Connection): void {
    // PostgreSQL has skipped the rest, so it knows none of the names that were sent with it.
    const { submittedNamedStatements } = connection as ProtocolConnection;
    for (const { name } of this.#queries.slice(this.#current))
      if (name) delete submittedNamedStatements[name];
    this.#done(error, []);
  }
}
