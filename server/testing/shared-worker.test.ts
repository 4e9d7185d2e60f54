import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

test("test files that replace modules or process-wide state are isolated", () => {
  const files = globSync("{app,bench,components,db,scripts,server}/**/*.test.{ts,tsx}", { cwd: root });
  expect(files.length).toBeGreaterThan(100);
  const own = import.meta.filename;
  const shared = files.filter((file) => !file.includes(".isolated.test.") && join(root, file) !== own);
  const replaces = /\bvi\.(mock|doMock|hoisted|resetModules)\(|\bholdRuntime\(|\brecordPeers\(/;
  expect(shared.filter((file) => replaces.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
});
