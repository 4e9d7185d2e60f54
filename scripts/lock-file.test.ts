import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

type LockedPackage = {
  version?: string;
  resolved?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};

const file = join(import.meta.dirname, "..", "package-lock.json");
const packages: Record<string, LockedPackage> = JSON.parse(readFileSync(file, "utf8")).packages;

/** Returns true if the package at `from` finds `name` in its own `node_modules` or in one further up. */
function resolves(from: string, name: string): boolean {
  const nested = from === "" ? `node_modules/${name}` : `${from}/node_modules/${name}`;
  if (nested in packages) return true;
  const parent = from.lastIndexOf("node_modules/");
  return parent >= 0 && resolves(from.slice(0, parent).replace(/\/$/, ""), name);
}

test("the lock file lists the optional packages of every platform, which `npm ci` requires", () => {
  const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !resolves(path, name)),
  );
  expect(missing).toEqual([]);
});

test("the lock file contains no address of a registry", () => {
  expect(Object.keys(packages).filter((path) => packages[path]?.resolved)).toEqual([]);
});
