import { randomUUID } from "node:crypto";
import { getEventListeners, once } from "node:events";
import { get } from "node:http";
import { eq, type SQL } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { schema } from "#db/client";
import { countWaits } from "../../authenticator/wait-for-answer.ts";
import { createListener } from "../../start/listener.ts";
import {
  type AuthenticatorApplication,
  authenticatorApplication,
} from "../../testing/authenticator-application.ts";
import { eventually } from "../../testing/eventually.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import { dispatch, handle } from "../dispatch.ts";

/** A separate process for each test. */
let runtime: TestRuntime;
let closing: AbortController;
let application: AuthenticatorApplication;

const shared = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });

beforeEach(async () => {
  closing = new AbortController();
  runtime = { ...shared, closing: closing.signal };
  application = await authenticatorApplication(runtime);
});
afterEach(() => closing.abort());

const requests = "/v1/uaf/requests";
const accept = "text/event-stream";

async function newRequest() {
  const made = await application.create("REG", `user ${randomUUID()}`);
  const events = made.links.find(({ rel }: { rel: string }) => rel === "events").href as string;
  const succeed = () => application.answer(made, application.answerOf(createUafAuthenticator(), made));
  return { made, events, succeed };
}

/** Reads events as they arrive. */
function eventsOf(response: Response) {
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    /** The next event; null at the end. */
    async next(): Promise<Record<string, string> | null> {
      for (;;) {
        const at = text.indexOf("\n\n");
        if (at >= 0) {
          const lines = text.slice(0, at).split("\n");
          text = text.slice(at + 2);
          return Object.fromEntries(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2)));
        }
        const { value, done } = await reader.read();
        if (done) return null;
        text += value;
      }
    },
    cancel: () => reader.cancel(),
  };
}

const listen = async (events: string, headers = {}) => {
  const response = await application.fetch(events, { headers: { accept, ...headers } });
  return { response, stream: eventsOf(response) };
};

