import { createHash, randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { insertUser } from "../testing/users.ts";
import { commitWrites } from "../testing/writes.ts";
import {
  findTrustedDevice,
  parseDeviceCookie,
  revokeDevices,
  revokeStolenDevice,
  type TrustedDeviceVerdict,
  trustDevice,
} from "./trusted-devices.ts";

const runtime = await runtimeForTests();

const start = new Date("2030-01-01T12:00:00.000Z");
const day = 86_400;

const scopeAt = (seconds = 0, settings: Record<string, string> = {}) =>
  requestContext(runtime.configured(settings), { now: new Date(start.getTime() + seconds * 1000) });

const write = (...changes: Write[]) => commitWrites(runtime, ...changes);

const someUser = () => insertUser(runtime, start);

const ask = (userId: string, cookie: string | null, context = scopeAt()): Promise<TrustedDeviceVerdict> =>
  findTrustedDevice(runtime.database.read, context, { cookie, userId });

/** Trusts a device, and returns the new value of its cookie. */
async function trust(
  userId: string,
  {
    cookie = null,
    rotates,
    context = scopeAt(),
  }: {
    cookie?: string | null;
    rotates?: { id: string; expiresAt: Date };
    context?: RequestContext;
  } = {},
): Promise<string> {
  const { cookieChanges, write: change } = trustDevice(context, {
    userId,
    cookie,
    ...(rotates ? { rotates } : {}),
  });
  await write(change);
  return cookieChanges.device.value;
}

/** Uses a trusted device, and returns the new value of its cookie. */
async function use(userId: string, cookie: string, context = scopeAt()): Promise<string> {
  const device = await ask(userId, cookie, context);
  if (!device.ok) throw new Error(`the device is ${device.reason}`);
  return trust(userId, { cookie, rotates: device, context });
}

const audited = async (userId: string) => {
  const { rows } = await runtime.database.read.$client.query(
    "select type from audit_logs where user_id = $1",
    [userId],
  );
  return rows.map(({ type }) => type);
};

describe("a trusted device", () => {
  test("has a token of 256 bits, of which the hash is stored", async () => {
    const userId = await someUser();
    const cookie = await trust(userId);
    expect(cookie).toMatch(new RegExp(`^${userId}:[A-Za-z0-9_-]{43}$`));
    expect(await ask(userId, cookie)).toMatchObject({ ok: true });
    const { rows } = await runtime.database.read.$client.query(
      "select token_hash from trusted_devices where user_id = $1",
      [userId],
    );
    const token = cookie.split(":")[1] ?? "";
    expect(rows).toEqual([{ token_hash: createHash("sha256").update(token).digest() }]);
  });

  test("is unknown if it was never trusted", async () => {
    const userId = await someUser();
    await trust(userId);
    const forged = `${userId}:${randomBytes(32).toString("base64url")}`;
    for (const cookie of [null, "", forged]) {
      expect(await ask(userId, cookie)).toEqual({ ok: false, reason: "unknown" });
    }
  });

  test("A106 is trusted for one user in one tenant only", async () => {
    const [one, other] = [await someUser(), await someUser()];
    const cookie = await trust(one);
    const token = cookie.split(":")[1];
    expect(await ask(other, cookie)).toEqual({ ok: false, reason: "unknown" });
    expect(await ask(other, `${other}:${token}`)).toEqual({ ok: false, reason: "unknown" });
    const elsewhere = { ...scopeAt(), tenant: { ...runtime.tenant, id: randomUUID() } };
    expect(await ask(one, cookie, elsewhere)).toEqual({ ok: false, reason: "unknown" });
  });

  test("A106 is trusted for 30 days, to the millisecond, however often it is used", async () => {
    const userId = await someUser();
    let cookie = await trust(userId);
    for (const days of [10, 20, 29]) cookie = await use(userId, cookie, scopeAt(days * day));
    expect(await ask(userId, cookie, scopeAt(30 * day - 0.001))).toMatchObject({ ok: true });
    expect(await ask(userId, cookie, scopeAt(30 * day))).toEqual({ ok: false, reason: "unknown" });
  });

  test("gets a full lifetime and a new token when it is trusted again", async () => {
    const userId = await someUser();
    const first = await trust(userId);
    const later = scopeAt(20 * day);
    const device = await ask(userId, first, later);
    if (!device.ok) throw new Error(`the device is ${device.reason}`);
    const { cookieChanges, write: change } = trustDevice(later, {
      userId,
      cookie: first,
      rotates: device,
      granted: true,
    });
    await write(change);
    expect(await ask(userId, first, later)).toMatchObject({ ok: false, reason: "replaced" });
    expect(await ask(userId, cookieChanges.device.value, scopeAt(49 * day))).toMatchObject({
      ok: true,
    });
  });

  test("A106 is no longer trusted after revocation, as after a change of password or factors", async () => {
    const [one, other] = [await someUser(), await someUser()];
    const [cookie, second, others] = [await trust(one), await trust(one), await trust(other)];
    await write((tx) => revokeDevices(tx, runtime.tenant.id, one));
    expect(await ask(one, cookie)).toEqual({ ok: false, reason: "unknown" });
    expect(await ask(one, second)).toEqual({ ok: false, reason: "unknown" });
    expect(await ask(other, others)).toMatchObject({ ok: true });
  });

  test("A107 is not trusted under the policy never, even if it was before", async () => {
    const userId = await someUser();
    const cookie = await trust(userId);
    const never = scopeAt(0, { STILE_MFA_DEVICE_TRUST_POLICY: "never" });
    expect(await ask(userId, cookie, never)).toEqual({ ok: false, reason: "unknown" });
    const always = scopeAt(0, { STILE_MFA_DEVICE_TRUST_POLICY: "always" });
    expect(await ask(userId, cookie, always)).toMatchObject({ ok: true });
  });
});

describe("a token", () => {
  test("A106 is replaced by its use, and a second use is detected", async () => {
    const userId = await someUser();
    const first = await trust(userId);
    const second = await use(userId, first);
    expect(second).not.toBe(first);
    expect(await ask(userId, second)).toMatchObject({ ok: true });
    expect(await ask(userId, first)).toMatchObject({ ok: false, reason: "replaced" });
  });

  test("A106 revokes all trusted devices of its user when it is reused, and is audited", async () => {
    const [one, other] = [await someUser(), await someUser()];
    const first = await trust(one);
    const [second, elsewhere, others] = [await use(one, first), await trust(one), await trust(other)];
    await write(revokeStolenDevice(scopeAt(), one));
    for (const cookie of [first, second, elsewhere]) {
      expect(await ask(one, cookie)).toEqual({ ok: false, reason: "unknown" });
    }
    expect(await ask(other, others)).toMatchObject({ ok: true });
    expect(await audited(one)).toEqual(["trusted_device_stolen"]);
    expect(await audited(other)).toEqual([]);
  });

  test("A106 is replaced once by two concurrent uses", async () => {
    const userId = await someUser();
    const cookie = await trust(userId);
    const seen = await Promise.all(Array.from({ length: 20 }, () => ask(userId, cookie)));
    const outcomes = await Promise.allSettled(
      seen.map((device) => {
        if (!device.ok) throw new Error(`the device is ${device.reason}`);
        return trust(userId, { cookie, rotates: device });
      }),
    );
    const rejected = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(outcomes).toHaveLength(rejected.length + 1);
    for (const { reason } of rejected) expect(reason).toEqual(new ConflictError("device"));
  });

  test("is not replaced if it is revoked during its use", async () => {
    const userId = await someUser();
    const cookie = await trust(userId);
    const device = await ask(userId, cookie);
    if (!device.ok) throw new Error(`the device is ${device.reason}`);
    await write((tx) => revokeDevices(tx, runtime.tenant.id, userId));
    await expect(trust(userId, { cookie, rotates: device })).rejects.toThrow(new ConflictError("device"));
    // The token of another user is not accepted either.
    const other = await someUser();
    const foreign = await ask(other, await trust(other));
    if (!foreign.ok) throw new Error(`the device is ${foreign.reason}`);
    await expect(trust(userId, { rotates: foreign })).rejects.toThrow(new ConflictError("device"));
  });
});

describe("the cookie", () => {
  test("holds a limited number of users, newest first, one entry each", async () => {
    const people = await Promise.all(Array.from({ length: 4 }, someUser));
    const context = scopeAt(0, { STILE_MFA_DEVICE_TRUST_MAX_USERS_PER_DEVICE: "3" });
    let cookie: string | null = null;
    for (const userId of people) cookie = await trust(userId, { cookie, context });
    const holds = (value: string | null) => parseDeviceCookie(value).map(({ userId }) => userId);
    expect(holds(cookie)).toEqual([people[3], people[2], people[1]]);
    expect(await ask(people[1] ?? "", cookie)).toMatchObject({ ok: true });
    cookie = await use(people[1] ?? "", cookie ?? "", context);
    expect(holds(cookie)).toEqual([people[1], people[3], people[2]]);
    expect(await ask(people[2] ?? "", cookie)).toMatchObject({ ok: true });
  });

  test("lives as long as its longest entry", () => {
    const { cookieChanges } = trustDevice(scopeAt(29 * day), {
      userId: randomUUID(),
      cookie: null,
      rotates: { id: randomUUID(), expiresAt: new Date(start.getTime() + 30 * day * 1000) },
    });
    expect(cookieChanges.device.seconds).toBe(30 * day);
  });

  test("fits the size limit of browsers with fifty users", () => {
    const context = scopeAt(0, { STILE_MFA_DEVICE_TRUST_MAX_USERS_PER_DEVICE: "50" });
    let cookie: string | null = null;
    for (let person = 0; person < 60; person++) {
      cookie = trustDevice(context, { userId: randomUUID(), cookie }).cookieChanges.device.value;
    }
    expect(parseDeviceCookie(cookie)).toHaveLength(50);
    expect(`${context.tenant.config.mfa.device_trust_cookie_name}=${cookie}`.length).toBeLessThanOrEqual(
      4096,
    );
  });

  test("is read entry by entry, and malformed parts are ignored", async () => {
    const entry = fc
      .tuple(fc.uuid(), fc.uint8Array({ minLength: 32, maxLength: 32 }))
      .map(([userId, bytes]) => ({ userId, token: Buffer.from(bytes).toString("base64url") }));
    const malformed = fc
      .string({ unit: "binary", maxLength: 80 })
      .filter((text) => !text.includes("|") && !/^[0-9a-f-]{36}:/.test(text));
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, malformed), { maxLength: 20 }), (parts) => {
        const cookie = parts.map((part) =>
          typeof part === "string" ? part : `${part.userId}:${part.token}`,
        );
        const people = new Map<string, unknown>();
        for (const part of parts) {
          if (typeof part !== "string" && !people.has(part.userId)) people.set(part.userId, part);
        }
        expect(parseDeviceCookie(cookie.join("|"))).toEqual([...people.values()]);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 10_000 }), (text) => {
        expect(parseDeviceCookie(text)).toEqual([]);
      }),
    );
    for (const cookie of [
      "__proto__:x",
      "|".repeat(4096),
      "a".repeat(10_000_000),
      `${randomUUID()}:`,
      ":",
      "\0",
    ]) {
      expect(parseDeviceCookie(cookie)).toEqual([]);
    }
    expect(await ask(await someUser(), "\0|:|\ud83d")).toEqual({ ok: false, reason: "unknown" });
  });

  test("is replaced by a valid one if its content is malformed", async () => {
    const userId = await someUser();
    const cookie = await trust(userId, { cookie: "; Path=/\r\nSet-Cookie: a=b|x:y" });
    expect(cookie).toMatch(/^[0-9a-f-]{36}:[A-Za-z0-9_-]{43}$/);
  });
});
