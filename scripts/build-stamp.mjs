import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Detects whether the last build matches the sources. Plain JavaScript, because older versions of Node load it too. */

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What a build makes: the server with its pages, and the same for platforms that run Next. */
export const targets = {
  server: { stamp: join(root, "dist", "build-stamp"), result: join(root, "dist", "bundle", "main.js") },
  next: { stamp: join(root, ".next", "build-stamp"), result: join(root, ".next", "BUILD_ID") },
};

/** Files and folders that affect a build. */
const inputs = [
  "app",
  "packages/server/src",
  "components",
  "db",
  "hosted",
  "scripts/build-pages.ts",
  "scripts/bundle-server.ts",
  "scripts/bundling.ts",
  "scripts/declarations.ts",
  "server",
  "words",
  "instrumentation.ts",
  "proxy.ts",
  "next.config.mjs",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

/**
 * Returns true if there is a complete build of the current sources.
 *
 * @param {keyof typeof targets} target
 */
export function isBuilt(target, stamp = currentStamp()) {
  const { stamp: file, result } = targets[target];
  return existsSync(result) && existsSync(file) && readFileSync(file, "utf8") === stamp;
}

/** Returns a digest of the names and contents of all inputs. A copy or a checkout changes times of files. */
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