describe("a stream of events", () => {
  test("sends the status of the request, then its end, and closes", async () => {
    const { made, events, succeed } = await newRequest();
    const { response, stream } = await listen(events);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
    expect(await stream.next()).toEqual({ retry: "2000" });
    const { id, operation, createdAt, validUntil } = made;
    const seen = { id, operation, createdAt, validUntil };
    const first = await stream.next();
    expect(first).toEqual({ event: "status", id: "PENDING", data: expect.any(String) });
    expect(JSON.parse(first?.data ?? "")).toEqual({ ...seen, status: "PENDING" });
    await succeed();
    const last = await stream.next();
    expect(last).toEqual({ event: "status", id: "OK", data: expect.any(String) });
    expect(JSON.parse(last?.data ?? "")).toEqual({ ...seen, status: "OK" });
    expect(await stream.next()).toBeNull();
    expect(countWaits(runtime)).toBe(0);
  });

  test("sends an answer that another process accepted", async () => {
    const { made, events } = await newRequest();
    const { stream } = await listen(events);
    await stream.next();
    await stream.next();
    const elsewhere = await authenticatorApplication({ ...shared });
    await elsewhere.call("DELETE", `${requests}/${made.id}`);
    expect(await stream.next()).toMatchObject({ id: "FAILED", data: expect.stringContaining("cancelled") });
    expect(await stream.next()).toBeNull();
  });

  test("does not close for an answer that arrives while another is being verified", async () => {
    const { made, events, succeed } = await newRequest();
    const { stream } = await listen(events);
    await stream.next();
    await stream.next();
    const { challenge } = schema.authenticatorRequests;
    const one = eq(schema.authenticatorRequests.id, made.id);
    const [open] = await runtime.database.read
      .select({ challenge })
      .from(schema.authenticatorRequests)
      .where(one);
    const put = (value: string | null) =>
      runtime.database.write.update(schema.authenticatorRequests).set({ challenge: value }).where(one);
    await put(null);
    expect((await succeed()).body.status).toBe("PENDING");
    expect(countWaits(runtime)).toBe(1);
    await put(open?.challenge ?? null);
    expect((await succeed()).body.status).toBe("OK");
    expect(await stream.next()).toMatchObject({ id: "OK" });
  });

  test("sends the expiry of the request", async () => {
    const { events } = await newRequest();
    const { stream } = await listen(events);
    await stream.next();
    await stream.next();
    shared.advanceClock(120);
    expect(await stream.next()).toMatchObject({ id: "INVALIDATED" });
    expect(await stream.next()).toBeNull();
  });

  test("sends the status of an ended request once to each listener", async () => {
    const { events, succeed } = await newRequest();
    await succeed();
    const { stream } = await listen(events);
    await stream.next();
    expect(await stream.next()).toMatchObject({ id: "OK" });
    expect(await stream.next()).toBeNull();
    const again = await application.fetch(events, { headers: { accept, "last-event-id": "OK" } });
    expect(again.status).toBe(204);
  });

  test("stops waiting when the listener disconnects", async () => {
    const { events } = await newRequest();
    const { stream } = await listen(events);
    await stream.next();
    await eventually(() => expect(countWaits(runtime)).toBe(1));
    await stream.cancel();
    await eventually(() => expect(countWaits(runtime)).toBe(0));
  });

  test("removes its listeners from signals that live as long as the process", async () => {
    const combined = vi.spyOn(AbortSignal, "any");
    const { events, succeed } = await newRequest();
    const { stream } = await listen(events);
    await stream.next();
    await stream.next();
    expect(getEventListeners(closing.signal, "abort")).toHaveLength(1);
    await succeed();
    expect(await stream.next()).toMatchObject({ id: "OK" });
    expect(getEventListeners(closing.signal, "abort")).toEqual([]);
    for (const [signals] of combined.mock.calls) expect([...signals]).not.toContain(closing.signal);
    combined.mockRestore();
  });

  test("closes when the process shuts down, and does not open afterwards", async () => {
    const { events } = await newRequest();
    const { stream } = await listen(events);
    await stream.next();
    await stream.next();
    closing.abort();
    expect(await stream.next()).toBeNull();
    const late = await listen(events);
    await late.stream.next();
    expect(await late.stream.next()).toMatchObject({ id: "PENDING" });
    expect(await late.stream.next()).toBeNull();
  });

  test("responds to HEAD with headers at once", async () => {
    const { events } = await newRequest();
    const response = await application.fetch(events, { method: "HEAD", headers: { accept } });
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "",
    ]);
    expect(countWaits(runtime)).toBe(0);
  });

  test("is limited to twenty per request; a further one sends the status and asks to retry", async () => {
    const { events, succeed } = await newRequest();
    const listeners = await Promise.all(Array.from({ length: 21 }, () => listen(events)));
    const heard = await Promise.all(
      listeners.map(async ({ stream }) => {
        await stream.next();
        return stream.next();
      }),
    );
    expect(new Set(heard.map((event) => event?.id))).toEqual(new Set(["PENDING"]));
    await eventually(() => expect(countWaits(runtime)).toBe(20));
    await succeed();
    const then = await Promise.all(listeners.map(async ({ stream }) => (await stream.next())?.id ?? "end"));
    expect(then.toSorted()).toEqual([...Array(20).fill("OK"), "end"]);
  });

  test("A136 idle streams and long polls of one source are bounded, and others wait as usual", async () => {
    const made = await Promise.all(Array.from({ length: 8 }, newRequest));
    const streams = await Promise.all(
      made.slice(0, 4).flatMap(({ events }) => Array.from({ length: 20 }, () => listen(events))),
    );
    const polls = made
      .slice(4)
      .flatMap(({ events }) => Array.from({ length: 20 }, () => application.fetch(`${events}&wait=25`)));
    // Those above the limit are answered at once.
    await eventually(() => expect(countWaits(runtime)).toBe(100));
    const answered = await Promise.race(polls);
    expect(await answered.json()).toMatchObject({ status: "PENDING" });

    const { made: own, events, succeed } = await newRequest();
    const elsewhere = (url: string, headers: Record<string, string>) =>
      handle(
        new Request(url, { headers: { host: "login.example", ...headers } }),
        { peer: "198.51.100.7", requestId: "request-2" },
        runtime,
      );
    const stream = eventsOf((await elsewhere(events, { accept })) ?? Response.error());
    await stream.next();
    await stream.next();
    const ofApplication = application.call("GET", `${requests}/${own.id}?wait=25`);
    await eventually(() => expect(countWaits(runtime)).toBe(102));
    await succeed();
    expect(await stream.next()).toMatchObject({ id: "OK" });
    expect((await ofApplication).body).toMatchObject({ status: "OK" });

    closing.abort();
    await Promise.all([...polls, ...streams.map(({ stream }) => stream.cancel())]);
    expect(countWaits(runtime)).toBe(0);
  });

  test("closes at disconnect, and does not delay the shutdown of the server", async () => {
    const { events } = await newRequest();
    const listener = createListener({
      log: pino({ level: "silent" }),
      trustedProxies: [],
      errorHeaders: {},
      sendTimeoutMs: 60_000,
      destinations: Promise.resolve({
        api: (request, info) => dispatch(request, info, runtime),
        loggable: (_method: string, path: string) => path,
        pages: async () => new Response(),
      }),
    });
    const port = await listener.listen(0);
    const { pathname, search, host } = new URL(events);
    const open = async () => {
      const asked = get({ port, path: pathname + search, headers: { host, accept } });
      const [incoming] = await once(asked, "response");
      incoming.on("error", () => {});
      await once(incoming, "data");
      return { asked, incoming };
    };
    const [one, other] = [await open(), await open()];
    await eventually(() => expect(countWaits(runtime)).toBe(2));
    one.asked.destroy();
    await eventually(() => expect(countWaits(runtime)).toBe(1));
    const ended = once(other.incoming, "end");
    closing.abort();
    // Far longer than the test may take: no connection is cut.
    await listener.close(600_000);
    other.incoming.resume();
    await ended;
  });
});

