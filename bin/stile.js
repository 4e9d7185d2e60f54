#!/usr/bin/env node
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "../scripts/build-stamp.mjs";
import { runNode } from "../scripts/run-node.mjs";

/** Runs the CLI: the compiled one if it matches the sources or is installed, otherwise the TypeScript sources. */
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = join(root, "server", "cli", "stile.ts");
const compiled = ["--conditions=stile-dist", join(root, "dist", "server", "cli", "stile.js")];
// Node reads no TypeScript there.
const isInstalled = root.split(sep).includes("node_modules");
const program = existsSync(sources) && !isInstalled && !isBuilt("server") ? [sources] : compiled;

runNode([...program, ...process.argv.slice(2)]);
