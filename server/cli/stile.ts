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

/** A reader of lines may have read enough; one of bytes needs them all. */
let needsReader = false;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE" && !needsReader) process.exit(0);
  process.stderr.write(`stile: the output cannot be written: ${error.code}\n`);
  process.exit(1);
});

process.exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  input: process.stdin,
  async print(line) {
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
  },
  async write(bytes) {
    needsReader = true;
    if (!process.stdout.write(bytes)) await once(process.stdout, "drain");
  },
  showsProgress: process.stderr.isTTY,
  interruption() {
    endsItself = true;
    return interrupted.signal;
  },
  prompt: (text) => void process.stderr.write(text),
  printError: (line) => process.stderr.write(`stile: ${line}\n`),
});
