import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { runTogether } from "#db/together";
import type { Write } from "#db/write";
import {
  failureSubject,
  MAX_CONSECUTIVE_FAILURES,
  recordSuccess,
  unlimited,
} from "../../limits/failure-counters.ts";
import { createLogger } from "../../observability/logger.ts";
import type { RequestContext } from "../../runtime.ts";
import { countFailure } from "../../testing/failures.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { testClient } from "../../testing/runtime.ts";
import { createPasswordHasher, HashQueueFullError } from "./password-hasher.ts";
import { askForPassword, type PasswordVerdict, replacePassword, verifyPassword } from "./passwords.ts";

const runtime = await runtimeForTests();

const start = new Date("2030-01-01T12:00:00.000Z");
const right = "a quite good password";

function scopeOf(
  changes: Partial<RequestContext> & { source?: string; settings?: Record<string, string> } = {},
): RequestContext {
  const { source = testClient.source, settings = {}, ...rest } = changes;
  return { ...requestContext(runtime.configured(settings), { now: start, source }), ...rest };
}

/** The limits of production, without those that would hide the limit under test. */
const isVerified = (verdict: PasswordVerdict) => verdict.ok || verdict.reason === "wrong";

const limited = {
  STILE_RATE_LIMITER_ENABLED: "true",
  STILE_RATE_LIMITER_PASSWORDS_PER_MINUTE: "1000",
  STILE_RATE_LIMITER_PASSWORDS_PER_SOURCE: "100000",
};

const write = (change: Write) => runtime.database.write.transaction(change);

async function newUser(
  context: RequestContext,
  password?: string,
): Promise<{ userId: string; identifier: string }> {
  const userId = randomUUID();
  await runtime.database.write.insert(schema.users).values({ tenantId: context.tenant.id, id: userId });
  if (password)
    await write(replacePassword(context, userId, await context.runtime.passwordHasher.hash(password)));
  return { userId, identifier: `${userId}@example.com` };
}

async function hashOf(userId: string): Promise<string | undefined> {
  const { passwords } = schema;
  const [row] = await runtime.database.read.select().from(passwords).where(eq(passwords.userId, userId));
  return row?.hash;
}

describe("a password", () => {
  test("is correct for its own account only", async () => {
    const context = scopeOf();
    const user = await newUser(context, right);
    const other = await newUser(context, "another good password");
    expect(await verifyPassword(context, { ...user, password: right })).toMatchObject({ ok: true });
    expect(await verifyPassword(context, { ...user, password: `${right}!` })).toEqual({
      ok: false,
      reason: "wrong",
    });
    expect(await verifyPassword(context, { ...other, password: right })).toEqual({
      ok: false,
      reason: "wrong",
    });
  });

  test("is wrong for the account of another tenant", async () => {
    const context = scopeOf();
    const user = await newUser(context, right);
    const elsewhere = { ...context, tenant: { ...context.tenant, id: randomUUID() } };
    expect(await verifyPassword(elsewhere, { ...user, password: right })).toEqual({
      ok: false,
      reason: "wrong",
    });
  });

  test("A1 is wrong, and counted, without an account or without a password", async () => {
    const context = scopeOf({ settings: limited });
    const passwordless = await newUser(context);
    const unknown = { identifier: `${randomUUID()}@example.com` };
    for (const account of [passwordless, unknown]) {
      const answers = [];
      for (let attempt = 0; attempt < 6; attempt++) {
        answers.push(await verifyPassword(context, { ...account, password: right }));
      }
      expect(answers).toEqual([
        ...Array(5).fill({ ok: false, reason: "wrong" }),
        { ok: false, reason: "rate_limited", retryAfterSeconds: 1 },
      ]);
    }
  });

  test("is verified again after a concurrent replacement", async () => {
    const context = scopeOf();
    const user = await newUser(context, right);
    const verdict = await verifyPassword(context, { ...user, password: right });
    await write(
      replacePassword(context, user.userId, await context.runtime.passwordHasher.hash("a new password")),
    );
    if (!("write" in verdict)) throw new Error("the correct password was rejected");
    await expect(write(verdict.write)).rejects.toThrow(new ConflictError("password"));
    expect(await verifyPassword(context, { ...user, password: "a new password" })).toMatchObject({
      ok: true,
    });
  });

  test("A3 is rehashed from older parameters when it is correct, not when it is wrong", async () => {
    const cheap = scopeOf();
    const costlier = scopeOf({
      settings: { STILE_PASSWORD_HASH_PASSES: "3", STILE_PASSWORD_PEPPER: "a pepper of twenty bytes" },
    });
    const user = await newUser(cheap, right);
    const before = await hashOf(user.userId);
    expect(await verifyPassword(costlier, { ...user, password: "wrong" })).toEqual({
      ok: false,
      reason: "wrong",
    });
    expect(await hashOf(user.userId)).toBe(before);
    const verdict = await verifyPassword(costlier, { ...user, password: right });
    if (!("write" in verdict)) throw new Error("the correct password was rejected");
    await write(verdict.write);
    expect(await hashOf(user.userId)).toMatch(/^pepper:[^$]+\$argon2id\$v=19\$m=\d+,t=3,p=1\$/);
    expect(await verifyPassword(costlier, { ...user, password: right })).toMatchObject({ ok: true });
  });
});