describe("long polling", () => {
  test("responds when the authenticator answers, with the view of its caller", async () => {
    const { made, events, succeed } = await newRequest();
    const byKey = application.call("GET", `${requests}/${made.id}?wait=25`);
    const byPage = application.call("GET", events, { authorization: null });
    await eventually(() => expect(countWaits(runtime)).toBe(2));
    const answered = await succeed();
    expect((await byKey).body).toEqual(answered.body);
    const { id, operation, createdAt, validUntil } = made;
    expect((await byPage).body).toEqual({ id, operation, createdAt, validUntil, status: "OK" });
  });

  test("responds at once if the request has ended, or the process shuts down", async () => {
    const { made, succeed } = await newRequest();
    const path = `${requests}/${made.id}`;
    expect((await application.call("GET", `${path}?wait=0`)).body.status).toBe("PENDING");
    const waiting = application.call("GET", `${path}?wait=9999`);
    await eventually(() => expect(countWaits(runtime)).toBe(1));
    closing.abort();
    expect((await waiting).body.status).toBe("PENDING");
    await succeed();
    expect((await application.call("GET", `${path}?wait=25`)).body.status).toBe("OK");
  });

  test("ends with the connection", async () => {
    const { made } = await newRequest();
    const gone = new AbortController();
    const waiting = application.fetch(`${requests}/${made.id}?wait=25`, {
      headers: { authorization: `secret ${application.key}` },
      signal: gone.signal,
    });
    await eventually(() => expect(countWaits(runtime)).toBe(1));
    gone.abort();
    expect((await waiting).status).toBe(200);
    expect(countWaits(runtime)).toBe(0);
  });

  test.each(["-1", "1.5", "x", "", "1e3", "9999999", "1&wait=2"])("does not wait for %s", async (wait) => {
    const { made, events } = await newRequest();
    const told = await application.call("GET", `${requests}/${made.id}?wait=${wait}`);
    expect(told).toMatchObject({ status: 400, body: { message: "wait must be a whole number of seconds." } });
    expect((await application.call("GET", `${events}&wait=${wait}`, { authorization: null })).status).toBe(
      400,
    );
  });
});

test("one query reads the status for all waits, and none runs without waits", async () => {
  const made = await Promise.all(Array.from({ length: 5 }, newRequest));
  const execute = vi.spyOn(runtime.database.read, "execute");
  const waits = made.map(({ events }) => application.call("GET", events, { authorization: null }));
  await eventually(() => expect(countWaits(runtime)).toBe(5));
  await eventually(() => expect(execute.mock.calls.length).toBeGreaterThan(0));
  const [look] = execute.mock.calls.at(-1) ?? [];
  const { params } = new PgDialect().sqlToQuery(look as SQL);
  expect((params[1] as string[]).toSorted()).toEqual(made.map((one) => one.made.id).toSorted());
  await Promise.all(made.map(({ succeed }) => succeed()));
  for (const { status, body } of await Promise.all(waits)) expect([status, body.status]).toEqual([200, "OK"]);
  expect(countWaits(runtime)).toBe(0);
  execute.mockRestore();
});

test("on a serverless platform a stream closes soon and the page reconnects", async () => {
  const brief = { ...shared };
  const own = await authenticatorApplication(brief);
  const made = await own.create("REG", `user ${randomUUID()}`);
  const events = made.links.find(({ rel }: { rel: string }) => rel === "events").href as string;
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(AbortSignal.abort());
  const stream = eventsOf(await own.fetch(events, { headers: { accept } }));
  expect(await stream.next()).toEqual({ retry: "2000" });
  expect(await stream.next()).toMatchObject({ id: "PENDING" });
  expect(await stream.next()).toBeNull();
  expect(timeout).toHaveBeenCalledWith(5_000);
  timeout.mockRestore();
});
