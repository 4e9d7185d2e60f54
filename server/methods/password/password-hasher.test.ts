import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { createPasswordHasher, HashQueueFullError } from "./password-hasher.ts";

const { password: settings } = loadConfig({}, "/nonexistent");
const hasher = createPasswordHasher(settings);
const withPepper = (pepper: string) => createPasswordHasher({ ...settings, pepper });

describe("a hash", () => {
  test("is salted argon2id with the configured cost", async () => {
    const [one, two] = await Promise.all([hasher.hash("correct horse"), hasher.hash("correct horse")]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  test("verifies its own password only", async () => {
    const stored = await hasher.hash("correct horse");
    expect(await hasher.verify("correct horse", stored)).toEqual({ ok: true, outdated: false });
    for (const wrong of ["correct horse ", "Correct horse", "correct hors", ""]) {
      expect(await hasher.verify(wrong, stored)).toEqual({ ok: false, outdated: false });
    }
  });

  test("covers a password of any length completely, in NFC", async () => {
    expect((await hasher.verify("a\u0308bc", await hasher.hash("äbc"))).ok).toBe(true);
    const long = "x".repeat(255);
    expect((await hasher.verify(`${long}z`, await hasher.hash(`${long}y`))).ok).toBe(false);
    expect((await hasher.verify("ab\0cd", await hasher.hash("ab\0ce"))).ok).toBe(false);
  });

  test("with another cost still verifies, and is outdated", async () => {
    const costlier = createPasswordHasher({ ...settings, hash: { ...settings.hash, passes: 3 } });
    const stored = await hasher.hash("correct horse");
    expect(await costlier.verify("correct horse", stored)).toEqual({ ok: true, outdated: true });
    expect(await costlier.verify("wrong", stored)).toEqual({ ok: false, outdated: true });
    expect(await hasher.verify("correct horse", await costlier.hash("correct horse"))).toEqual({
      ok: true,
      outdated: true,
    });
  });
});

test("A2 a missing hash does not match, and costs as much as a real one", async () => {
  expect(await hasher.verify("anything", null)).toEqual({ ok: false, outdated: false });
  expect(await hasher.verify("", null)).toEqual({ ok: false, outdated: false });
  expect(await withPepper("0123456789abcdef").verify("anything", null)).toEqual({
    ok: false,
    outdated: false,
  });
});

test("A10 rejects a lone surrogate, a NUL and a megabyte as wrong passwords", async () => {
  const stored = await hasher.hash("a\ufffdb");
  for (const password of ["a\ud800b", "\udfff", "\0", "x".repeat(1_048_576)]) {
    expect(await hasher.verify(password, stored)).toEqual({ ok: false, outdated: false });
  }
});

test("a value in another format does not match", async () => {
  for (const stored of ["", "plain", "$2b$12$abcdefghijklmnopqrstuv", "pepper:$argon2id"]) {
    expect((await hasher.verify("plain", stored)).ok).toBe(false);
  }
});

describe("a pepper", () => {
  const first = withPepper("the first pepper of all");
  const second = withPepper("the second pepper there is");

  test("is named in the hash, and required", async () => {
    const stored = await first.hash("correct horse");
    expect(stored).toMatch(/^pepper:[A-Za-z0-9_-]{8}\$argon2id\$/);
    expect(await first.verify("correct horse", stored)).toEqual({ ok: true, outdated: false });
    expect(stored).not.toContain("first");
  });

  test("leaves hashes without it valid, and outdated", async () => {
    expect(await first.verify("correct horse", await hasher.hash("correct horse"))).toEqual({
      ok: true,
      outdated: true,
    });
  });

  test("is reported as outdated if it was removed or replaced, unlike a wrong password", async () => {
    const stored = await first.hash("correct horse");
    expect(await hasher.verify("correct horse", stored)).toEqual({ ok: false, outdated: true });
    expect(await second.verify("correct horse", stored)).toEqual({ ok: false, outdated: true });
  });
});

describe("A95 the queue of the hasher", () => {
  const small = () => createPasswordHasher({ ...settings, hash: { ...settings.hash, queue: 3 } });

  test("has a bounded length, and rejects the rest at once", async () => {
    const queued = small();
    const results = await Promise.allSettled(Array.from({ length: 100 }, () => queued.hash("x")));
    const rejected = results.filter((result) => result.status === "rejected");
    expect(results.slice(0, 5).every((result) => result.status === "fulfilled")).toBe(true);
    expect(rejected).toHaveLength(95);
    expect(rejected.every((result) => result.reason instanceof HashQueueFullError)).toBe(true);
  });

  test("reports that it is full before it is joined, and drains", async () => {
    const queued = small();
    const running = Array.from({ length: 5 }, () => queued.hash("x"));
    expect(queued.full).toBe(true);
    await Promise.all(running);
    expect(queued.full).toBe(false);
    expect(await queued.hash("y")).toContain("$argon2id$");
  });

  test("removes a caller that aborts", async () => {
    const queued = small();
    const running = Array.from({ length: 2 }, () => queued.hash("x"));
    const controller = new AbortController();
    const aborted = queued.verify("y", null, controller.signal);
    const waiting = [queued.hash("z"), queued.hash("z")];
    expect(queued.full).toBe(true);
    controller.abort(new Error("the request ended"));
    await expect(aborted).rejects.toThrow("the request ended");
    expect(queued.full).toBe(false);
    await Promise.all([...running, ...waiting, queued.hash("late")]);
    await expect(queued.hash("never", AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  });

  test("is processed in order, and a failure does not block it", async () => {
    const queued = createPasswordHasher({
      ...settings,
      hash: { ...settings.hash, memory: 8, passes: 1, queue: 64 },
    });
    const done: number[] = [];
    const broken = "$argon2id$v=19$m=8,t=1,p=1$!!!$!!!";
    await Promise.allSettled(
      Array.from({ length: 40 }, (_, place) =>
        queued.verify("x", place % 4 === 0 ? broken : null).finally(() => done.push(place)),
      ),
    );
    expect(done).toHaveLength(40);
    expect(queued.full).toBe(false);
  });
});
