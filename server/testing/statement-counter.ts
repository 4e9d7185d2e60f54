import { type PostgresProxy, postgresProxy } from "./postgres-proxy.ts";

/** What a client of PostgreSQL has sent to be executed. */
export interface SentStatement {
  /** `application_name` of the connection; empty if it has none. */
  application: string;
  /** Name of the prepared statement, or the text of one without a name. */
  statement: string;
}

/** A proxy that notes each statement (PostgreSQL manual, 54.7). */
export interface StatementCounter extends PostgresProxy {
  /** All statements so far, oldest first. */
  readonly sent: readonly SentStatement[];
  /** Those whose rows PostgreSQL was asked to describe, oldest first. */
  readonly described: readonly string[];
  /** The messages of all errors that PostgreSQL has answered with so far, oldest first. */
  readonly errors: readonly string[];
}

/** @param databaseUrl `postgres://` address without TLS */
export async function countStatements(databaseUrl: string): Promise<StatementCounter> {
  const sent: SentStatement[] = [];
  const described: string[] = [];
  const errors: string[] = [];
  const proxy = await postgresProxy(databaseUrl, (client, database) => {
    const read = reader({
      onExecute: (statement) => sent.push(statement),
      onDescribe: (statement) => described.push(statement),
    });
    client.on("data", read);
    database.on(
      "data",
      errorReader((message) => errors.push(message)),
    );
    client.pipe(database).pipe(client);
    client.on("close", () => database.destroy());
    database.on("close", () => client.destroy());
  });
  return { ...proxy, sent, described, errors };
}

interface Observer {
  onExecute(statement: SentStatement): void;
  onDescribe(statement: string): void;
}

/** Reads the messages of one connection: a start-up message, then messages of a type and a length. */
function reader({ onExecute, onDescribe }: Observer): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  let application = "";
  /** The text of the unnamed statement, and what was bound last. */
  let unnamed = "";
  let bound = "";
  const texts = (body: Buffer) => body.toString().split("\0");
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const header = started ? 1 : 0;
      if (rest.length < header + 4) return;
      const end = header + rest.readUInt32BE(header);
      if (rest.length < end) return;
      const type = started ? String.fromCharCode(rest.readUInt8(0)) : "start";
      const body = rest.subarray(header + 4, end);
      rest = rest.subarray(end);
      if (type === "start") {
        const parameters = texts(body.subarray(4));
        application =
          parameters[parameters.indexOf("application_name") + 1 || Number.POSITIVE_INFINITY] ?? "";
        started = true;
      } else if (type === "P") {
        const [name, text = ""] = texts(body);
        if (name === "") unnamed = text;
      } else if (type === "B") {
        const [, name] = texts(body);
        bound = name || unnamed;
      } else if (type === "D") {
        onDescribe(bound);
      } else if (type === "E") {
        onExecute({ application, statement: bound });
      } else if (type === "Q") {
        onExecute({ application, statement: texts(body)[0] ?? "" });
      }
    }
  };
}

/** Reads the answers on one connection, each a type and a length, for those of type ErrorResponse. */
function errorReader(onError: (message: string) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5) {
      const end = 1 + rest.readUInt32BE(1);
      if (rest.length < end) return;
      const fields = rest.subarray(5, end).toString().split("\0");
      if (rest.readUInt8(0) === "E".charCodeAt(0))
        onError(fields.find((field) => field.startsWith("M"))?.slice(1) ?? "");
      rest = rest.subarray(end);
    }
  };
}
