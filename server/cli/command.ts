import type { Config } from "../config/schema.ts";
import type { Tree } from "../lib/tree.ts";
import type { CliRuntime, ReachedDatabase } from "./cli-runtime.ts";

/** An option of a command: `--name <value>`, or a switch without a value. */
export interface Option {
  description: string;
  /** Placeholder of its value in help texts; absent for a switch. */
  value?: string;
  /** May be given more than once. */
  multiple?: boolean;
  required?: boolean;
}

type Options = Record<string, Option>;

type Value<Declared extends Option> = Declared extends { value: string }
  ? Declared extends { multiple: true }
    ? string[]
    : Declared extends { required: true }
      ? string
      : string | undefined
  : boolean;

/** The values of the options. An absent switch is false, an absent list empty. */
export type Values<Declared extends Options> = { [Name in keyof Declared]: Value<Declared[Name]> };

/** The environment of a command. */
export interface Cli {
  /** Standard input. */
  input: NodeJS.ReadableStream;
  /** Writes a line to standard output, and waits for a slow reader. */
  print(line: string): Promise<void>;
  /** Writes bytes to standard output, and waits for a slow reader. One that goes away fails the command. */
  write(bytes: Uint8Array): Promise<void>;
  /** Whether standard error is a terminal, on which progress is shown. */
  showsProgress: boolean;
  /** Writes text to standard error as it is: a dialogue, beside the output of the command. */
  prompt(text: string): void;
  /** Environment variables. */
  environment: NodeJS.ProcessEnv;
  /** Writes a line to standard error. */
  printError(line: string): void;
  /**
   * Takes SIGINT and SIGTERM over: from then on they abort the returned signal, and the command ends itself. A second one
   * ends the process.
   */
  interruption(): AbortSignal;
  /**
   * Returns the configuration of a server in the same environment.
   *
   * @param file what stands in `stile.config.json`. Default: that file
   */
  config(file?: Tree): Config;
  /** Runs `work` on the server's database. The server may be running or not. */
  withRuntime<Result>(work: (runtime: CliRuntime) => Promise<Result>): Promise<Result>;
  /** Runs `work` on the server's database as it is, not migrated. The server may be running or not. */
  withDatabase<Result>(work: (database: ReachedDatabase) => Promise<Result>): Promise<Result>;
}

export interface Command {
  /** For instance `tenants create`. */
  name: string;
  summary: string;
  /** Longer description for its help text. */
  details?: string;
  options: Options;
  /** Names of positional arguments. A name that ends in `?` is optional. */
  takes: readonly string[];
  run(cli: Cli, values: Record<string, unknown>, positionals: string[]): Promise<void>;
}

/** Declares a command. The values that `run` receives have the types of the declared options. */
export function command<const Declared extends Options>(
  declaration: Omit<Command, "run" | "options" | "takes"> & {
    options?: Declared;
    takes?: readonly string[];
    run(cli: Cli, values: Values<Declared>, positionals: string[]): Promise<void>;
  },
): Command {
  return { options: {}, takes: [], ...declaration } as Command;
}

/** The command failed. `message` is printed in one line, and the exit code is 1. */
export class CommandError extends Error {}

/** The command failed, because what an argument names does not exist. */
export const missing = (noun: string, name: string) => new CommandError(`there is no ${noun} ${name}`);

/** The arguments are invalid. The exit code is 2. */
export class UsageError extends Error {}
