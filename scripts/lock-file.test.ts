import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

interface LockedPackage {
  integrity?: string;
  hasInstallScript?: boolean;
  os?: string | string[];
  libc?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  resolved?: string;
}

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, "..", name), "utf8"));
const packages = Object.entries(read("package-lock.json").packages as Record<string, LockedPackage>);
const installed = new Map(packages);

/** The package that a package finds under a name: the one in its own folder, or in one further up. */
function resolve(from: string, name: string): LockedPackage | undefined {
  for (let folder = from; ; folder = folder.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, "")) {
    const found = installed.get(folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`);
    if (found || folder === "") return found;
  }
}

describe("the lock file", () => {
  test("holds the hash of every package", () => {
    expect(packages.filter(([path, { integrity }]) => path !== "" && !integrity)).toEqual([]);
  });

  test("lists the optional packages of every platform, which `npm ci` requires", () => {
    const missing = packages.flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !resolve(path, name))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("contains no address of a registry", () => {
    expect(packages.filter(([, { resolved }]) => resolved)).toEqual([]);
  });

  test("marks Node's builds for Linux as built for glibc, so that npm does not install them beside musl", () => {
    const builds = packages.filter(([path]) => path.startsWith("node_modules/node-linux-"));
    expect(builds.length).toBeGreaterThan(0);
    for (const [, { libc }] of builds) expect(libc).toEqual(["glibc"]);
  });

  test("has no package with an install script but those that package.json allows", () => {
    const { allowScripts } = read("package.json") as { allowScripts: Record<string, boolean> };
    const names = packages
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ""));
    expect(names.filter((name) => allowScripts[name] !== true)).toEqual([]);
  });
});
