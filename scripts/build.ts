import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildPages } from "./build-pages.ts";
import { currentStamp, isBuilt, targets } from "./build-stamp.mjs";
import { bundleServer } from "./bundle-server.ts";

/**
 * `npm run build`: compiles the server and its pages into `dist/`, and with `--next` the same for platforms that run
 * Next into `.next/`. With `--when-needed`, as `npm start` calls it, only what does not match the sources.
 */

const root = dirname(import.meta.dirname);
const modules = join(root, "node_modules");
const parameters = process.argv.slice(2);

const stamp = currentStamp();
const isNeeded = (target: keyof typeof targets) =>
  !parameters.includes("--when-needed") || !isBuilt(target, stamp);

if (isNeeded("server")) await complete("server", buildServer);
if (parameters.includes("--next") && isNeeded("next")) await complete("next", buildForNext);

async function buildServer(): Promise<void> {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  process.stdout.write("Building…\n");
  await Promise.all([
    run(join(modules, "typescript", "bin", "tsc"), ["-p", "tsconfig.build.json"]),
    buildPages(),
  ]);
  await bundleServer();
}

function buildForNext(): Promise<void> {
  return run(join(modules, "next", "dist", "bin", "next"), ["build"]);
}

/** The stamp is written last, so that an interrupted build does not count. */
async function complete(target: keyof typeof targets, build: () => Promise<void>): Promise<void> {
  const { stamp: file } = targets[target];
  rmSync(file, { force: true });
  await build();
  writeFileSync(file, stamp);
}

function run(program: string, words: string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...words], {
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
