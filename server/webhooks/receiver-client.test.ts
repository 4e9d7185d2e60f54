import { generateKeyPairSync } from "node:crypto";
import { Resolver } from "node:dns/promises";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { makeCertificate, pemOf } from "../lib/certificates.ts";
import { eventually } from "../testing/eventually.ts";
import { startNameServer } from "../testing/name-server.ts";
import { startReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";
import { createReceiverClient } from "./receiver-client.ts";

const body = JSON.stringify({ token: "a.b.c", event: "user.login" });

type Client = ReturnType<typeof createReceiverClient>;

const client = (options: Partial<Parameters<typeof createReceiverClient>[0]> = {}): Client => {
  const made = createReceiverClient({ allowPrivate: true, ...options });
  onTestFinished(() => made.close());
  return made;
};

const post = (of: Client, callback: string, tenantId = "a tenant") =>
  of.post({ tenantId, callback, headers: { "x-test": "1" }, body });

async function receiver(...options: Parameters<typeof startReceiver>): Promise<WebhookReceiver> {
  const started = await startReceiver(...options);
  onTestFinished(() => started.close());
  return started;
}

/** A server that speaks raw TCP. */
async function rawServer(talk: (socket: Socket) => void): Promise<string> {
  const server: Server = createTcpServer((socket) => {
    socket.on("error", () => {});
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A resolver that asks a name server of this test. */
async function resolverFor(answer: (name: string) => string[]) {
  const names = await startNameServer(answer);
  onTestFinished(() => names.close());
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([names.address]);
  return { resolver, questions: names.questions };
}

describe("an exchange", () => {
  test("posts the body and the headers, and accepts every status from 200 to 299", async () => {
    const target = await receiver();
    const made = client();
    for (const status of [200, 201, 202, 204, 299]) {
      target.answer = (response) => response.writeHead(status).end();
      expect(await post(made, target.url)).toEqual({ status, durationMs: expect.any(Number) });
    }
    expect(target.received[0]).toMatchObject({ body, event: "user.login", headers: { "x-test": "1" } });
    expect(target.connections()).toBe(1);
  });

  test("keeps the first KiB of the answer, without control characters", async () => {
    const target = await receiver();
    target.answer = (response) => response.writeHead(500).end(`a\u0000b\u001b[31mc\n${"d".repeat(2_000)}`);
    const { status, error, answer = "" } = await post(client(), target.url);
    expect([status, error]).toEqual([500, "status"]);
    expect(answer.startsWith("a\ufffdb\ufffd[31mc\nddd")).toBe(true);
    expect(Buffer.byteLength(answer.replaceAll("\ufffd", "?"))).toBe(1024);
  });

  test("reuses all connections that earlier ones have opened", async () => {
    const target = await receiver();
    const made = client();
    for (let round = 0; round < 3; round += 1) {
      answerTogether(target, 8);
      await Promise.all(Array.from({ length: 8 }, () => post(made, target.url)));
    }
    expect([target.received.length, target.connections()]).toEqual([24, 8]);
  });

  test("is repeated once when the receiver closed the idle connection just then", async () => {
    let requests = 0;
    const url = await rawServer((socket) => {
      socket.on("data", () => {
        requests += 1;
        if (requests === 2) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
      });
    });
    const made = client();
    expect(await post(made, url)).toMatchObject({ status: 204 });
    expect(await post(made, url)).toMatchObject({ status: 204 });
    expect(requests).toBe(3);
  });
});

test.each([
  [429, "120", 120],
  [503, "0", 0],
  [503, "999999999", 999_999_999],
  [500, "120", undefined],
  [503, "soon", undefined],
  [503, "-1", undefined],
  [503, "1e9", undefined],
  [503, "9999999999", undefined],
  [503, "Mon, 01 Jan 2001 00:00:00 GMT", 0],
  [503, "Mon, 99 Foo 2001 00:00:00 GMT", undefined],
])("a status %i with Retry-After %j asks for a pause of %s seconds", async (status, retryAfter, seconds) => {
  const target = await receiver();
  target.answer = (response) => response.writeHead(status, { "retry-after": retryAfter }).end();
  expect((await post(client(), target.url)).retryAfterSeconds).toBe(seconds);
});

test("a date of Retry-After is read as the time until then", async () => {
  const target = await receiver();
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  target.answer = (response) => response.writeHead(503, { "retry-after": date }).end();
  const { retryAfterSeconds } = await post(client(), target.url);
  expect(retryAfterSeconds).toBeGreaterThan(3_000);
  expect(retryAfterSeconds).toBeLessThanOrEqual(3_600);
});

test("A84 a receiver has five seconds: what it answers in time counts, and nothing later", async () => {
  const ending = new AbortController();
  const limits: number[] = [];
  vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
    limits.push(milliseconds);
    return ending.signal;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const target = await receiver();
  const made = client();
  expect(await post(made, target.url)).toMatchObject({ status: 204 });
  target.answer = () => ending.abort();
  expect(await post(made, target.url)).toEqual({ error: "timeout", durationMs: expect.any(Number) });
  expect(limits).toEqual([5_000, 5_000]);
});

test("A84 unused connections to many receivers make none wait", async () => {
  const targets = await Promise.all(
    Array.from({ length: 70 }, (_, index) => receiver({ host: `127.0.1.${index + 1}` })),
  );
  const made = client({ timeoutMs: 2_000 });
  for (const { url } of targets) expect(await post(made, url)).toMatchObject({ status: 204 });
});

test("A191 receivers of a tenant that never answer hold no connection of another tenant to the same host", async () => {
  const target = await receiver();
  target.answer = (response, { path }) => {
    if (path !== "/hangs") response.writeHead(204).end();
  };
  const made = client({ timeoutMs: 2_000 });
  const hanging = Array.from({ length: 20 }, () => post(made, new URL("/hangs", target.url).href, "one"));
  await eventually(() => expect(target.received).toHaveLength(16));
  let ended = 0;
  for (const each of hanging) void each.then(() => (ended += 1));
  expect(await post(made, target.url, "another")).toMatchObject({ status: 204 });
  expect(ended).toBe(0);
  expect((await Promise.all(hanging)).map(({ error }) => error)).toEqual(hanging.map(() => "timeout"));
});

test("A192 unused connections to many receivers of a tenant leave another's latest connection open", async () => {
  const many = await Promise.all(
    Array.from({ length: 70 }, (_, index) => receiver({ host: `127.0.2.${index + 1}` })),
  );
  const target = await receiver();
  const made = client();
  for (const { url } of many) await post(made, url, "one");
  for (let times = 0; times < 3; times += 1) await post(made, target.url, "another");
  expect(target.connections()).toBe(1);
  // The one that was unused for longest was closed, and the latest were not.
  await post(made, many[0]?.url ?? "", "one");
  await post(made, many.at(-1)?.url ?? "", "one");
  expect([many[0]?.connections(), many.at(-1)?.connections()]).toEqual([2, 1]);
});

test("A194 connections that a receiver resets when they are used again cost it one request each, and none fails", async () => {
  const answered = new Set<Socket>();
  let requests = 0;
  const url = await rawServer((socket) => {
    socket.on("data", () => {
      requests += 1;
      if (answered.has(socket)) socket.resetAndDestroy();
      else answered.add(socket);
      // The first eight together, so that each takes a connection.
      if (answered.size < 8) return;
      for (const each of answered)
        if (each.bytesWritten === 0) each.write("HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
    });
  });
  const made = client();
  await Promise.all(Array.from({ length: 8 }, () => post(made, url)));
  expect(await post(made, url)).toMatchObject({ status: 204 });
  expect(requests).toBe(8 + 8 + 1);
});

test("A83 follows no redirect, and counts it as a failure", async () => {
  const [target, inner] = [await receiver(), await receiver()];
  for (const status of [301, 302, 303, 307, 308]) {
    target.answer = (response) => response.writeHead(status, { location: inner.url }).end();
    expect(await post(client(), target.url)).toMatchObject({ status, error: "redirect" });
  }
  expect(inner.connections()).toBe(0);
});

describe("A81 an address that is not public", () => {
  test.each([
    "https://127.0.0.1",
    "https://[::1]",
    "https://0.0.0.0",
    "https://169.254.169.254",
    "https://10.0.0.1",
    "https://172.16.0.1",
    "https://192.168.0.1",
    "https://[fc00::1]",
    "https://[fe80::1]",
    "https://[::ffff:127.0.0.1]",
    "https://[64:ff9b::7f00:1]",
    "https://2130706433",
    "https://0x7f000001",
    "https://017700000001",
    "https://localhost.",
    "https://anna@app.example.com",
    "file:///etc/passwd",
    "gopher://app.example.com",
    "http://app.example.com",
    "https://app.example.com:22",
    "https://app.example.com:25",
  ])("%s is refused before any connection or question", async (callback) => {
    const { resolver, questions } = await resolverFor(() => ["127.0.0.1"]);
    expect(await post(client({ allowPrivate: false, resolver }), callback)).toMatchObject({
      error: "address",
    });
    expect(questions).toEqual([]);
  });
});

describe("A82 a name", () => {
  let trap: WebhookReceiver;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ca = pemOf(makeCertificate({ subject: { CN: "app.example.com" }, key: privateKey }));
  const tls = { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert: ca };

  beforeAll(async () => {
    trap = await startReceiver({ tls });
  });
  afterAll(() => trap.close());

  const callback = () => `https://app.example.com:${trap.port}/events`;

  test.each([
    ["to this machine", ["127.0.0.1"]],
    ["to a public and a private address", ["1.1.1.1", "127.0.0.1"]],
    ["to a private and a public address", ["10.0.0.1", "1.1.1.1"]],
    ["to the metadata service", ["169.254.169.254"]],
  ])("that resolves %s is refused without a connection", async (_, addresses) => {
    const { resolver } = await resolverFor(() => addresses);
    const made = client({ allowPrivate: false, resolver, ca });
    expect(await post(made, callback())).toMatchObject({ error: "address" });
    expect(trap.connections()).toBe(0);
  });

  test("is resolved once: what was judged is connected to, though the next answer is another", async () => {
    const target = await receiver({ tls, host: "127.0.0.2", port: trap.port });
    let asked = 0;
    const { resolver, questions } = await resolverFor(() => [asked++ % 2 === 0 ? "127.0.0.2" : "127.0.0.1"]);
    // 127.0.0.2 stands for the public internet.
    const isAllowed = (address: string) => address === "127.0.0.2";
    const made = client({ allowPrivate: false, resolver, isAllowed, ca });
    target.answer = (response) => response.writeHead(204, { connection: "close" }).end();
    expect(await post(made, callback())).toMatchObject({ status: 204 });
    expect(questions.toSorted()).toEqual(["A app.example.com", "AAAA app.example.com"]);
    expect(await post(made, callback())).toMatchObject({ error: "address" });
    expect(await post(made, callback())).toMatchObject({ status: 204 });
    expect([target.received.length, trap.connections()]).toEqual([2, 0]);
  });

  test("A193 whose address changes is reached through the connection to the judged one, and judged for the next", async () => {
    const target = await receiver({ tls, host: "127.0.0.2", port: trap.port });
    const addresses = ["127.0.0.2"];
    const { resolver, questions } = await resolverFor(() => addresses);
    const isAllowed = (address: string) => address === "127.0.0.2";
    const made = client({ allowPrivate: false, resolver, isAllowed, ca });
    expect(await post(made, callback())).toMatchObject({ status: 204 });
    addresses[0] = "127.0.0.1";
    target.answer = (response) => response.writeHead(204, { connection: "close" }).end();
    expect(await post(made, callback())).toMatchObject({ status: 204 });
    expect([target.connections(), questions.length]).toEqual([1, 2]);
    expect(await post(made, callback())).toMatchObject({ error: "address" });
    expect(trap.connections()).toBe(0);
  });

  test("that does not resolve is an answer", async () => {
    const { resolver } = await resolverFor(() => []);
    const made = client({ allowPrivate: false, resolver, ca });
    expect(await post(made, callback())).toMatchObject({ error: "name" });
  });

  test("A84 needs a certificate of that name from a trusted authority", async () => {
    const target = await receiver({ tls, host: "127.0.0.2" });
    const { resolver } = await resolverFor(() => ["127.0.0.2"]);
    const isAllowed = () => true;
    const at = (name: string) => `https://${name}:${target.port}/`;
    const made = client({ allowPrivate: false, resolver, isAllowed, ca });
    expect(await post(made, at("app.example.com"))).toMatchObject({ status: 204 });
    expect(await post(made, at("other.example.com"))).toMatchObject({ error: "certificate" });
    const strict = client({ allowPrivate: false, resolver, isAllowed });
    expect(await post(strict, at("app.example.com"))).toMatchObject({ error: "certificate" });
    expect(target.received).toHaveLength(1);
  });
});

describe("A84 a receiver", () => {
  const timeoutMs = 300;

  test.each([
    ["never answers", () => {}],
    ["answers byte by byte", (socket: Socket) => drip(socket, "HTTP/1.1 200 OK\r\nx: ")],
    ["sends a body byte by byte", (socket: Socket) => drip(socket, "HTTP/1.1 200 OK\r\n\r\n")],
    [
      "announces more than it sends",
      (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"),
    ],
    [
      "sends interim answers for ever",
      (socket: Socket) => drip(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ],
  ])("that %s is cut off at the time limit", async (_, talk) => {
    const url = await rawServer((socket) => socket.once("data", () => talk(socket)));
    expect(await post(client({ timeoutMs }), url)).toMatchObject({ error: "timeout" });
  });

  test("that answers without end is read to 64 KiB, and its connection is closed", async () => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const url = await rawServer((socket) => {
      socket.once("close", () => closed.resolve());
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n");
        const more = () => {
          while (!socket.destroyed && socket.write(Buffer.alloc(16_384, "a"))) sent += 16_384;
          socket.once("drain", more);
        };
        more();
      });
    });
    const answer = await post(client(), url);
    expect(answer).toMatchObject({ status: 200, answer: "a".repeat(1024) });
    await closed.promise;
    // What the buffers of the two sockets hold beyond it.
    expect(sent).toBeLessThan(50 * 1024 * 1024);
  });

  test("that answers a compressed bomb is not unpacked", async () => {
    const target = await receiver();
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024));
    target.answer = (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    expect(await post(client(), target.url)).toEqual({ status: 200, durationMs: expect.any(Number) });
    expect(target.received[0]?.headers["accept-encoding"]).toBe("identity");
  });

  test.each([
    ["speaks another protocol", "220 mail.example.com ESMTP\r\n"],
    ["sends a head without end", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}`],
    [
      "smuggles a second answer",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["closes at once", ""],
  ])("that %s fails", async (_, text) => {
    const url = await rawServer((socket) => socket.once("data", () => socket.end(text)));
    expect(await post(client(), url)).toMatchObject({ error: "connection" });
  });

  test("that switches the protocol fails", async () => {
    const url = await rawServer((socket) =>
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
      ),
    );
    expect(await post(client(), url)).toMatchObject({ status: 101, error: "status" });
  });

  test("that is not there fails", async () => {
    const target = await receiver();
    await target.close();
    expect(await post(client(), target.url)).toMatchObject({ error: "connection" });
  });

  test("holds sixteen connections at most", async () => {
    const target = await receiver();
    target.answer = (response) => setTimeout(() => response.writeHead(204).end(), 5);
    const made = client();
    await Promise.all(Array.from({ length: 40 }, () => post(made, target.url)));
    expect(target.received).toHaveLength(40);
    expect(target.connections()).toBeLessThanOrEqual(16);
  });
});

/** Makes a receiver hold its answers back until it owes so many. */
function answerTogether(of: WebhookReceiver, count: number): void {
  const held: ServerResponse[] = [];
  of.answer = (response) => {
    if (held.push(response) === count) for (const each of held) each.writeHead(204).end();
  };
}

/** Writes a piece again and again until the connection ends. */
function drip(socket: Socket, start: string, piece = "a"): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(piece), 10);
  socket.once("close", () => clearInterval(timer));
}
