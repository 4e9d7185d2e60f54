import process from "node:process";
import { runNode } from "./run-node.mjs";
import { startParameters } from "./start-parameters.ts";

/**
 * `npm start`, and with `--next` `npm run start:next`: builds if needed, and runs the server with its options.
 *
 * package.json names it twice: `exec` has it take the place of the shell, which would not pass signals on, and the shell
 * of Windows, which has no `exec`, goes on to what follows `||`.
 */

const isUnderNext = process.argv.includes("--next");
// The console is a part of either server.
process.argv.push("--when-needed", "--next");
await import("./build.ts");

const parameters = [...startParameters[isUnderNext ? "next" : "stile"]];
if (isUnderNext) Object.assign(process.env, { NODE_ENV: process.env.NODE_ENV ?? "development" });

// The server takes the place of this process: signals of a supervisor reach it, and no memory is spent on a parent.
// Windows has no such call, nor has Node before 22.15; there the server is a child that receives the signals.
if (process.execve && process.platform !== "win32")
  process.execve(process.execPath, [process.execPath, ...parameters], process.env);
else runNode(parameters);
