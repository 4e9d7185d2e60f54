import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { createCounters } from "./counters.ts";
import { type Counted, HOUR_MS, hourOf } from "./measures.ts";
import { MAX_DETAILED_ROWS } from "./write-counts.ts";

const runtime = await runtimeForTests();
const { database, standing } = runtime;
const { id: tenantId } = runtime.tenant;

const client = { platform: "Windows", browser: "Firefox", embedding: "page" } as const;

/** Rows of an hour that no other test uses. */
let hour = hourOf(Date.now());
function nextHour(): number {
  hour += HOUR_MS;
  return hour;
}

async function rowsAt(at: number) {
  const rows = await database.read.select().from(schema.funnelCounts);
  return rows.filter((row) => row.hour.getTime() === hourOf(at));
}

const sum = (rows: { count: number }[]) => rows.reduce((total, { count }) => total + count, 0);

function countersOf(logged: string[] = []) {
  const log = pino({ level: "warn" }, { write: (line: string) => logged.push(line) });
  const state = { isDown: false };
  const claim = new Proxy(database.claim, {
    get: (target, name) => {
      if (state.isDown) throw new Error("the database is down");
      return Reflect.get(target, name);
    },
  });
  const counters = createCounters({ database: { claim, prepares: true }, standing, log });
  return { counters, state };
}

const entered = (at: number, more: Partial<Counted> = {}): Counted => ({
  measure: "entered",
  flowType: "login",
  state: "login_init",
  client,
  at,
  ...more,
});

test("a write that fails keeps the counts, and the next one writes each of them once", async () => {
  const at = nextHour();
  const logged: string[] = [];
  const { counters, state } = countersOf(logged);
  counters.count(tenantId, entered(at));
  state.isDown = true;
  await counters.flush();
  expect(logged.join()).toContain("are kept");
  counters.count(tenantId, entered(at));
  state.isDown = false;
  await counters.flush();
  await counters.flush();
  expect((await rowsAt(at)).map(({ count }) => count)).toEqual([2]);
});

test("while the database is away a process keeps a bounded number of rows, and says what it drops", async () => {
  const at = nextHour();
  const logged: string[] = [];
  const { counters, state } = countersOf(logged);
  state.isDown = true;
  for (let each = 0; each < 15_000; each += 1)
    counters.count(tenantId, entered(at, { name: `made-up-${each}` }));
  await counters.flush();
  expect(logged.join()).toContain('"dropped":3000');
  // What is kept already is counted on.
  counters.count(tenantId, entered(at, { name: "made-up-0" }));
  state.isDown = false;
  await counters.flush();
  expect(sum(await rowsAt(at))).toBe(12_001);
});

test("counts of a tenant that is gone are dropped, and those of the others are written", async () => {
  const at = nextHour();
  const { counters } = countersOf();
  counters.count(randomUUID(), entered(at));
  counters.count(tenantId, entered(at));
  await counters.flush();
  expect(sum(await rowsAt(at))).toBe(1);
});

test("a full hour counts further clients as other ones, and those that it knows as they are", async () => {
  const at = nextHour();
  const { counters } = countersOf();
  for (let each = 0; each < MAX_DETAILED_ROWS + 50; each += 1)
    counters.count(tenantId, entered(at, { client: { ...client, browser: `browser-${each}` } }));
  await counters.flush();
  counters.count(tenantId, entered(at, { client: { ...client, browser: "browser-0" } }));
  counters.count(tenantId, entered(at, { client: { ...client, browser: "browser-new" } }));
  await counters.flush();
  const rows = await rowsAt(at);
  expect(rows).toHaveLength(MAX_DETAILED_ROWS + 1);
  expect(rows.find(({ browser }) => browser === "browser-0")?.count).toBe(2);
  expect(rows.find(({ browser }) => browser === "other")).toMatchObject({
    platform: "other",
    embedding: "other",
    count: 51,
  });
});

test("durations are added up by bucket", async () => {
  const at = nextHour();
  const { counters } = countersOf();
  const left = (durationMs: number | null) => entered(at, { measure: "left", durationMs });
  for (const durationMs of [100, 100, null, 5_000]) counters.count(tenantId, left(durationMs));
  await counters.flush();
  counters.count(tenantId, left(100));
  await counters.flush();
  const [row] = await rowsAt(at);
  expect(row?.count).toBe(5);
  expect(row?.durations?.filter((count) => count > 0)).toEqual([3, 1]);
});

test("counts that are written by several processes at once are added up, without a deadlock", async () => {
  const at = nextHour();
  const all = Array.from({ length: 4 }, () => countersOf().counters);
  for (const [index, counters] of all.entries())
    for (let each = 0; each < 100; each += 1)
      counters.count(tenantId, entered(at, { name: `name-${index % 2 ? each : 99 - each}` }));
  await Promise.all(all.map((counters) => counters.flush()));
  const rows = await rowsAt(at);
  expect(rows).toHaveLength(100);
  expect(new Set(rows.map(({ count }) => count))).toEqual(new Set([4]));
});

test("what is due is told to processes without a timer", async () => {
  const { counters } = countersOf();
  expect(counters.isDue()).toBe(false);
  counters.count(tenantId, entered(nextHour()));
  expect(counters.isDue()).toBe(true);
  await counters.flush();
  counters.count(tenantId, entered(nextHour()));
  // Not by each request.
  expect(counters.isDue()).toBe(false);
  await counters.stop();
  expect(sum(await rowsAt(hour))).toBe(1);
});
