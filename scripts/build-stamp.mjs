import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What tells whether the last build is that of the sources. Plain JavaScript, because older Nodes read it too. */

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Holds the stamp of the last complete build. */
export const stampFile = join(root, "dist", "build-stamp");

/** What a build is made of; other files change nothing in it. */
const inputs = [
  "app",
  "components",
  "db",
  "server",
  "words",
  "public",
  "instrumentation.ts",
  "proxy.ts",
  "next.config.mjs",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

/** Whether there is a complete build of the sources as they are. */
export function isBuilt(stamp = currentStamp()) {
  const built = [join(root, "dist", "server", "main.js"), join(root, ".next", "BUILD_ID")].every((file) =>
    existsSync(file),
  );
  return built && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
}

/** A digest of the names and contents of all inputs; times of files say nothing after a copy or a checkout. */
export function currentStamp() {
  const hash = createHash("sha256");
  const add = (/** @type {string} */ path) => {
    const status = statSync(join(root, path), { throwIfNoEntry: false });
    if (!status || /\.test\.tsx?$/.test(path)) return;
    if (status.isDirectory()) {
      for (const name of readdirSync(join(root, path)).sort()) add(`${path}/${name}`);
      return;
    }
    hash.update(`${path}\0${status.size}\0`).update(readFileSync(join(root, path)));
  };
  for (const path of inputs) add(path);
  return hash.digest("hex");
}
