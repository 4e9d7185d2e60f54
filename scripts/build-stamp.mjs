import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Detects whether the last build matches the sources. Plain JavaScript, because older versions of Node load it too. */

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Contains the stamp of the last complete build. */
export const stampFile = join(root, "dist", "build-stamp");

/** Files and folders that affect a build. */
const inputs = [
  "app",
  "client",
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

/** Returns true if there is a complete build of the current sources. */
export function isBuilt(stamp = currentStamp()) {
  const built = [join(root, "dist", "server", "main.js"), join(root, ".next", "BUILD_ID")].every((file) =>
    existsSync(file),
  );
  return built && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
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
