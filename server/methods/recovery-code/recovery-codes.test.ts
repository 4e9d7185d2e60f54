import { randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { createVault } from "../../keys/vault.ts";
import type { RequestContext } from "../../runtime.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { testClient } from "../../testing/runtime.ts";
import { insertUser } from "../../testing/users.ts";
import { commitWrites } from "../../testing/writes.ts";
import {
  countRecoveryCodes,
  deleteRecoveryCodes,
  newRecoveryCode,
  normalizeRecoveryCode,
  replaceRecoveryCodes,
  verifyRecoveryCode,
} from "./recovery-codes.ts";

const runtime = await runtimeForTests();

const start = new Date("2030-01-01T12:00:00.000Z");
const withLimits = { STILE_RATE_LIMITER_ENABLED: "true" };

const scopeAt = (seconds = 0, settings: Record<string, string> = {}, source = testClient.source) =>
  requestContext(runtime.configured(settings), { now: new Date(start.getTime() + seconds * 1000), source });

const write = (...changes: Write[]) => commitWrites(runtime, ...changes);

const someUser = () => insertUser(runtime, start);

async function owner(): Promise<{ userId: string; codes: string[] }> {
  const userId = await someUser();
  const { codes, write: change } = replaceRecoveryCodes(scopeAt(), userId);
  await write(change);
  return { userId, codes };
}

const left = (userId: string) => countRecoveryCodes(runtime.database.read, runtime.tenant.id, userId);

/** Verifies a code, and consumes it if it is correct. */
async function enter(context: RequestContext, userId: string, code: string): Promise<string> {
  const judged = await verifyRecoveryCode(context, { userId, code });
  if (!judged.ok) return judged.reason;
  await write(judged.write);
  return "right";
}

const unusedCode = () => newRecoveryCode({ randomBytes });

describe("the codes of an account", () => {
  test("are ten different codes of four groups, without ambiguous characters", async () => {
    const { userId, codes } = await owner();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(await left(userId)).toBe(10);
  });

  test("are accepted once each", async () => {
    const { userId, codes } = await owner();
    for (const [index, code] of codes.entries()) {
      expect(await enter(scopeAt(), userId, code)).toBe("right");
      expect(await enter(scopeAt(), userId, code)).toBe("wrong");
      expect(await left(userId)).toBe(9 - index);
    }
  });

  test("are rejected after they were replaced or deleted", async () => {
    const { userId, codes } = await owner();
    const again = replaceRecoveryCodes(scopeAt(), userId);
    const judged = await verifyRecoveryCode(scopeAt(), { userId, code: codes[0] ?? "" });
    await write(again.write);
    expect(await enter(scopeAt(), userId, codes[0] ?? "")).toBe("wrong");
    if (!judged.ok) throw new Error("the correct code was rejected");
    await expect(write(judged.write)).rejects.toThrow(new ConflictError("recovery_code"));
    expect(await enter(scopeAt(), userId, again.codes[0] ?? "")).toBe("right");
    await write(deleteRecoveryCodes(scopeAt(), userId));
    expect(await enter(scopeAt(), userId, again.codes[1] ?? "")).toBe("wrong");
    expect(await left(userId)).toBe(0);
  });

  test("stay ten after concurrent replacements", async () => {
    const { userId } = await owner();
    await Promise.all(Array.from({ length: 5 }, () => write(replaceRecoveryCodes(scopeAt(), userId).write)));
    expect(await left(userId)).toBe(10);
  });

  test("are rejected for other accounts and tenants", async () => {
    const [one, other] = [await owner(), await owner()];
    const [code = ""] = one.codes;
    expect(await enter(scopeAt(), other.userId, code)).toBe("wrong");
    const elsewhere = { ...scopeAt(), tenant: { ...runtime.tenant, id: randomUUID() } };
    expect(await enter(elsewhere, one.userId, code)).toBe("wrong");
    expect(await enter(scopeAt(), one.userId, code)).toBe("right");
  });

  test("stay valid when another key becomes the first one", async () => {
    const { userId, codes } = await owner();
    const vault = createVault(["a key that came later on", "a key for tests alone"]);
    const rotated = { ...scopeAt(), runtime: { ...runtime, vault } };
    expect(await enter(rotated, userId, codes[0] ?? "")).toBe("right");
    const fresh = replaceRecoveryCodes(rotated, userId);
    await write(fresh.write);
    expect(await enter(rotated, userId, fresh.codes[0] ?? "")).toBe("right");
  });

  test("are not stored in plain text", async () => {
    const { userId, codes } = await owner();
    const { rows } = await runtime.database.read.$client.query(
      "select code_hash from recovery_codes where user_id = $1",
      [userId],
    );
    expect(rows).toHaveLength(10);
    const stored = rows.map(({ code_hash }) => code_hash.toString("latin1")).join("|");
    for (const code of codes) {
      expect(stored).not.toContain(code);
      expect(stored).not.toContain(code.replaceAll("-", ""));
    }
  });

  test("cannot be created for a deleted account", async () => {
    await expect(write(replaceRecoveryCodes(scopeAt(), randomUUID()).write)).rejects.toThrow(
      new ConflictError("user"),
    );
  });
});

describe("an entered code", () => {
  test("may be in any case, with or without dashes and spaces, and with letters for digits", () => {
    const code = "01AB-CDEF-GHJK-MN10";
    for (const typed of [
      code,
      code.toLowerCase(),
      "oiabcdefghjkmnlo",
      "OLAB CDEF GHJK MNIO",
      " 01ab–cdef — ghjk‐mn10\u00a0",
      "0-1-A-B-C-D-E-F-G-H-J-K-M-N-1-0",
    ]) {
      expect([typed, normalizeRecoveryCode(typed)]).toEqual([typed, "01ABCDEFGHJKMN10"]);
    }
  });

  test("is normalized to the generated code", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const code = newRecoveryCode({ randomBytes: () => Buffer.from(bytes) });
        expect(normalizeRecoveryCode(code.toLowerCase())).toBe(code.replaceAll("-", ""));
      }),
    );
  });

  test("is not accepted if it is too short, too long, or has other characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (typed) => {
        const normal = normalizeRecoveryCode(typed);
        expect(normal === null || /^[0-9A-HJKMNP-TV-Z]{16}$/.test(normal)).toBe(true);
      }),
    );
    for (const typed of [
      "",
      "-",
      "01AB-CDEF-GHJK-MN1",
      "01AB-CDEF-GHJK-MN100",
      "01AB-CDEF-GHJK-MN1U",
      "１".repeat(16),
    ]) {
      expect([typed, normalizeRecoveryCode(typed)]).toEqual([typed, null]);
    }
  });

  test("is not counted as an attempt if it cannot be a code", async () => {
    const { userId, codes } = await owner();
    const context = scopeAt(0, withLimits);
    for (let tries = 0; tries < 10; tries++) expect(await enter(context, userId, "not a code")).toBe("wrong");
    expect(await enter(context, userId, codes[0] ?? "")).toBe("right");
  });
});

