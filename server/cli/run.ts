import { ConfigError, StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { describeError } from "../observability/describe-error.ts";
import { TenantError } from "../tenants/manage-tenants.ts";
import { helpText, parseCall } from "./arguments.ts";
import { withCliRuntime } from "./cli-runtime.ts";
import { type Cli, CommandError, UsageError } from "./command.ts";
import { commands } from "./commands/index.ts";

/** What a process gives the CLI. */
export interface ToolProcess extends Pick<Cli, "input" | "print" | "complain"> {
  environment: NodeJS.ProcessEnv;
  /** The folder that it was started in. */
  folder: string;
}

/**
 * Runs one call of `stile`.
 *
 * @param words what was typed after `stile`
 * @returns the exit code: 0, 1 if the command failed, 2 if the call was not understood
 */
export async function runTool(words: readonly string[], process: ToolProcess): Promise<number> {
  const { input, print, complain } = process;
  const config = () => loadConfig(process.environment, process.folder);
  const cli: Cli = {
    input,
    print,
    complain,
    config,
    withRuntime: (work) => withCliRuntime(config(), work),
  };
  try {
    const call = parseCall(words, commands);
    if (call.kind === "help") await print(helpText(call, commands));
    else await call.command.run(cli, call.values, call.given);
    return 0;
  } catch (error) {
    complain(oneLine(error));
    return error instanceof UsageError ? 2 : 1;
  }
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
