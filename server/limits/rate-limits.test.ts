import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openDatabase } from "#db/client";
import { loadConfig } from "../config/load.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { createRateLimits, type TenantRate, tenantRates } from "./rate-limits.ts";

const config = loadConfig({}, "/nonexistent");

const postgres = await openForTests(testDatabase());

afterEach(() => vi.useRealTimers());

const rates = () => createRateLimits(config, postgres.database);
const tenantId = randomUUID();
const otherTenantId = randomUUID();
let subjects = 0;
const freshSubject = () => `subject-${subjects++}`;

/** Counts how many of a number of concurrent attempts are admitted. */
async function admitted(
  count: number,
  consume: (index: number) => Promise<{ ok: boolean }>,
): Promise<number> {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => consume(index)));
  return answers.filter((answer) => answer.ok).length;
}

test.each<[TenantRate, number]>([
  ["passcode_pace", 3],
  ["passcode_requester", 5],
  ["passcode_identifier", 10],
  ["passcode_account", 24],
  ["passcode_reserve", 8],
  ["passcode_source", 60],
  ["password", 5],
  ["password_source", 60],
  ["flow_start", 60],
])("the limit %s admits %i of 400 concurrent attempts", async (name, allowed) => {
  const limits = rates();
  const subject = freshSubject();
  expect(await admitted(400, () => limits.consume(tenantId, name, subject))).toBe(allowed);
  expect((await limits.consume(tenantId, name, freshSubject())).ok).toBe(true);
});

test("the limit page admits 300 of 400 concurrent attempts", async () => {
  const limits = rates();
  const subject = freshSubject();
  expect(await admitted(400, () => limits.consumeShared("page", subject))).toBe(300);
  expect((await limits.consumeShared("page", freshSubject())).ok).toBe(true);
});

test.each(tenantRates)("the limit %s of one tenant, exhausted, leaves that of another", async (name) => {
  const limits = rates();
  const subject = freshSubject();
  const untilRejected = async (tenant: string) => {
    let count = 0;
    while (count < 1000 && (await limits.consume(tenant, name, subject)).ok) count++;
    return count;
  };
  const allowed = await untilRejected(tenantId);
  expect(allowed).toBeGreaterThan(0);
  expect(await untilRejected(otherTenantId)).toBe(allowed);
  expect(await limits.consumeAll(randomUUID(), [{ name, subject }])).toEqual({ ok: true, exceeded: [] });
  expect(await limits.consumeAll(tenantId, [{ name, subject }])).toMatchObject({ ok: false });
});

test("A21 the wait is in whole seconds, at least one, and decreases", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const limits = rates();
  const subject = freshSubject();
  for (let sent = 0; sent < 3; sent++)
    expect(await limits.consume(tenantId, "passcode_pace", subject)).toEqual({ ok: true });
  const waits: number[] = [];
  for (let step = 0; step < 6; step++) {
    const answer = await limits.consume(tenantId, "passcode_pace", subject);
    if (!answer.ok) waits.push(answer.retryAfterSeconds);
    vi.setSystemTime(Date.now() + (step < 4 ? 12_000 : 11_999));
  }
  expect(waits).toEqual([60, 48, 36, 24, 12, 1]);
  vi.setSystemTime(Date.now() + 2);
  expect(await limits.consume(tenantId, "passcode_pace", subject)).toEqual({ ok: true });
});

test("A21 an address gets at most ten codes in any hour, from all sources", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const limits = rates();
  const subject = freshSubject();
  let sent = 0;
  for (let step = 0; step < 50; step++) {
    if ((await limits.consume(tenantId, "passcode_identifier", subject)).ok) sent += 1;
    vi.setSystemTime(Date.now() + 60_000);
  }
  expect(sent).toBe(10);
  const answer = await limits.consume(tenantId, "passcode_identifier", subject);
  expect(answer.ok ? 0 : answer.retryAfterSeconds).toBeGreaterThan(500);
});

