#!/usr/bin/env node
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "../scripts/build-stamp.mjs";
import { runNode } from "../scripts/run-node.mjs";

/** Runs the CLI: the compiled one if it matches the sources, otherwise the TypeScript sources. */
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sources = join(root, "server", "cli", "stile.ts");
const compiled = ["--conditions=stile-dist", join(root, "dist", "server", "cli", "stile.js")];
const program = existsSync(sources) && !isBuilt() ? [sources] : compiled;

runNode([...program, ...process.argv.slice(2)]);
