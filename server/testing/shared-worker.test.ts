import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const files = globSync("**/*.test.{ts,tsx}", {
  cwd: root,
  exclude: ["**/node_modules/**", "dist/**", ".next/**"],
})
  .map((file) => join(root, file))
  .filter((file) => file !== import.meta.filename);
const matching = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, "utf8")));

test("test files that replace modules or process-wide state are isolated", () => {
  const replacing = matching(/\bvi\.(mock|doMock|hoisted|resetModules)\(|\b(holdRuntime|recordMessages)\(/);
  expect(replacing).not.toEqual([]);
  expect(replacing.filter((file) => !file.includes(".isolated.test."))).toEqual([]);
});

test("test files wait with eventually(), because vi.waitFor() gives up after a second", () => {
  expect(matching(/\bvi\.(waitFor|waitUntil)\(/)).toEqual([]);
});
