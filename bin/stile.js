#!/usr/bin/env node
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "../scripts/build-stamp.mjs";

/**
 * Runs the CLI with the project's own version of Node, regardless of the one that runs this file: the compiled CLI if
 * it matches the sources, otherwise the TypeScript sources, which that version runs directly.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinned = join(root, "node_modules", "node", "bin", "node");
const sources = join(root, "server", "cli", "stile.ts");
const compiled = ["--conditions=stile-dist", join(root, "dist", "server", "cli", "stile.js")];
const program = existsSync(sources) && !isBuilt() ? [sources] : compiled;

const child = spawn(existsSync(pinned) ? pinned : process.execPath, [...program, ...process.argv.slice(2)], {
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("error", (error) => {
  process.stderr.write(`stile: starting the CLI failed: ${error.message}\n`);
  process.exit(1);
});
child.once("exit", (code) => process.exit(code ?? 1));
