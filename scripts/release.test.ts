import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compareVersions } from "../server/lib/compare-versions.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const { name, version, exports } = JSON.parse(read("package.json"));

const lock = JSON.parse(read("package-lock.json"));

test("the package has a scoped name, because `stile` on npm is the package of another publisher", () => {
  expect(name).toMatch(/^@[a-z-]+\/stile$/);
  expect([lock.name, lock.packages[""].name]).toEqual([name, name]);
});

test("the lock file has the version of package.json", () => {
  expect([lock.version, lock.packages[""].version]).toEqual([version, version]);
});

test("package.json has the version of the newest release in the changelog, or names the next one", () => {
  const released = read("CHANGELOG.md").match(/^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$/m)?.[1] ?? "";
  // Databases tell versions apart, so what follows a release does not bear its number.
  const isNext = version.endsWith("-next") && compareVersions(version, released) > 0;
  expect(isNext ? released : version).toBe(released);
});

test("the package contains what it exports, and neither tests nor data", () => {
  // Without `prepack`, which compiles: the tests run after a build.
  const listing = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  });
  const packed = Object.values(JSON.parse(listing)).flat() as { files: { path: string }[] }[];
  const paths = packed.flatMap(({ files }) => files.map(({ path }) => path));
  const exported = Object.values(exports as Record<string, string | Record<string, string>>)
    .flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))
    .map((target) => target.replace("./", ""));
  expect(exported.length).toBeGreaterThan(4);
  expect(paths).toEqual(
    expect.arrayContaining([
      ...exported,
      "bin/stile.js",
      "LICENSE",
      "dist/hosted/draw.js",
      "dist/hosted/draw-gallery.js",
    ]),
  );
  expect(
    paths.filter((path) => /\.test\.|^(?:data|node_modules|screenshots|\.next|\.env)/.test(path)),
  ).toEqual([]);
});
