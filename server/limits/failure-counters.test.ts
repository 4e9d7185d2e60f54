import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createVault } from "../keys/vault.ts";
import { countFailure } from "../testing/failures.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import {
  consecutiveLimit,
  delayFor,
  type FailureKey,
  type FailureLimits,
  failureSubject,
  growingDelay,
  hourly,
  MAX_CONSECUTIVE_FAILURES,
  recordSuccess,
  unlimited,
} from "./failure-counters.ts";

const postgres = await openForTests(testDatabase());

const start = new Date("2030-01-01T12:00:00.000Z");
const at = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const freshKey = (source = "192.0.2.1"): FailureKey => ({
  tenantId: randomUUID(),
  method: "password",
  subject: [randomBytes(32)],
  source,
});

const attempt = (key: FailureKey, limits: FailureLimits, now = start) =>
  countFailure(postgres.database, key, limits, now);
const succeed = (key: Parameters<typeof recordSuccess>[1]) =>
  postgres.database.write.transaction((tx) => recordSuccess(tx, key));

async function fail(key: FailureKey, times: number, now = start): Promise<void> {
  for (let time = 0; time < times; time++) await attempt(key, unlimited, now);
}

test("the wait doubles from the fifth consecutive failure, from 1 to 60 seconds", () => {
  const waits = Array.from({ length: 14 }, (_, count) => delayFor(count, growingDelay));
  expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(delayFor(1000, growingDelay)).toBe(60);
  expect(delayFor(1000, unlimited)).toBe(0);
});

describe("a growing wait", () => {
  test("is exact to the millisecond, and an early attempt neither counts nor prolongs it", async () => {
    const key = freshKey();
    for (let failure = 0; failure < 5; failure++)
      expect(await attempt(key, growingDelay)).toMatchObject({ ok: true });
    expect(await attempt(key, growingDelay, at(0.999))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    expect(await attempt(key, growingDelay, at(0.5))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    expect(await attempt(key, growingDelay, at(1))).toMatchObject({ ok: true });
    expect(await attempt(key, growingDelay, at(1))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 2,
    });
    expect(await attempt(key, growingDelay, at(3))).toMatchObject({ ok: true });
    expect(await attempt(key, growingDelay, at(3.5))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 4,
    });
  });

  test("A20 applies to one source only", async () => {
    const attacker = freshKey("198.51.100.7");
    await fail(attacker, 20);
    expect(await attempt(attacker, growingDelay, at(59))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    expect(await attempt({ ...attacker, source: "192.0.2.1" }, growingDelay, at(59))).toMatchObject({
      ok: true,
    });
  });

  test("ends with a success from the same source", async () => {
    const key = freshKey();
    await fail(key, 20);
    await succeed(key);
    expect(await attempt(key, growingDelay)).toMatchObject({ ok: true });
  });

  test("admits one of many concurrent attempts when it is over", async () => {
    const key = freshKey();
    await fail(key, 8);
    const answers = await Promise.all(Array.from({ length: 50 }, () => attempt(key, growingDelay, at(30))));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
  });
});

describe("failures in an hour", () => {
  test("A12 admit ten of 1000 concurrent attempts", async () => {
    const key = freshKey("");
    const answers = await Promise.all(Array.from({ length: 1000 }, () => attempt(key, hourly(10))));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(10);
    expect(answers.filter((answer) => !answer.ok)).toEqual(
      Array(990).fill({ ok: false, reason: "rate_limited", retryAfterSeconds: 3600 }),
    );
  });

  test("are reset after the hour, and the wait decreases until then", async () => {
    const key = freshKey("");
    for (let failure = 0; failure < 10; failure++) await attempt(key, hourly(10), at(failure));
    expect(await attempt(key, hourly(10), at(600))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 3000,
    });
    expect(await attempt(key, hourly(10), at(3599.9))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    expect(await attempt(key, hourly(10), at(3600))).toMatchObject({ ok: true });
    expect(await attempt(key, hourly(1), at(3601))).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 3599,
    });
  });

  test("are not reset by a success, which subtracts its own count only", async () => {
    const key = { ...freshKey(""), method: "passcode" as const };
    await fail(key, 9);
    for (let success = 0; success < 5; success++) {
      expect(await attempt(key, hourly(10))).toMatchObject({ ok: true });
      await succeed(key);
    }
    await fail(key, 1);
    expect((await attempt(key, hourly(10))).ok).toBe(false);
  });
});

