import { BackupError } from "../backup/backup-error.ts";
import { ConfigError, StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import { OutgrownError } from "../database/releases.ts";
import type { Tree } from "../lib/tree.ts";
import { ImportError } from "../moving/import-error.ts";
import { describeError } from "../observability/describe-error.ts";
import { TenantError } from "../tenants/manage-tenants.ts";
import { helpText, parseCall } from "./arguments.ts";
import { atDatabase, withCliRuntime } from "./cli-runtime.ts";
import { type Cli, CommandError, UsageError } from "./command.ts";
import { commands } from "./commands/index.ts";

/** The process that the CLI runs in. */
export interface CliProcess extends Omit<Cli, "config" | "withRuntime" | "withDatabase"> {
  /** The working directory. */
  folder: string;
}

/**
 * Runs one call of `stile`.
 *
 * @param words the arguments
 * @returns the exit code: 0, 1 if the command failed, 2 if the arguments are invalid, 3 if a later release uses the
 *   database that this version may not run beside
 */
export async function runCli(words: readonly string[], process: CliProcess): Promise<number> {
  const config = (file?: Tree) => loadConfig(process.environment, process.folder, file);
  const cli: Cli = {
    ...process,
    config,
    withRuntime: (work) => withCliRuntime(config(), process.printError, work),
    withDatabase: (work) => atDatabase(config(), work),
  };
  try {
    const call = parseCall(words, commands);
    if (call.kind === "help") await cli.print(helpText(call, commands));
    else await call.command.run(cli, call.values, call.positionals);
    return 0;
  } catch (error) {
    cli.printError(oneLine(error));
    if (error instanceof OutgrownError) return error.exitCode;
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Returns the message of an expected error, or a description of any other one that is safe to show. */
function oneLine(error: unknown): string {
  const expected = [UsageError, CommandError, ConfigError, StartError, TenantError, ImportError, BackupError];
  if (error instanceof Error && expected.some((kind) => error instanceof kind)) return error.message;
  let described = describeError(error);
  while (described.cause) described = described.cause;
  const { message, code, type } = described;
  return `unexpected error: ${message ?? code ?? type}`.replaceAll("\n", " ");
}
