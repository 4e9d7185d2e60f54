import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { createListener, type Destinations, type Listener, type ListenerOptions } from "./listener.ts";

/** Events of a stream, which lasts for several times as long as a client may read nothing. */
const EVENTS = 30;

/** More than the buffers of two sockets hold. */
const UNREAD_BYTES = 32 * 1024 * 1024;

function* endless() {
  for (;;) yield Buffer.alloc(64 * 1024);
}

async function* someEvents() {
  for (let count = 0; count < EVENTS; count += 1) {
    await pause(50);
    yield Buffer.from("data: x\n\n");
  }
}

function get(path: string, header = "Accept: */*"): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`;
}

describe("the HTTP server", () => {
  let listener: Listener;
  let openListener: (more?: Partial<Pick<ListenerOptions, "minReadRate" | "sendTimeoutMs">>) => Listener;
  let port: number;
  let lines: Record<string, unknown>[];
  let release: (() => void) | undefined;
  let handled: string[];
  let files: Readable[];

  const destinations: Destinations = {
    async api(request, info) {
      const { pathname, search } = request.url;
      handled.push(pathname + search);
      if (pathname === "/echo")
        return Response.json({ ...info, body: Buffer.from((await request.read(10_000)) ?? []).toString() });
      if (pathname === "/slow") {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return Response.json({ slow: true });
      }
      if (pathname === "/repeated") {
        Object.assign(info.accessFields ?? {}, { isPoll: true });
        return new Response("nothing new");
      }
      if (pathname === "/late") {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return new Response("late");
      }
      if (pathname === "/large") return new Response("x".repeat(UNREAD_BYTES));
      if (pathname === "/broken") throw new Error("unexpected");
      return null;
    },
    loggable: (_, path) => path.replace("ada", "{user}"),
    async pages(request) {
      if (new URL(request.url).pathname !== "/file") return new Response("a page");
      if (new URL(request.url).search === "?events") {
        const events = Readable.from(someEvents());
        return new Response(Readable.toWeb(events) as ReadableStream);
      }
      const file = Readable.from(endless());
      files.push(file);
      return new Response(Readable.toWeb(file) as ReadableStream);
    },
  };

  beforeEach(async () => {
    lines = [];
    release = undefined;
    handled = [];
    files = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        done();
      },
    });
    openListener = (more = {}) =>
      createListener({
        log: createLogger("info", sink),
        trustedProxies: ["127.0.0.0/8"],
        errorHeaders: { "X-Content-Type-Options": "nosniff" },
        sendTimeoutMs: 200,
        destinations: Promise.resolve(destinations),
        ...more,
      });
    listener = openListener();
    port = await listener.listen(0);
  });

  afterEach(async () => {
    await listener.close(0);
  });

  const fetchPath = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);

  it("A110 logs a path without the user that it names", async () => {
    await fetchPath("/of/ada?token=secret");
    await eventually(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatchObject({ path: "/of/{user}" });
  });

  it("passes a request to the API first, then to the pages", async () => {
    const answer = await fetchPath("/echo", { method: "POST", body: "hello" });
    expect(await answer.json()).toMatchObject({ body: "hello", peer: expect.stringContaining("127.0.0.1") });
    expect(await (await fetchPath("/anything")).text()).toBe("a page");
  });

  it("A126 handles one request of a connection at a time, and answers pipelined ones in order", async () => {
    const socket = await open();
    socket.write(get("/slow") + get("/echo?1") + get("/echo?2"));
    await expect.poll(() => release).toBeTypeOf("function");
    // A round trip on another connection: the three requests have been parsed.
    await fetchPath("/echo?other");
    expect(handled).toEqual(["/slow", "/echo?other"]);
    socket.write(get("/echo?3", "Connection: close"));
    release?.();
    expect((await read(socket)).match(/HTTP\/1\.1 200 /g)).toHaveLength(4);
    expect(handled).toEqual(["/slow", "/echo?other", "/echo?1", "/echo?2", "/echo?3"]);
  });

  it("A126 closes a connection on which many requests wait, and releases the one in progress", async () => {
    const socket = await open();
    const closed = once(socket, "close");
    socket.on("error", () => {}).resume();
    socket.write(get("/file").repeat(600));
    await closed;
    await eventually(() => expect(files.every((file) => file.destroyed)).toBe(true));
    await eventually(() => expect(lines.length).toBe(files.length));
    expect(files.length).toBeLessThanOrEqual(1);
  });

  it.each([
    ["an answer of the API", "/large"],
    ["a file", "/file"],
  ])("A126 closes a connection whose client does not read %s", async (_what, path) => {
    const socket = await open();
    socket.pause();
    socket.write(get(path).repeat(10));
    await eventually(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatchObject({ path, aborted: true });
    expect(handled).toEqual([path]);
    await eventually(() => expect(files.every((file) => file.destroyed)).toBe(true));
    socket.destroy();
  });

  describe("with a client that reads slowly, but reads", () => {
    /** Reads some of an answer each few milliseconds, and returns how many bytes it got until the connection was closed. */
    async function readSlowly(path: string): Promise<number> {
      const socket = await open();
      socket.on("error", () => {});
      socket.on("data", () => {
        socket.pause();
        setTimeout(() => socket.resume(), 5);
      });
      socket.write(get(path, "Connection: close"));
      await once(socket, "close");
      return socket.bytesRead;
    }

    async function listenWith(options: Parameters<typeof openListener>[0]) {
      await listener.close(0);
      listener = openListener(options);
      port = await listener.listen(0);
    }

    it("A126 closes the connection if it reads less than the least rate", async () => {
      await listenWith({ minReadRate: 1e9 });
      expect(await readSlowly("/large")).toBeLessThan(UNREAD_BYTES);
      await eventually(() => expect(lines).toMatchObject([{ path: "/large", aborted: true }]));
    });

    it("sends all of an answer if it reads more", async () => {
      // Client and server share a process here, which may be held up for longer than the others' time.
      await listenWith({ sendTimeoutMs: 1_000 });
      expect(await readSlowly("/large")).toBeGreaterThan(UNREAD_BYTES);
    });

    it("leaves a stream open of which all is read, however little that is", async () => {
      await listenWith({ minReadRate: 1e9 });
      const answer = await fetchPath("/file?events");
      expect(await answer.text()).toBe("data: x\n\n".repeat(EVENTS));
    });
  });

  it("waits longer for an answer that the server prepares than for one that the client reads", async () => {
    const answer = await fetchPath("/late");
    expect(await answer.text()).toBe("late");
  });

  it("keeps an idle connection longer than proxies do", async () => {
    const answer = await fetchPath("/anything");
    expect(answer.headers.get("keep-alive")).toBe("timeout=75");
  });

  it("keeps a safe request identifier of the caller, and otherwise creates one", async () => {
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

  it("logs what an open page repeats by itself below the level of other requests", async () => {
    await fetchPath("/repeated");
    await fetchPath("/echo");
    await expect.poll(() => lines.map(({ path }) => path)).toEqual(["/echo"]);
  });

  it("A111 escapes control characters of a logged path, and truncates a long one", async () => {
    const socket = await open();
    socket.write(
      `GET /%0A%1B[31m${"x".repeat(5_000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    await read(socket);
    await expect.poll(() => lines).toHaveLength(1);
    expect(String(lines[0]?.path)).toHaveLength(200);
    expect(JSON.stringify(lines[0])).not.toContain("\u001b");
  });

  it("answers an unexpected error with a 500 that names no cause, and logs it", async () => {
    const answer = await fetchPath("/broken");
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { code: 500, message: "Internal server error." },
    ]);
    await expect.poll(() => lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ level: "error", err: { message: "unexpected" } });
  });

  it.each([
    ["A97 an invalid request line", "HELLO\r\n\r\n", 400],
    [
      "A97 two content lengths",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      400,
    ],
    [
      "A97 a content length with a chunked body",
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
      "A89 a target that contains a host",
      "GET http://evil.example/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
      400,
    ],
    ["a target that is not a path", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    ["an invalid host", "GET /echo HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
    [
      "a header block over 16 KiB",
      `GET /echo HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(16 * 1024)}\r\n\r\n`,
      431,
    ],
  ])("rejects %s and closes the connection", async (_what, text, status) => {
    const socket = await open();
    socket.write(text);
    const answer = await read(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain("x-content-type-options: nosniff");
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  it("answers a request that it cannot read with an error in JSON, as the document of the interface promises", async () => {
    const requests = [
      [`GET /echo HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(16 * 1024)}\r\n\r\n`, 431],
      ["GET /echo HTTP/1.1\r\nHost: a\r\nX: \u0001\r\n\r\n", 400],
      ["OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
    ] as const;
    for (const [text, status] of requests) {
      const socket = await open();
      socket.write(text);
      const [head = "", body = ""] = (await read(socket)).split("\r\n\r\n");
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head.toLowerCase()).toContain("content-type: application/json; charset=utf-8");
      expect(head.toLowerCase()).toContain(`content-length: ${body.length}`);
      expect(JSON.parse(body)).toEqual({ code: status, message: expect.stringMatching(/\.$/) });
    }
  });

  it.each([
    ["is being sent", "/file"],
    ["is being prepared", "/slow"],
  ])(
    "A97 closes a connection without a word if invalid input follows a request whose answer %s",
    async (_what, path) => {
      const socket = await open();
      socket.write(get(path));
      const begun = () => expect(path === "/slow" ? release : socket.bytesRead).toBeTruthy();
      socket.on("error", () => {});
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      await eventually(begun);
      socket.write("garbage\r\n\r\n");
      await once(socket, "close");
      expect(text).not.toContain("400 Bad Request");
      await eventually(() => expect(lines).toEqual([expect.objectContaining({ path, aborted: true })]));
    },
  );

  it("A97 closes the connection if a request does not arrive within ten seconds", async () => {
    const socket = await open();
    socket.write("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhal");
    expect(await read(socket)).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  it("A120 waits for running requests before it closes, and accepts no new ones", async () => {
    const pending = fetchPath("/slow");
    await expect.poll(() => release).toBeTypeOf("function");
    const closed = listener.close(60_000);
    await expect(fetchPath("/echo")).rejects.toThrow();
    release?.();
    const answer = await pending;
    expect(await answer.json()).toEqual({ slow: true });
    expect(answer.headers.get("connection")).toBe("close");
    await closed;
  });

  it("closes the connections of requests that exceed the time limit of a shutdown", async () => {
    const pending = fetchPath("/slow");
    await expect.poll(() => release).toBeTypeOf("function");
    const aborted = expect(pending).rejects.toThrow();
    await listener.close(1);
    await aborted;
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ path: "/slow", aborted: true });
  });

  it("rejects with the error of the operating system if the port is in use", async () => {
    const second = createListener({
      log: createLogger("silent"),
      trustedProxies: [],
      errorHeaders: {},
      sendTimeoutMs: 60_000,
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
