import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * `npm run build`: compiles the server into `dist/` and the pages into `.next/`. With `--when-needed`, as
 * `npm start` calls it, only when the sources are not those of the last build.
 */

const root = dirname(import.meta.dirname);
const stampFile = join(root, "dist", "build-stamp");

/** What a build is made of; other files change nothing in it. */
const inputs = [
  "app",
  "components",
  "db",
  "server",
  "public",
  "instrumentation.ts",
  "proxy.ts",
  "next.config.mjs",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

const stamp = stampOf(inputs);
if (!process.argv.includes("--when-needed") || !isBuilt(stamp)) await build();

async function build(): Promise<void> {
  rmSync(stampFile, { force: true });
  rmSync(join(root, "dist"), { recursive: true, force: true });
  process.stdout.write("Building…\n");
  const modules = join(root, "node_modules");
  await run(join(modules, "typescript", "bin", "tsc"), ["-p", "tsconfig.build.json"]);
  await run(join(modules, "next", "dist", "bin", "next"), ["build"]);
  // Written last: a build that was interrupted is none.
  writeFileSync(stampFile, stamp);
}

function isBuilt(wanted: string): boolean {
  const built = [join(root, "dist", "server", "main.js"), join(root, ".next", "BUILD_ID")].every(existsSync);
  return built && existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted;
}

/** A digest of the names and contents of all inputs; times of files say nothing after a copy or a checkout. */
function stampOf(paths: string[]): string {
  const hash = createHash("sha256");
  const add = (path: string) => {
    const status = statSync(join(root, path), { throwIfNoEntry: false });
    if (!status || /\.test\.tsx?$/.test(path)) return;
    if (status.isDirectory()) {
      for (const name of readdirSync(join(root, path)).sort()) add(`${path}/${name}`);
      return;
    }
    hash.update(`${path}\0${status.size}\0`).update(readFileSync(join(root, path)));
  };
  for (const path of paths) add(path);
  return hash.digest("hex");
}

function run(program: string, parameters: string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...parameters], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) return resolve();
      process.exitCode = 1;
      process.stderr.write(`stile: the build failed (${program}: ${code ?? signal})\n`);
      process.exit(1);
    });
  });
}