test("A145 a hash that a former version stored beyond the cost is a wrong password, which the log explains", async () => {
  const lines: string[] = [];
  const context = scopeOf();
  const log = createLogger("warn", { write: (line) => void lines.push(line) });
  const logged = { ...context, runtime: { ...context.runtime, log } };
  const user = await newUser(context);
  await write(replacePassword(context, user.userId, `$scrypt$ln=1,r=9999,p=200$c2FsdA$${"A".repeat(43)}`));
  expect(await verifyPassword(logged, { ...user, password: right })).toEqual({ ok: false, reason: "wrong" });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: "warn",
      tenant: context.tenant.id,
      user_id: user.userId,
      limit: expect.stringMatching(/scrypt/),
    },
  ]);
  // A recovery sets a new password.
  await write(replacePassword(context, user.userId, await context.runtime.passwordHasher.hash(right)));
  expect(await verifyPassword(logged, { ...user, password: right })).toMatchObject({ ok: true });
  expect(lines).toHaveLength(1);
});

describe("attempts", () => {
  test("are delayed from the fifth failure on, for the account and source", async () => {
    const context = scopeOf({ settings: limited });
    const user = await newUser(context, right);
    const at = (seconds: number, source = testClient.source) =>
      scopeOf({ settings: limited, source, now: new Date(start.getTime() + seconds * 1000) });
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await verifyPassword(at(0), { ...user, password: "wrong" })).toEqual({
        ok: false,
        reason: "wrong",
      });
    }
    expect(await verifyPassword(at(0.5), { ...user, password: right })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    // A20 Attempts from another source do not delay the owner.
    expect(await verifyPassword(at(0.5, "198.51.100.9"), { ...user, password: right })).toMatchObject({
      ok: true,
    });
    expect(await verifyPassword(at(1), { ...user, password: "wrong" })).toEqual({
      ok: false,
      reason: "wrong",
    });
    expect(await verifyPassword(at(2.5), { ...user, password: right })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    const verdict = await verifyPassword(at(3), { ...user, password: right });
    if (!("write" in verdict)) throw new Error("the correct password was rejected");
    await write(verdict.write);
    expect(await verifyPassword(at(3), { ...user, password: "wrong" })).toEqual({
      ok: false,
      reason: "wrong",
    });
    expect(await verifyPassword(at(3), { ...user, password: right })).toMatchObject({ ok: true });
  });

  test("A13 are verified, if concurrent, only as often as the delay allows", async () => {
    const context = scopeOf({ settings: limited });
    const user = await newUser(context, right);
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, () => verifyPassword(context, { ...user, password: "wrong" })),
    );
    expect(verdicts.filter(isVerified)).toHaveLength(5);
  });

  test("are limited to five a minute for one account from one source", async () => {
    const context = scopeOf({ settings: { STILE_RATE_LIMITER_ENABLED: "true" }, source: "192.0.2.55" });
    const user = await newUser(context, right);
    for (let attempt = 0; attempt < 5; attempt++) {
      const verdict = await verifyPassword(context, { ...user, password: right });
      if (!("write" in verdict)) throw new Error("the correct password was rejected");
      await write(verdict.write);
    }
    const verdict = await verifyPassword(context, { ...user, password: right });
    expect(verdict).toEqual({ ok: false, reason: "rate_limited", retryAfterSeconds: expect.any(Number) });
    expect("retryAfterSeconds" in verdict && verdict.retryAfterSeconds).toBeGreaterThan(10);
  });

  test("A17 are limited for each source, for attempts with one password for many accounts", async () => {
    const settings = { ...limited, STILE_RATE_LIMITER_PASSWORDS_PER_SOURCE: "10" };
    const attacker = scopeOf({ settings, source: "2001:db8:bad:1::/64" });
    const verdicts = [];
    for (let account = 0; account < 30; account++) {
      verdicts.push(
        await verifyPassword(attacker, { identifier: `user${account}@example.com`, password: right }),
      );
    }
    expect(verdicts.filter(isVerified)).toHaveLength(10);
    const owner = await newUser(attacker, right);
    const home = scopeOf({ settings, source: "192.0.2.77" });
    expect(await verifyPassword(home, { ...owner, password: right })).toMatchObject({ ok: true });
  });

  test("A20 lock the password after a hundred failures, and tell only the operator, until another method succeeds", async () => {
    const context = scopeOf({ settings: limited, source: "203.0.113.5" });
    const user = await newUser(context, right);
    const { tenant } = context;
    const key = { tenantId: tenant.id, subject: failureSubject(runtime.vault, tenant.id, user), source: "" };
    for (let failure = 0; failure < MAX_CONSECUTIVE_FAILURES; failure++) {
      await countFailure(runtime.database, { ...key, method: "password" }, unlimited, start);
    }
    const tried = { ...user, password: right };
    expect(await verifyPassword(context, { ...tried, hasAlternative: true })).toEqual({
      ok: false,
      reason: "locked",
    });
    expect(await verifyPassword(context, { ...tried, hasAlternative: false })).toMatchObject({ ok: true });
    await write((tx) => recordSuccess(tx, { ...key, method: "passkey" }));
    expect(await verifyPassword(context, { ...user, password: right })).toMatchObject({ ok: true });
  });

  test("do not lock the password of an account that has lost its other method since the attempt was asked about", async () => {
    const context = scopeOf({ settings: limited, source: "203.0.113.6" });
    const user = await newUser(context, right);
    const subject = failureSubject(runtime.vault, context.tenant.id, user);
    const key = { tenantId: context.tenant.id, subject, source: "", method: "password" } as const;
    for (let failure = 0; failure < MAX_CONSECUTIVE_FAILURES; failure++)
      await countFailure(runtime.database, key, unlimited, start);
    const tried = { ...user, password: right };
    const question = askForPassword(context, { ...tried, hasAlternative: true });
    const asked = question?.found(await runTogether(runtime.database, question.parts, "claim")) ?? null;
    expect(await verifyPassword(context, { ...tried, hasAlternative: false }, asked)).toMatchObject({
      ok: true,
    });
  });

  test("are reset when the password is replaced", async () => {
    const context = scopeOf({ settings: limited });
    const user = await newUser(context, right);
    for (let attempt = 0; attempt < 5; attempt++)
      await verifyPassword(context, { ...user, password: "wrong" });
    expect(await verifyPassword(context, { ...user, password: "wrong" })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 1,
    });
    await write(
      replacePassword(context, user.userId, await context.runtime.passwordHasher.hash("a new password")),
    );
    expect(await verifyPassword(context, { ...user, password: "a new password" })).toMatchObject({
      ok: true,
    });
  });

  test("A95 are rejected without being counted if the queue is full", async () => {
    const context = scopeOf({ settings: limited });
    const user = await newUser(context, right);
    const passwordHasher = createPasswordHasher({
      ...context.tenant.config.password,
      hash: { ...context.tenant.config.password.hash, queue: 1 },
    });
    const busy = [1, 2, 3].map(() => passwordHasher.hash("x"));
    const withFullQueue = { ...context, runtime: { ...context.runtime, passwordHasher } };
    for (let attempt = 0; attempt < 20; attempt++) {
      await expect(verifyPassword(withFullQueue, { ...user, password: "wrong" })).rejects.toThrow(
        HashQueueFullError,
      );
    }
    await Promise.all(busy);
    expect(await verifyPassword(context, { ...user, password: right })).toMatchObject({ ok: true });
  });

  test("A95 that waited too long for the hasher are not counted as failures", async () => {
    const context = scopeOf({ settings: limited });
    const user = await newUser(context, right);
    await verifyPassword(context, { ...user, password: "wrong" });
    const passwordHasher = {
      ...context.runtime.passwordHasher,
      verify: () => Promise.reject(new HashQueueFullError()),
    };
    const busy = { ...context, runtime: { ...context.runtime, passwordHasher } };
    for (let attempt = 0; attempt < 20; attempt++)
      await expect(verifyPassword(busy, { ...user, password: right })).rejects.toThrow(HashQueueFullError);
    expect(await verifyPassword(context, { ...user, password: right })).toMatchObject({ ok: true });
  });

  test("of unknown names are counted where they are kept for days only", async () => {
    const context = scopeOf({ settings: limited, source: "192.0.2.99" });
    await verifyPassword(context, { identifier: `${randomUUID()}@example.com`, password: "wrong" });
    const user = await newUser(context, right);
    await verifyPassword(context, { ...user, password: "wrong" });
    const { rows } = await runtime.database.read.$client.query(
      `select array_agg(every.source order by every.source) as sources from failures every
        join failures own using (tenant_id, method, subject)
        where own.source = '192.0.2.99' group by subject order by sources`,
    );
    expect(rows.map(({ sources }) => sources)).toEqual([
      ["", "192.0.2.99"],
      ["*", "192.0.2.99"],
    ]);
  });

  test("are unlimited if limits are disabled", async () => {
    const context = scopeOf();
    const user = await newUser(context, right);
    for (let attempt = 0; attempt < 12; attempt++) {
      expect(await verifyPassword(context, { ...user, password: "wrong" })).toEqual({
        ok: false,
        reason: "wrong",
      });
    }
    expect(await verifyPassword(context, { ...user, password: right })).toMatchObject({ ok: true });
  });
});
