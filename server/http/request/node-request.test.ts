import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { NodeRequest } from "./node-request.ts";

let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Starts a server that answers with what `answer` makes of a request. */
async function serve(answer: (request: NodeRequest) => Promise<unknown>): Promise<number> {
  server = createServer((incoming, outgoing) => {
    void answer(new NodeRequest(incoming, outgoing)).then((value) => outgoing.end(JSON.stringify(value)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Sends bytes and returns everything that comes back until the server closes the connection. */
async function exchange(port: number, sent: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(sent, "latin1");
  return text(socket);
}

test("repeated header fields are joined, those of cookies by a semicolon", async () => {
  const port = await serve(async ({ headers }) => ({
    authorization: headers.get("Authorization"),
    cookie: headers.get("cookie"),
    absent: [headers.get("x-absent"), headers.has("x-absent"), headers.has("HOST")],
  }));
  const lines = [
    "GET / HTTP/1.1",
    "Host: a.example",
    "Connection: close",
    "Authorization: Bearer one",
    "authorization: Bearer two",
    "Cookie: a=1",
    "Cookie: b=2",
  ];
  const answer = await exchange(port, `${lines.join("\r\n")}\r\n\r\n`);
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toEqual({
    authorization: "Bearer one, Bearer two",
    cookie: "a=1; b=2",
    absent: [null, false, true],
  });
});

test("a crafted host does not reach the path, and a path may look like one", async () => {
  const port = await serve(async ({ url }) => url.pathname + url.search);
  const answer = await exchange(
    port,
    "GET //evil.example/a/../b?c=d%20e HTTP/1.1\r\nHost: x/admin?\r\nConnection: close\r\n\r\n",
  );
  expect(answer).toContain('"//evil.example/b?c=d%20e"');
});

test.each([
  "Content-Length: 6\r\n\r\nabcdef",
  "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n",
])("a body of up to the limit is read, in %j", async (body) => {
  const port = await serve(async (request) => Buffer.from((await request.read(6)) ?? "none").toString());
  const head = "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  expect(await exchange(port, head + body)).toContain('"abcdef"');
});

test("a longer body is null, and its connection ends after the answer", async () => {
  const port = await serve((request) => request.read(400_000));
  const answer = await exchange(
    port,
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 600000\r\n\r\n${"a".repeat(600_000)}`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n.*null/is);
});

test("a body that breaks off is an error, and the signal aborts", async () => {
  const seen = Promise.withResolvers<unknown[]>();
  const port = await serve(async (request) => {
    const { signal } = request;
    const failed = await request.read(100).catch((error: Error) => error.message);
    if (!signal.aborted) await once(signal, "abort");
    seen.resolve([failed, signal.reason.message]);
  });
  const socket = connect(port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nabc", () => socket.destroy());
  const [failed, reason] = await seen.promise;
  expect(failed).toMatch(/aborted|closed/);
  expect(reason).toBe("the client closed the connection");
});

test("the signal of an answered request does not abort", async () => {
  const signals: AbortSignal[] = [];
  const port = await serve(async ({ signal }) => signals.push(signal));
  await exchange(port, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
});