describe("wrong codes", () => {
  test("are verified three times a minute from one source, and other sources are not limited", async () => {
    const { userId, codes } = await owner();
    const here = scopeAt(0, withLimits);
    for (let tries = 0; tries < 3; tries++) expect(await enter(here, userId, unusedCode())).toBe("wrong");
    expect(await verifyRecoveryCode(here, { userId, code: codes[0] ?? "" })).toEqual({
      ok: false,
      reason: "rate_limited",
      retryAfterSeconds: 60,
    });
    for (const source of ["198.51.100.8", "198.51.100.9"]) {
      const there = scopeAt(1, withLimits, source);
      for (let tries = 0; tries < 3; tries++) expect(await enter(there, userId, unusedCode())).toBe("wrong");
    }
    expect(await enter(scopeAt(2, withLimits, "203.0.113.9"), userId, codes[0] ?? "")).toBe("right");
  });

  test("A16 stay counted when the step that verified them fails", async () => {
    const { userId, codes } = await owner();
    const context = scopeAt(0, withLimits);
    for (let tries = 0; tries < 3; tries++) {
      await expect(
        runtime.database.write.transaction(async () => {
          await verifyRecoveryCode(context, { userId, code: unusedCode() });
          throw new Error("the step failed");
        }),
      ).rejects.toThrow("the step failed");
    }
    expect(await enter(context, userId, codes[0] ?? "")).toBe("rate_limited");
  });

  test("never lock the codes, which cannot be guessed", async () => {
    const { userId, codes } = await owner();
    for (let tries = 0; tries < 101; tries++) {
      const context = scopeAt(tries * 300, withLimits, `198.51.100.${tries}`);
      expect(await enter(context, userId, unusedCode())).toBe("wrong");
    }
    expect(await enter(scopeAt(101 * 300, withLimits), userId, codes[0] ?? "")).toBe("right");
  });
});

test("of 50 concurrent correct attempts exactly one consumes the code", async () => {
  const { userId, codes } = await owner();
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, () =>
      enter(scopeAt(), userId, codes[3] ?? "").catch((error: unknown) =>
        error instanceof ConflictError ? "too late" : Promise.reject(error),
      ),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === "right")).toHaveLength(1);
  expect(await left(userId)).toBe(9);
});
