import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { currentStamp, isBuilt, stampFile } from "./build-stamp.mjs";

/**
 * `npm run build`: compiles the server into `dist/` and the pages into `.next/`. With `--when-needed`, as
 * `npm start` calls it, only if the sources have changed since the last build.
 */

const root = dirname(import.meta.dirname);

const stamp = currentStamp();
if (!process.argv.includes("--when-needed") || !isBuilt(stamp)) await build();

async function build(): Promise<void> {
  rmSync(stampFile, { force: true });
  rmSync(join(root, "dist"), { recursive: true, force: true });
  process.stdout.write("Building…\n");
  const modules = join(root, "node_modules");
  await run(join(modules, "typescript", "bin", "tsc"), ["-p", "tsconfig.build.json"]);
  await run(join(modules, "next", "dist", "bin", "next"), ["build"]);
  // Written last, so that an interrupted build does not count.
  writeFileSync(stampFile, stamp);
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
