import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { holdRuntime } from "../runtime-slot.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { recordedPeer, recordPeers } from "./peer.ts";
import { route } from "./route.ts";

/** Next's own, which only works inside Next. */
const { after } = vi.hoisted(() => ({ after: vi.fn() }));
vi.mock("next/server", () => ({ after }));

let runtime: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime();
  holdRuntime(runtime);
});

afterAll(() => runtime.close());

describe("a route file of Next", () => {
  const exported = route();
  const request = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Request(`http://localhost:3000${path}`, { method, headers: { host: "localhost:3000", ...headers } });

  test("answers as the table says, whatever the method", async () => {
    expect((await exported.POST(request("POST", "/login"))).status).toBe(200);
    expect((await exported.PUT(request("PUT", "/login"))).status).toBe(405);
    expect((await exported.GET(request("GET", "/health/ready"))).status).toBe(200);
    expect((await exported.OPTIONS(request("OPTIONS", "/me"))).status).toBe(204);
  });

  test("has jobs done after what may have made some", async () => {
    after.mockClear();
    await exported.GET(request("GET", "/me"));
    expect(after).not.toHaveBeenCalled();
    await exported.POST(request("POST", "/login"));
    expect(after).toHaveBeenCalledOnce();
  });

  test("gives each answer a name, the caller's own where it has one", async () => {
    const [own, made] = [
      await exported.GET(request("GET", "/me", { "x-request-id": "caller-0815" })),
      await exported.GET(request("GET", "/me")),
    ];
    expect(own.headers.get("x-request-id")).toBe("caller-0815");
    expect(made.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("has nothing at an address that is not the API's", async () => {
    expect((await exported.GET(request("GET", "/other"))).status).toBe(404);
  });
});

describe("the peer of a request", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("A18 is that of the connection, under a name that nobody can guess", async () => {
    recordPeers();
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

  test("is unknown where nobody noted it", () => {
    expect(recordedPeer(new Headers({ "x-vercel-forwarded-for": "6.6.6.6" }))).toBe("");
  });

  test("on Vercel is what the platform says", () => {
    vi.stubEnv("VERCEL", "1");
    expect(recordedPeer(new Headers({ "x-vercel-forwarded-for": "192.0.2.1" }))).toBe("192.0.2.1");
  });
});
