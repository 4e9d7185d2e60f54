import { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import pg from "pg";
import { serialize } from "pg-protocol";
import { describe, expect, test } from "vitest";

/**
 * What `extended-query.ts` relies on in `pg` and `pg-protocol` and what their types or manuals do not promise. A test for
 * each member, so that the one that an update has changed is named by its failure. The other side is a socket that plays
 * PostgreSQL by the bytes of its protocol (manual, 54.7).
 */

class PlayedSocket extends Duplex {
  readonly written: Buffer[] = [];
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(chunk);
    done();
  }
  connect(): void {
    process.nextTick(() => this.emit("connect"));
  }
  setNoDelay(): void {}
}

const int = (bytes: 2 | 4, value: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const text = (value: string) => Buffer.from(`${value}\0`);

/** A message of the protocol: its type, its length and its content. */
function message(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from(type), int(4, body.length + 4), body]);
}

const answers = {
  authenticated: message("R", int(4, 0)),
  parsed: message("1"),
  described: message(
    "T",
    int(2, 1),
    text("id"),
    int(4, 0),
    int(2, 0),
    int(4, 23),
    int(2, 4),
    int(4, -1),
    int(2, 0),
  ),
  row: message("D", int(2, 2), int(4, 1), Buffer.from("7"), int(4, -1)),
  complete: message("C", text("SELECT 1")),
  failed: message("E", text("SERROR"), text("C42601"), text("Mwrong"), Buffer.from([0])),
  ready: message("Z", Buffer.from("I")),
};

/** A connection's own members, of which its types name none but `stream`. */
interface Members extends pg.Connection {
  parsedStatements: unknown;
  submittedNamedStatements: unknown;
}

async function connected() {
  const socket = new PlayedSocket();
  const client = new pg.Client({ stream: () => socket as unknown as ReturnType<typeof Object> } as object);
  const opened = client.connect();
  await setImmediate();
  socket.push(Buffer.concat([answers.authenticated, answers.ready]));
  await opened;
  socket.written.length = 0;
  const answer = async (...messages: Buffer[]) => {
    socket.push(Buffer.concat(messages));
    await setImmediate();
  };
  return { client, socket, answer };
}

const callback = () => {};

/** A query that notes its calls. */
class NotingQuery {
  readonly calls: { member: string; answer: unknown; connection: unknown }[] = [];
  connection: Members | null = null;
  readonly name = "by_id";
  readonly text = "select 7 as id";
  readonly callback = callback;
  readonly #failure: Error | null;
  constructor(failure: Error | null = null) {
    this.#failure = failure;
  }
  submit(connection: pg.Connection): Error | null {
    this.connection = connection as Members;
    return this.#failure;
  }
  handleRowDescription = this.#noting("handleRowDescription");
  handleDataRow = this.#noting("handleDataRow");
  handleCommandComplete = this.#noting("handleCommandComplete");
  handleReadyForQuery = this.#noting("handleReadyForQuery");
  handleError = this.#noting("handleError");

  #noting(member: string) {
    return (answer: unknown, connection: unknown) => void this.calls.push({ member, answer, connection });
  }
}

/** Sends a query, and returns it with the connection that it was given. */
async function submitted(failure?: Error) {
  const { client, answer, socket } = await connected();
  const query = new NotingQuery(failure);
  const returned = client.query(query as unknown as pg.Submittable);
  const { connection } = query;
  if (!connection) throw new Error("`submit` was not called");
  return { client, answer, socket, query, returned, connection };
}

