import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { hashesAtOnce, sizePool } from "./hash-threads.ts";

it.each([
  [1, 1, 1],
  [1, 2, 2],
  [1, 16, 16],
  [2, 2, 1],
  [4, 16, 4],
  [3, 8, 2],
  [4, 2, 1],
])("%i processes on %i cores compute %i hashes each", (workers, cores, expected) => {
  vi.stubEnv("UV_THREADPOOL_SIZE", undefined);
  sizePool(workers, cores);
  expect(hashesAtOnce(workers, cores)).toBe(expected);
  vi.unstubAllEnvs();
});

it.each([
  ["4", 2],
  ["3", 1],
  ["1", 1],
  ["64", 16],
])("keeps a pool of %s threads, of which %i hash", (size, expected) => {
  vi.stubEnv("UV_THREADPOOL_SIZE", size);
  sizePool(1, 16);
  expect(process.env.UV_THREADPOOL_SIZE).toBe(size);
  expect(hashesAtOnce(1, 16)).toBe(expected);
  vi.unstubAllEnvs();
});

it.runIf(process.platform === "linux")("the pool has a thread for each hash and two more", () => {
  const program = `
    import { pbkdf2 } from "node:crypto";
    import { readdirSync, readFileSync } from "node:fs";
    import { sizePool } from ${JSON.stringify(join(import.meta.dirname, "hash-threads.ts"))};
    sizePool(1, 9);
    pbkdf2("", "", 1, 32, "sha256", () => {
      const names = readdirSync("/proc/self/task").map((id) => readFileSync("/proc/self/task/" + id + "/comm", "utf8"));
      console.log(names.filter((name) => name.trim() === "libuv-worker").length);
    });`;
  const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
  const words = ["--input-type=module", "--eval", program];
  expect(execFileSync(process.execPath, words, { env, encoding: "utf8" }).trim()).toBe("11");
});
