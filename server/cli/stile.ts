import { once } from "node:events";
import { ConfigError, StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { describeError } from "../observability/describe-error.ts";
import { TenantError } from "../tenants/manage-tenants.ts";
import { helpText, parseCall } from "./arguments.ts";
import { CommandError, type Tool, UsageError } from "./command.ts";
import { commands } from "./commands/index.ts";
import { withToolRuntime } from "./tool-runtime.ts";

/** `stile`: what an operator does beside the running server. */

const config = () => loadConfig(process.env, process.cwd());

const tool: Tool = {
  input: process.stdin,
  async print(line) {
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
  },
  complain: (line) => process.stderr.write(`stile: ${line}\n`),
  config,
  withRuntime: (work) => withToolRuntime(config(), work),
};

// A database that runs for this command alone ends with it, and hears of that only when the process exits by itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

// Whoever reads has seen enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  const call = parseCall(process.argv.slice(2), commands);
  if (call.kind === "help") await tool.print(helpText(call, commands));
  else await call.command.run(tool, call.values, call.given);
} catch (error) {
  tool.complain(oneLine(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

/** What is foreseen says what it is; of anything else no more than is safe to show. */
function oneLine(error: unknown): string {
  const foreseen = [UsageError, CommandError, ConfigError, StartError, TenantError];
  if (error instanceof Error && foreseen.some((kind) => error instanceof kind)) return error.message;
  for (let described = describeError(error); ; ) {
    if (described.cause) described = described.cause;
    else return `it failed: ${described.message ?? described.code ?? described.type}`.replaceAll("\n", " ");
  }
}
