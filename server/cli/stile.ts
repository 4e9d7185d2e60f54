import { once } from "node:events";
import { runCli } from "./run.ts";

/** `stile`: the CLI for operators. */

// An embedded database that was started for this command is stopped by an exit, not by a signal.
const interrupted = new AbortController();
let endsItself = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    if (!endsItself || interrupted.signal.aborted) process.exit(1);
    interrupted.abort();
  });

// The reader of the output has closed it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  input: process.stdin,
  async print(line) {
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
  },
  interruption() {
    endsItself = true;
    return interrupted.signal;
  },
  prompt: (text) => void process.stderr.write(text),
  printError: (line) => process.stderr.write(`stile: ${line}\n`),
});