describe("of `pg`", () => {
  test.each<[string, unknown, unknown]>([
    ["undefined", undefined, null],
    ["a number", 7, "7"],
    ["a truth value", true, "true"],
    ["bytes", Buffer.from("é"), Buffer.from("é")],
    ["a list", ["a", null], '{"a",NULL}'],
    ["an object", { a: 1 }, '{"a":1}'],
  ])("`utils.prepareValue` gives %s the form that Bind takes", (_, value, form) => {
    const { utils } = pg as unknown as { utils: { prepareValue(value: unknown): unknown } };
    expect(utils.prepareValue(value)).toEqual(form);
  });

  test("`Client.query` calls `submit` of a query with its connection, and returns the query", async () => {
    const { query, returned, connection } = await submitted();
    expect(connection).toBeInstanceOf(pg.Connection);
    expect(returned).toBe(query);
  });

  test("`Client.query` leaves the `callback` of a query as it is", async () => {
    const { query } = await submitted();
    expect(query.callback).toBe(callback);
  });

  test("`Client.query` passes an error that `submit` returns to `handleError`, and submits the next query", async () => {
    const failure = new Error("no form");
    const { client, query } = await submitted(failure);
    await setImmediate();
    expect(query.calls).toMatchObject([{ member: "handleError", answer: failure }]);
    const next = new NotingQuery();
    client.query(next as unknown as pg.Submittable);
    expect(next.connection).not.toBeNull();
  });

  test("`Connection.stream` is the socket", async () => {
    const { connection, socket } = await submitted();
    connection.stream.write(Buffer.from("sent"));
    expect(socket.written).toEqual([Buffer.from("sent")]);
  });

  test("`Connection.parsedStatements` is an object without members at first", async () => {
    const { connection } = await submitted();
    expect(connection.parsedStatements).toEqual({});
  });

  test("`Connection.submittedNamedStatements` is an object without members at first", async () => {
    const { connection } = await submitted();
    expect(connection.submittedNamedStatements).toEqual({});
  });

  test("`Connection.parsedStatements` gets the `text` of a query by its `name` when PostgreSQL has parsed it", async () => {
    const { connection, answer } = await submitted();
    await answer(answers.parsed);
    expect(connection.parsedStatements).toEqual({ by_id: "select 7 as id" });
  });

  test.each([
    ["parsed it", answers.parsed],
    ["refused it", answers.failed],
  ])(
    "`Connection.submittedNamedStatements` loses the `name` of a query when PostgreSQL has %s",
    async (_, told) => {
      const { connection, answer } = await submitted();
      connection.submittedNamedStatements = { by_id: "select 7 as id", other: "select 8" };
      await answer(told);
      expect(connection.submittedNamedStatements).toEqual({ other: "select 8" });
    },
  );

  test.each<[string, Buffer, object]>([
    ["handleRowDescription", answers.described, { fields: [{ name: "id", dataTypeID: 23 }] }],
    ["handleDataRow", answers.row, { fields: ["7", null] }],
    ["handleCommandComplete", answers.complete, { text: "SELECT 1" }],
    ["handleError", answers.failed, { code: "42601", message: "wrong" }],
  ])("`%s` of a query is called with the answer of PostgreSQL", async (member, told, given) => {
    const { query, answer } = await submitted();
    await answer(told);
    expect(query.calls).toHaveLength(1);
    expect(query.calls).toMatchObject([{ member, answer: given }]);
  });

  test("`handleError` of a query is given the connection, too", async () => {
    const { query, answer, connection } = await submitted();
    await answer(answers.failed);
    expect(query.calls[0]?.connection).toBe(connection);
  });

  test("`handleReadyForQuery` of a query is called once, after all other answers", async () => {
    const { query, answer } = await submitted();
    await answer(answers.parsed, answers.described, answers.row, answers.complete, answers.ready);
    expect(query.calls.map(({ member }) => member)).toEqual([
      "handleRowDescription",
      "handleDataRow",
      "handleCommandComplete",
      "handleReadyForQuery",
    ]);
  });

  test("`handleReadyForQuery` of a query is not called after its `handleError`", async () => {
    const { query, answer } = await submitted();
    await answer(answers.failed, answers.ready);
    expect(query.calls.map(({ member }) => member)).toEqual(["handleError"]);
  });
});

describe("of `pg-protocol`", () => {
  test.each<[string, Buffer, Buffer]>([
    [
      "parse",
      serialize.parse({ name: "by_id", text: "select $1" }),
      message("P", text("by_id"), text("select $1"), int(2, 0)),
    ],
    [
      "bind",
      serialize.bind({
        statement: "by_id",
        values: [7, null],
        valueMapper: (value: unknown) => value && "seven",
      }),
      message(
        "B",
        text(""),
        text("by_id"),
        int(2, 2),
        int(2, 0),
        int(2, 0),
        int(2, 2),
        int(4, 5),
        Buffer.from("seven"),
        int(4, -1),
        int(2, 1),
        int(2, 0),
      ),
    ],
    ["describe", serialize.describe({ type: "P" }), message("D", Buffer.from("P"), text(""))],
    ["execute", serialize.execute(), message("E", text(""), int(4, 0))],
    ["sync", serialize.sync(), message("S")],
  ])("`serialize.%s` writes the message of the protocol", (_, written, expected) => {
    expect(written).toEqual(expected);
  });
});
