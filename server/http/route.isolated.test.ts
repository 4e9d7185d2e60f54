import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { holdRuntime } from "../runtime-slot.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import { recordedPeer, recordMessages } from "./request/node-messages.ts";
import { route } from "./route.ts";

/** Replaces Next's `after`, which only works inside Next. */
const { after } = vi.hoisted(() => ({ after: vi.fn() }));
vi.mock("next/server", () => ({ after }));

const runtime = await runtimeForTests();
holdRuntime(runtime);

describe("a route file of Next", () => {
  const exported = route("/*", async () => new Response("a page"));
  const request = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Request(`http://localhost:3000${path}`, { method, headers: { host: "localhost:3000", ...headers } });

  test("cannot be made for an address that the service does not have", () => {
    expect(() => route("/sign-in", async () => new Response())).toThrow("no address /sign-in");
  });

  test("answers every method by the table", async () => {
    expect((await exported.POST(request("POST", "/login"))).status).toBe(200);
    expect((await exported.PUT(request("PUT", "/login"))).status).toBe(405);
    expect((await exported.GET(request("GET", "/health/ready"))).status).toBe(200);
    expect((await exported.OPTIONS(request("OPTIONS", "/me"))).status).toBe(204);
  });

  describe("looks for due work", () => {
    const clock = vi.spyOn(performance, "now");
    let minute = 1e8;
    /** How often work was looked for after the requests. */
    const searches = async (...asked: [at: number, method: "GET" | "POST" | "PATCH"][]) => {
      after.mockClear();
      minute += 1e6;
      for (const [at, method] of asked) {
        clock.mockReturnValue(minute + at);
        await exported[method](request(method, method === "POST" ? "/login" : "/me"));
      }
      return after.mock.calls.length;
    };
    /** Without counts and records to write, which is work of its own. */
    const idle = {
      ...runtime,
      counters: { ...runtime.counters, isDue: () => false },
      recorder: { ...runtime.recorder, isWaiting: () => false },
    };
    const woken = (isWoken: { jobs?: boolean; webhooks?: boolean }) =>
      holdRuntime({
        ...idle,
        jobs: { ...runtime.jobs, isWoken: () => isWoken.jobs ?? false },
        webhooks: { ...runtime.webhooks, isWoken: () => isWoken.webhooks ?? false },
      });
    beforeEach(() => holdRuntime(idle));
    afterEach(() => holdRuntime(runtime));
    afterAll(() => clock.mockRestore());

    test("after a POST, but not after each: two seconds lie between two searches", async () => {
      expect(await searches([0, "POST"], [1, "POST"], [1999, "POST"], [2000, "POST"], [2001, "POST"])).toBe(
        2,
      );
    });

    test("after no other request that has caused none", async () => {
      expect(await searches([0, "GET"], [5000, "PATCH"])).toBe(0);
    });

    test.each([{ jobs: true }, { webhooks: true }])(
      "after each request while work of this process waits: %j",
      async (waiting) => {
        woken(waiting);
        expect(await searches([0, "GET"], [1, "POST"], [2, "PATCH"])).toBe(3);
      },
    );

    test("after no request of a server that a later release has outgrown", async () => {
      const standing = {
        ...runtime.standing,
        outgrownBy: { version: "99.0.0", oldestBeside: "99.0.0" },
        refresh: async () => {},
      };
      holdRuntime({ ...runtime, standing });
      runtime.counters.count(runtime.tenant.id, { measure: "limited", name: "x", at: Date.now() });
      expect(await searches([0, "POST"])).toBe(0);
    });
  });

  test("writes what was counted after a response, and not after each", async () => {
    const count = async () => {
      const { rows } = await runtime.database.read.$client.query(
        "select coalesce(sum(count), 0)::int as count from funnel_counts where state = 'preflight'",
      );
      return rows[0].count as number;
    };
    await runtime.counters.flush();
    const before = await count();
    const clock = vi.spyOn(performance, "now");
    const written: number[] = [];
    try {
      for (const seconds of [100, 101, 104, 105]) {
        clock.mockReturnValue(5e8 + seconds * 1000);
        after.mockClear();
        await exported.POST(request("POST", "/login"));
        for (const [callback] of after.mock.calls) await callback();
        written.push((await count()) - before);
      }
    } finally {
      clock.mockRestore();
    }
    expect(written).toEqual([1, 1, 1, 4]);
  });

  test("logs each request in one line, as npm start does, without query and secrets", async () => {
    const lines: unknown[] = [];
    const log = {
      ...runtime.log,
      info: (line: unknown) => lines.push(line),
    } as unknown as TestRuntime["log"];
    holdRuntime({ ...runtime, log });
    try {
      const headers = { "x-request-id": "caller-0815" };
      await exported.PUT(request("PUT", "/login?action=a%40b", headers));
    } finally {
      holdRuntime(runtime);
    }
    expect(lines).toEqual([
      {
        request_id: "caller-0815",
        method: "PUT",
        path: "/login",
        status: 405,
        duration_ms: expect.any(Number),
        source: expect.any(String),
        tenant: runtime.tenant.id,
      },
    ]);
  });

  test("purges after a POST, ten minutes after the last purge", async () => {
    const purgeExpired = vi.fn(async () => 0);
    const clock = vi.spyOn(performance, "now");
    holdRuntime({ ...runtime, purgeExpired });
    const purgesAt = async (minutes: number) => {
      clock.mockReturnValue(1e9 + minutes * 60_000);
      after.mockClear();
      await exported.POST(request("POST", "/login"));
      await after.mock.calls[0]?.[0]();
      return purgeExpired.mock.calls.length;
    };
    try {
      const counts = [await purgesAt(0), await purgesAt(9.9), await purgesAt(10), await purgesAt(10.1)];
      expect(counts).toEqual([1, 1, 2, 2]);
    } finally {
      clock.mockRestore();
      holdRuntime(runtime);
    }
  });

  test("sets a request id, the caller's if it sends one", async () => {
    const [own, made] = [
      await exported.GET(request("GET", "/me", { "x-request-id": "caller-0815" })),
      await exported.GET(request("GET", "/me")),
    ];
    expect(own.headers.get("x-request-id")).toBe("caller-0815");
    expect(made.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("passes an address outside the API to the pages", async () => {
    expect(await (await exported.GET(request("GET", "/account"))).text()).toBe("a page");
  });
});

describe("the messages of Node behind a request", () => {
  /** A server that answers as Next would: it makes a request of the message, and ends the answer by the response. */
  const answering = async (before: (incoming: IncomingMessage) => Promise<void>, bodies: boolean[]) => {
    const { POST } = route("/*", async () => new Response());
    const server = createServer(async (incoming, outgoing) => {
      await before(incoming);
      const request = new Request(`http://localhost:3000${incoming.url}`, {
        method: "POST",
        headers: incoming.headers as Record<string, string>,
      });
      const response = await POST(request);
      bodies.push(response.body !== null);
      if (!outgoing.headersSent) outgoing.statusCode = response.status;
      outgoing.end(response.body ? await response.text() : undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  const body = JSON.stringify({ capabilities: { webauthn_available: false } });
  const headers = { host: "localhost:3000", "content-type": "application/json" };

  test("are read and answered themselves, in one write with its length", async () => {
    const bodies: boolean[] = [];
    const { server, url } = await answering(async () => {}, bodies);
    const answer = await fetch(`${url}/login`, { method: "POST", headers, body });
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({ name: "login_init" });
    expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    expect(bodies).toEqual([false]);
    server.close();
  });

  test("are left to Next if something has read of them", async () => {
    const bodies: boolean[] = [];
    const read = async (incoming: IncomingMessage) => void (await incoming.resume().toArray());
    const { server, url } = await answering(read, bodies);
    expect((await fetch(`${url}/login`, { method: "POST", headers, body })).status).toBe(200);
    expect(bodies).toEqual([true]);
    server.close();
  });
});

describe("recordedPeer", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("A18 is the address of the connection, under a random header name", async () => {
    recordMessages();
    const seen = Promise.withResolvers<Headers>();
    const server = createServer((incoming, outgoing) => {
      seen.resolve(new Headers(incoming.headers as Record<string, string>));
      outgoing.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const headers = {
      "x-forwarded-for": "6.6.6.6",
      "x-vercel-forwarded-for": "6.6.6.6",
      "x-peer": "6.6.6.6",
    };
    await new Promise((resolve) =>
      get({ port, host: "127.0.0.1", headers }, (answer) => answer.resume().on("end", resolve)),
    );
    expect(recordedPeer(await seen.promise)).toBe("127.0.0.1");
    await new Promise((resolve) => server.close(resolve));
  });

  test("is empty if it was not recorded", () => {
    expect(recordedPeer(new Headers({ "x-vercel-forwarded-for": "6.6.6.6" }))).toBe("");
  });

  test("is the platform's header on Vercel", () => {
    vi.stubEnv("VERCEL", "1");
    expect(recordedPeer(new Headers({ "x-vercel-forwarded-for": "192.0.2.1" }))).toBe("192.0.2.1");
  });
});
