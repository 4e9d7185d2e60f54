import { spawn } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { alone } from "./build-lock.ts";
import { buildPages } from "./build-pages.ts";
import { currentStamp, isBuilt, targets } from "./build-stamp.mjs";
import { bundleServer } from "./bundle-server.ts";
import { reachedDeclarations } from "./declarations.ts";

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

const built: (keyof typeof targets)[] = parameters.includes("--next") ? ["server", "next"] : ["server"];

if (built.some(isNeeded)) {
  refuseReadOnly();
  await alone(root, async () => {
    if (isNeeded("server")) await complete("server", buildServer);
    if (built.includes("next") && isNeeded("next")) await complete("next", buildForNext);
  });
}

/** Ends where this account cannot write what is built, as that of a service cannot. */
function refuseReadOnly(): void {
  try {
    accessSync(root, constants.W_OK);
  } catch {
    process.stderr.write(
      `stile: ${root} is not built from its present sources, and cannot be written to: run \`npm run build\` there as its owner\n`,
    );
    process.exit(1);
  }
}

async function buildServer(): Promise<void> {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  process.stdout.write("Building…\n");
  await Promise.all([
    run(join(modules, "typescript", "bin", "tsc"), ["-p", "tsconfig.build.json"]),
    buildPages(),
  ]);
  keepPublishedDeclarations();
  await bundleServer();
}

/** Keeps the declarations that the exports of the package reach, and no others: dependents need them alone. */
function keepPublishedDeclarations(): void {
  const dist = join(root, "dist");
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string }>;
  };
  const entries = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : [target.types.replace("./dist/", "")],
  );
  const kept = reachedDeclarations(dist, entries);
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".d.ts")) rmSync(join(dist, file));
  for (const [file, text] of kept) writeFileSync(join(dist, file), text);
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