describe("several limits at once", () => {
  test("consume a token of each, or of none", async () => {
    const limits = rates();
    const [source, victim] = [freshSubject(), freshSubject()];
    const charges = [
      { name: "passcode_pace", subject: source },
      { name: "passcode_identifier", subject: victim },
    ] as const;
    expect(await admitted(20, () => limits.consumeAll(tenantId, charges))).toBe(3);
    expect(await admitted(20, () => limits.consume(tenantId, "passcode_identifier", victim))).toBe(7);
    expect(await limits.consumeAll(tenantId, charges)).toMatchObject({ ok: false, reason: "rate_limited" });
  });

  test("report a quiet limit without a token, and reject nothing for it", async () => {
    const limits = rates();
    const [loud, quiet] = [freshSubject(), freshSubject()];
    const charges = [
      { name: "passcode_identifier", subject: loud },
      { name: "passcode_pace", subject: quiet, quiet: true },
    ] as const;
    const exceeded = [];
    for (let index = 0; index < 5; index++) {
      const verdict = await limits.consumeAll(tenantId, charges);
      exceeded.push(verdict.ok ? verdict.exceeded : null);
    }
    expect(exceeded).toEqual([[], [], [], ["passcode_pace"], ["passcode_pace"]]);
  });

  test("consume no token of a quiet limit while another one has none left", async () => {
    const limits = rates();
    const [source, victim] = [freshSubject(), freshSubject()];
    const charges = [
      { name: "passcode_pace", subject: source, quiet: true },
      { name: "passcode_identifier", subject: victim, quiet: true },
    ] as const;
    await admitted(20, () => limits.consumeAll(tenantId, charges));
    expect(await admitted(20, () => limits.consume(tenantId, "passcode_identifier", victim))).toBe(7);
  });

  test("wait for the last of the windows that are full", async () => {
    const limits = rates();
    const [one, other] = [freshSubject(), freshSubject()];
    await admitted(3, () => limits.consume(tenantId, "passcode_pace", one));
    await admitted(10, () => limits.consume(tenantId, "passcode_identifier", other));
    const verdict = await limits.consumeAll(tenantId, [
      { name: "passcode_pace", subject: one },
      { name: "passcode_identifier", subject: other },
    ]);
    expect(verdict.ok ? 0 : verdict.retryAfterSeconds).toBeGreaterThan(60);
  });

  test("do not deadlock over counters of which some are new", async () => {
    const limits = rates();
    for (let round = 0; round < 100; round++) {
      const [source, victim] = [freshSubject(), freshSubject()];
      await limits.consume(tenantId, "password_source", source);
      const charges = [
        { name: "passcode_account", subject: victim },
        { name: "password_source", subject: source },
      ] as const;
      expect(await admitted(50, () => limits.consumeAll(tenantId, charges))).toBe(24);
      expect(await admitted(50, () => limits.consume(tenantId, "password_source", source))).toBe(35);
    }
  });

  test("do not deadlock, whatever their order", async () => {
    const limits = rates();
    const [one, other] = [freshSubject(), freshSubject()];
    const charges = [
      { name: "passcode_identifier", subject: one },
      { name: "passcode_account", subject: other },
      { name: "password_source", subject: one },
    ] as const;
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        limits.consumeAll(tenantId, index % 2 ? charges : charges.toReversed()),
      ),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(10);
  });
});

test("A121 processes share their counts", async () => {
  const [one, other] = [rates(), rates()];
  const subject = freshSubject();
  expect(
    await admitted(20, (index) => (index % 2 ? one : other).consume(tenantId, "password", subject)),
  ).toBe(5);
});

test("A121 starts of flows are counted in batches: five processes overshoot by less than a batch each", async () => {
  const processes = Array.from({ length: 5 }, rates);
  const subject = freshSubject();
  let started = 0;
  for (let index = 0; index < 500; index++) {
    const answer = await processes[index % 5]?.consume(tenantId, "flow_start", subject);
    if (answer?.ok) started += 1;
  }
  expect(started).toBeGreaterThanOrEqual(60);
  expect(started).toBeLessThanOrEqual(60 + 5 * 5);
});

test("A121 a burst of starts at two processes overshoots by less than a batch each", async () => {
  const subject = freshSubject();
  const processes = [rates(), rates()];
  const verdicts = await Promise.all(
    Array.from({ length: 120 }, (_, start) => processes[start % 2]?.consume(tenantId, "flow_start", subject)),
  );
  expect(verdicts.filter((verdict) => verdict?.ok).length).toBeLessThanOrEqual(60 + 2 * 5);
});

test("a source that starts a few flows causes no queries", async () => {
  const closed = openDatabase(postgres.url, 1, () => {});
  await closed.close();
  const limits = createRateLimits(config, closed);
  const subject = freshSubject();
  expect(await admitted(5, () => limits.consume(tenantId, "flow_start", subject))).toBe(5);
  await expect(limits.consume(tenantId, "flow_start", subject)).rejects.toThrow();
});

test("keys of any length are counted, and stored hashed", async () => {
  const limits = rates();
  const subject = `${"x".repeat(10_000)}@example.com`;
  expect(await admitted(10, () => limits.consume(tenantId, "passcode_pace", subject))).toBe(3);
  const { rows } = await postgres.database.claim.$client.query("select key from rate_counters");
  expect(rows.every((row) => row.key.length < 100 && !row.key.includes("example"))).toBe(true);
});

test("counts are separate for each limit", async () => {
  const limits = rates();
  const subject = freshSubject();
  await admitted(10, () => limits.consume(tenantId, "password", subject));
  expect(await limits.consume(tenantId, "passcode_source", subject)).toEqual({ ok: true });
});

test("disabled limits admit everything and count nothing", async () => {
  const off = createRateLimits(
    { rate_limiter: { ...config.rate_limiter, enabled: false } },
    postgres.database,
  );
  const subject = freshSubject();
  expect(await admitted(200, () => off.consume(tenantId, "password", subject))).toBe(200);
  expect(await rates().consume(tenantId, "password", subject)).toEqual({ ok: true });
});

test("limits work without prepared statements", async () => {
  const limits = createRateLimits(config, { ...postgres.database, prepares: false });
  const subject = freshSubject();
  expect(await admitted(20, () => limits.consume(tenantId, "password", subject))).toBe(5);
});

test("an unreachable database is an error, not a rejection", async () => {
  const closed = openDatabase(postgres.url, 1, () => {});
  await closed.close();
  await expect(
    createRateLimits(config, closed).consume(tenantId, "password", freshSubject()),
  ).rejects.toThrow(/pool/);
});
