import pg from "pg";
import { serialize } from "pg-protocol";
import { beginWait } from "../server/observability/waits.ts";
import { isConnectionLost } from "./errors.ts";

/** A statement with its values, as the driver and Drizzle name its members. */
export interface BoundStatement {
  /** Prepared under it on each connection; a statement without a name is parsed each time. */
  name?: string | undefined;
  text: string;
  values: readonly unknown[];
  /** `array`: a row is an array of its values; otherwise an object. */
  rowMode?: string | undefined;
  /** Converts values of rows; default: as the driver does. */
  types?: pg.CustomTypesConfig | undefined;
}

/** What PostgreSQL has told of the rows of a statement. */
interface Shape {
  fields: pg.FieldDef[];
  parsers: ((value: string) => unknown)[];
  /** A row in which each column is null: copies of it are made faster than rows that grow by column. */
  empty: Record<string, unknown>;
}

interface ProtocolConnection extends pg.Connection {
  /** Texts by the names under which PostgreSQL has parsed them. */
  parsedStatements: Record<string, string>;
  /** The same of those that were sent and not yet answered. */
  submittedNamedStatements: Record<string, string>;
}

/**
 * Shapes by the names of prepared statements. They belong to a connection, on which PostgreSQL refuses to run a
 * statement whose rows have changed since it was prepared ("cached plan must not change result type").
 */
const shapesOf = new WeakMap<pg.Connection, Map<string, Shape>>();

const NO_ROWS: Shape = { fields: [], parsers: [], empty: {} };
const DESCRIBE = serialize.describe({ type: "P" });
const EXECUTE = serialize.execute();
const SYNC = serialize.sync();

/** Not in the types of the driver. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;

/**
 * Statements of the extended query protocol that share one Sync, as a query of the driver. Outside of a transaction
 * they are one: the first error rolls all of them back (PostgreSQL manual, 54.2.3 and 54.2.4).
 *
 * In place of the driver's own query because that takes a write to the socket for each message, and has a prepared
 * statement described each time that it runs.
 */
export class ExtendedQuery {
  readonly #statements: readonly BoundStatement[];
  readonly #done: (error: Error | null, results: pg.QueryResult[]) => void;
  readonly #results: pg.QueryResult[] = [];
  #shapes: Map<string, Shape> = new Map();
  /** The statement that PostgreSQL answers at present. */
  #current = 0;
  /** Of the current statement, if PostgreSQL has described it now. */
  #described: Shape | null = null;
  #rows: (Record<string, unknown> | unknown[])[] = [];
  #failure: Error | null = null;
  /** The driver calls it on a timeout, of which there is none. */
  readonly callback = () => {};

  /** @param done called once, with a result for each statement, or with the first error */
  constructor(
    statements: readonly BoundStatement[],
    done: (error: Error | null, results: pg.QueryResult[]) => void,
  ) {
    this.#statements = statements;
    const endWait = beginWait("database", statements.length);
    this.#done = (error, results) => {
      endWait();
      done(error, results);
    };
  }

  /** The driver notes under this name and text what PostgreSQL has parsed. */
  get name(): string | undefined {
    return this.#statements[this.#current]?.name;
  }

  get text(): string | undefined {
    return this.#statements[this.#current]?.text;
  }

  /** @returns an error if a value has no form that PostgreSQL takes; then nothing was sent */
  submit(connection: pg.Connection): Error | null {
    this.#shapes = shapesOf.get(connection) ?? new Map();
    shapesOf.set(connection, this.#shapes);
    const messages: Buffer[] = [];
    try {
      for (const statement of this.#statements)
        this.#addMessages(messages, statement, connection as ProtocolConnection);
    } catch (error) {
      return error as Error;
    }
    messages.push(SYNC);
    connection.stream.write(Buffer.concat(messages));
    return null;
  }

  #addMessages(
    messages: Buffer[],
    { name = "", text, values }: BoundStatement,
    { parsedStatements, submittedNamedStatements }: ProtocolConnection,
  ): void {
    const existing = name === "" ? undefined : (parsedStatements[name] ?? submittedNamedStatements[name]);
    if (existing === undefined) {
      messages.push(serialize.parse({ name, text }));
      if (name !== "") submittedNamedStatements[name] = text;
    } else if (existing !== text) throw new Error(`two statements have the name ${name} and different texts`);
    messages.push(
      serialize.bind({ statement: name, values: values as unknown[], valueMapper: prepareValue }),
    );
    if (!this.#shapes.has(name)) messages.push(DESCRIBE);
    messages.push(EXECUTE);
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    const { name, types = pg.types } = this.#statements[this.#current] ?? {};
    this.#described = {
      fields,
      parsers: fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, "text")),
      empty: Object.fromEntries(fields.map((field) => [field.name, null])),
    };
    if (name) this.#shapes.set(name, this.#described);
  }

  handleDataRow({ fields: values }: { fields: (string | null)[] }): void {
    const { name = "", rowMode } = this.#statements[this.#current] ?? {};
    const shape = this.#described ?? this.#shapes.get(name) ?? NO_ROWS;
    try {
      this.#rows.push(rowMode === "array" ? rowAsArray(shape, values) : rowAsObject(shape, values));
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const { name } = this.#statements[this.#current] ?? {};
    const shape = this.#described ?? (name ? this.#shapes.get(name) : undefined) ?? NO_ROWS;
    // PostgreSQL does not describe a statement that returns no rows.
    if (name && shape === NO_ROWS) this.#shapes.set(name, NO_ROWS);
    const [command = "", ...counts] = text.split(" ");
    const rowCount = counts.length > 0 ? Number(counts.at(-1)) : null;
    this.#results.push({ rows: this.#rows, rowCount, command, oid: 0, fields: shape.fields });
    this.#rows = [];
    this.#described = null;
    this.#current += 1;
  }

  handleReadyForQuery(): void {
    this.#done(this.#failure, this.#results);
  }

  handleError(error: Error, connection: pg.Connection): void {
    // PostgreSQL has skipped the rest, so it knows none of the names that were sent with it.
    const { submittedNamedStatements } = connection as ProtocolConnection;
    for (const { name } of this.#statements.slice(this.#current))
      if (name) delete submittedNamedStatements[name];
    this.#done(error, []);
  }
}

/**
 * Runs statements together on a connection of a pool. A connection that is lost leaves the pool.
 *
 * @throws the error of the first statement that failed
 */
export async function runStatements(
  pool: pg.Pool,
  statements: readonly BoundStatement[],
): Promise<pg.QueryResult[]> {
  const client = await pool.connect();
  let isLost = false;
  try {
    return await new Promise((resolve, reject) => {
      client.query(
        new ExtendedQuery(statements, (error, results) => (error ? reject(error) : resolve(results))),
      );
    });
  } catch (error) {
    isLost = isConnectionLost(error);
    throw error;
  } finally {
    client.release(isLost);
  }
}

function rowAsObject({ fields, parsers, empty }: Shape, values: (string | null)[]): Record<string, unknown> {
  const row = { ...empty };
  values.forEach((value, index) => {
    const field = fields[index];
    const parse = parsers[index];
    if (value !== null && field && parse) row[field.name] = parse(value);
  });
  return row;
}

function rowAsArray({ parsers }: Shape, values: (string | null)[]): unknown[] {
  return values.map((value, index) => (value === null ? null : parsers[index]?.(value)));
}