describe("a hundred consecutive failures", () => {
  test("lock the method for an unlimited time", async () => {
    const key = freshKey("");
    await fail(key, MAX_CONSECUTIVE_FAILURES - 1);
    expect(await attempt(key, consecutiveLimit)).toMatchObject({ ok: true });
    expect(await attempt(key, consecutiveLimit)).toEqual({ ok: false, reason: "locked" });
    expect(await attempt(key, consecutiveLimit, at(86_400 * 365))).toEqual({ ok: false, reason: "locked" });
  });

  test.each(["passcode", "passkey"] as const)(
    "are lifted by a success of another method: %s",
    async (method) => {
      const key = freshKey("");
      await fail(key, MAX_CONSECUTIVE_FAILURES);
      await succeed({ ...key, method });
      expect(await attempt(key, consecutiveLimit)).toMatchObject({ ok: true });
    },
  );

  test("stay counted below the limit when another method succeeds", async () => {
    const key = freshKey("");
    await fail(key, MAX_CONSECUTIVE_FAILURES - 1);
    await succeed({ ...key, method: "passkey" });
    await attempt(key, consecutiveLimit);
    expect(await attempt(key, consecutiveLimit)).toEqual({ ok: false, reason: "locked" });
  });

  test("are counted over all sources, and reset by one success", async () => {
    const key = freshKey("");
    await fail(key, 60);
    await succeed({ ...key, source: "192.0.2.1" });
    await fail(key, MAX_CONSECUTIVE_FAILURES - 1);
    expect(await attempt(key, consecutiveLimit)).toMatchObject({ ok: true });
  });
});

test("admits concurrent attempts that arrive in another order than they read the clock", async () => {
  for (const limits of [growingDelay, hourly(10), unlimited]) {
    const key = freshKey();
    for (const seconds of [0, 0.002, 0.001])
      expect(await attempt(key, limits, at(seconds))).toMatchObject({ ok: true });
  }
});

test("A16 a rollback after an attempt was counted does not undo the count", async () => {
  const key = freshKey("");
  for (let round = 0; round < 10; round++) {
    await expect(
      postgres.database.write.transaction(async () => {
        await attempt(key, hourly(10));
        throw new Error("the step failed");
      }),
    ).rejects.toThrow("the step failed");
  }
  expect((await attempt(key, hourly(10))).ok).toBe(false);
});

test("counts concurrent successes and failures without a deadlock or a lost count", async () => {
  const key = freshKey("");
  const other = { ...key, method: "passcode" as const };
  await fail(key, MAX_CONSECUTIVE_FAILURES);
  await fail(other, MAX_CONSECUTIVE_FAILURES);
  await Promise.all(
    Array.from({ length: 60 }, (_, index) => {
      if (index % 3 === 0) return succeed({ ...key, source: "192.0.2.1" });
      if (index % 3 === 1) return succeed(other);
      return attempt({ ...key, source: "192.0.2.1" }, unlimited);
    }),
  );
  await succeed(key);
  expect(await attempt(key, consecutiveLimit)).toMatchObject({ ok: true });
});

test("counts separately for each tenant, method and subject", async () => {
  const key = freshKey("");
  await fail(key, 10);
  const others: FailureKey[] = [
    { ...key, tenantId: randomUUID() },
    { ...key, method: "passcode" },
    { ...key, subject: [randomBytes(32)] },
  ];
  for (const other of others) expect(await attempt(other, hourly(10))).toMatchObject({ ok: true });
  expect((await attempt(key, hourly(10))).ok).toBe(false);
});

test("A133 servers whose keys are in another order count together, and reset together", async () => {
  const [tenantId, userId] = [randomUUID(), randomUUID()];
  const keyOf = (...secretKeys: string[]): FailureKey => ({
    tenantId,
    method: "password",
    subject: failureSubject(createVault(secretKeys), tenantId, { userId }),
    source: "",
  });
  const [before, after] = [
    keyOf("the key of last year", "the key of this year"),
    keyOf("the key of this year", "the key of last year"),
  ];
  for (const key of [before, after, before, after]) expect((await attempt(key, hourly(4))).ok).toBe(true);
  expect((await attempt(before, hourly(4))).ok).toBe(false);
  expect((await attempt(after, hourly(4))).ok).toBe(false);
  await succeed(after);
  expect(await attempt(before, hourly(4))).toMatchObject({ ok: true, consecutive: 1 });
});

test("a subject reveals equality only", () => {
  const vault = createVault(["a key of sixteen characters"]);
  const [tenant, user] = [randomUUID(), randomUUID()];
  const subject = failureSubject(vault, tenant, { userId: user });
  expect(subject.map(({ length }) => length)).toEqual([32]);
  expect(failureSubject(vault, tenant, { userId: user })).toEqual(subject);
  expect(failureSubject(vault, tenant, { identifier: user })).not.toEqual(subject);
  expect(failureSubject(vault, randomUUID(), { userId: user })).not.toEqual(subject);
});
