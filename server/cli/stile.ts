import { once } from "node:events";
import { runTool } from "./run.ts";

/** `stile`: what an operator does beside the running server. */

// A database that runs for this command alone ends with it, and hears of that only when the process exits by itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

// Whoever reads has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await runTool(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  input: process.stdin,
  async print(line) {
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
  },
  complain: (line) => process.stderr.write(`stile: ${line}\n`),
});
