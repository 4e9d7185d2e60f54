import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { createListener, type Destinations, type Listener } from "./listener.ts";

describe("the HTTP server", () => {
  let listener: Listener;
  let port: number;
  let lines: Record<string, unknown>[];
  let release: (() => void) | undefined;

  const destinations: Destinations = {
    async api(request, info) {
      const { pathname } = new URL(request.url);
      if (pathname === "/echo") return Response.json({ ...info, body: await request.text() });
      if (pathname === "/held") {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return Response.json({ held: true });
      }
      if (pathname === "/broken") throw new Error("unforeseen");
      return null;
    },
    loggable: (_, path) => path.replace("ada", "{somebody}"),
    async pages(_incoming, outgoing) {
      outgoing.end("a page");
    },
  };

  beforeEach(async () => {
    lines = [];
    release = undefined;
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    listener = createListener({
      log: createLogger("info", sink),
      trustedProxies: ["127.0.0.0/8"],
      errorHeaders: { "X-Content-Type-Options": "nosniff" },
      destinations: Promise.resolve(destinations),
    });
    port = await listener.listen(0);
  });

  afterEach(async () => {
    await listener.close(0);
  });

  const fetchPath = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);

  it("A110 logs a path without whom it names", async () => {
    await fetchPath("/of/ada?token=secret");
    await eventually(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatchObject({ path: "/of/{somebody}" });
  });

  it("asks the API first and leaves the rest to the pages", async () => {
    const answer = await fetchPath("/echo", { method: "POST", body: "hello" });
    expect(await answer.json()).toMatchObject({ body: "hello", peer: expect.stringContaining("127.0.0.1") });
    expect(await (await fetchPath("/anything")).text()).toBe("a page");
  });

  it.each(["POST", "PUT", "OPTIONS", "TRACE"])(
    "A97 refuses %s where only pages are, before its body has come",
    async (method) => {
      const socket = await open();
      socket.write(
        `${method} /anything HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\nbegun`,
      );
      const [head = "", body = ""] = (await read(socket)).split("\r\n\r\n");
      expect(head).toMatch(/^HTTP\/1\.1 405 /);
      const fields = head.toLowerCase().split("\r\n").slice(1);
      expect(fields).toEqual(
        expect.arrayContaining([
          "allow: get, head",
          "connection: close",
          "x-content-type-options: nosniff",
          "content-type: application/json; charset=utf-8",
        ]),
      );
      expect(JSON.parse(body)).toEqual({ code: 405, message: expect.any(String) });
    },
  );

  it("keeps an idle connection longer than proxies do", async () => {
    const answer = await fetchPath("/anything");
    expect(answer.headers.get("keep-alive")).toBe("timeout=75");
  });

  it("keeps a request's own identifier where that is harmless, and makes one otherwise", async () => {
    const kept = await fetchPath("/echo", {
      method: "POST",
      headers: { "X-Request-ID": "trace-0123.abc_DEF" },
    });
    expect(kept.headers.get("x-request-id")).toBe("trace-0123.abc_DEF");
    expect(await kept.json()).toMatchObject({ requestId: "trace-0123.abc_DEF" });
    for (const bad of ["short", "a".repeat(65), "with space in it", 'quote"quote"', "ünïcödé-ünïcödé"]) {
      const made = await fetchPath("/echo", {
        method: "POST",
        headers: { "X-Request-ID": Buffer.from(bad).toString("latin1") },
      });
      expect(made.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it("A110 logs one line per request, without query, body or headers", async () => {
    await fetchPath("/echo?action=secret-query", {
      method: "POST",
      body: "secret-body",
      headers: {
        Authorization: "Bearer secret-token",
        Cookie: "service=secret-cookie",
        "X-Forwarded-For": "192.0.2.7",
      },
    });
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      request_id: expect.any(String),
      method: "POST",
      path: "/echo",
      status: 200,
      duration_ms: expect.any(Number),
      source: "192.0.2.7",
    });
  });

  it("A111 writes what a path smuggles in as escaped JSON, and not all of a long one", async () => {
    const socket = await open();
    socket.write(
      `GET /%0A%1B[31m${"x".repeat(5_000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    await read(socket);
    await expect.poll(() => lines).toHaveLength(1);
    expect(String(lines[0]?.path)).toHaveLength(200);
    expect(JSON.stringify(lines[0])).not.toContain("\u001b");
  });

  it("answers an error nobody foresaw with a bare 500 and logs its cause", async () => {
    const answer = await fetchPath("/broken");
    expect([answer.status, await answer.text()]).toEqual([500, ""]);
    await expect.poll(() => lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ level: "error", err: { message: "unforeseen" } });
  });

  it.each([
    ["A97 a request line that is none", "HELLO\r\n\r\n", 400],
    [
      "A97 two lengths of one body",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      400,
    ],
    [
      "A97 a length beside chunks",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "A97 an unknown transfer coding",
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    ["A97 a control character in a header", "GET /echo HTTP/1.1\r\nHost: a\r\nX: \u0001\r\n\r\n", 400],
    [
      "A89 a target that names a host of its own",
      "GET http://evil.example/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
      400,
    ],
    ["a target that is no address", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    ["a host that is none", "GET /echo HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
    [
      "a header block over 16 KiB",
      `GET /echo HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(16 * 1024)}\r\n\r\n`,
      431,
    ],
  ])("refuses %s and hangs up", async (_what, text, status) => {
    const socket = await open();
    socket.write(text);
    const answer = await read(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain("x-content-type-options: nosniff");
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  it("A97 hangs up on a request that does not arrive within ten seconds", async () => {
    const socket = await open();
    socket.write("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhal");
    expect(await read(socket)).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it("A120 lets running requests end before it closes, and takes no new ones", async () => {
    const held = fetchPath("/held");
    await expect.poll(() => release).toBeTypeOf("function");
    const closed = listener.close(60_000);
    await expect(fetchPath("/echo")).rejects.toThrow();
    release?.();
    const answer = await held;
    expect(await answer.json()).toEqual({ held: true });
    expect(answer.headers.get("connection")).toBe("close");
    await closed;
  });

  it("cuts what has not ended when its time is over", async () => {
    const held = fetchPath("/held");
    await expect.poll(() => release).toBeTypeOf("function");
    const cut = expect(held).rejects.toThrow();
    await listener.close(1);
    await cut;
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ path: "/held", aborted: true });
  });

  it("reports the system's reason when the port is taken", async () => {
    const second = createListener({
      log: createLogger("silent"),
      trustedProxies: [],
      errorHeaders: {},
      destinations: Promise.resolve(destinations),
    });
    await expect(second.listen(port)).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  async function open(): Promise<Socket> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  }

  async function read(socket: Socket): Promise<string> {
    let answer = "";
    for await (const chunk of socket) answer += chunk;
    return answer;
  }
});
