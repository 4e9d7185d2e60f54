import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { canRunTypeScript, runNode } from "./run-node.mjs";

/** `node scripts/run.js PROGRAM [ARGUMENT …]`: runs a TypeScript program of this project. */
const [, , program = "", ...parameters] = process.argv;

if (canRunTypeScript()) {
  process.argv.splice(1, 2, resolve(program));
  await import(pathToFileURL(resolve(program)).href);
} else {
  runNode([program, ...parameters]);
}
