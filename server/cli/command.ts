import type { Config } from "../config/schema.ts";
import type { CliRuntime } from "./cli-runtime.ts";

/** An option of a command: `--name <value>`, or a switch without a value. */
export interface Option {
  description: string;
  /** What stands for its value in help texts; a switch has none. */
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

/** What was given for each option; a switch that was not is false, a list is empty. */
export type Values<Declared extends Options> = { [Name in keyof Declared]: Value<Declared[Name]> };

/** What a command works with. */
export interface Cli {
  /** Standard input. */
  input: NodeJS.ReadableStream;
  /** Writes a line to standard output, and waits while whoever reads it is slow. */
  print(line: string): Promise<void>;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** The configuration that a server started here would have. */
  config(): Config;
  /** Runs `work` on the server's database, whether or not a server runs. */
  withRuntime<Result>(work: (runtime: CliRuntime) => Promise<Result>): Promise<Result>;
}

export interface Command {
  /** Its words, for instance `tenants create`. */
  name: string;
  summary: string;
  /** Longer explanation for its help text. */
  details?: string;
  options: Options;
  /** Names of what follows without a dash; one that ends in `?` may be left out. */
  takes: readonly string[];
  run(cli: Cli, values: Record<string, unknown>, given: string[]): Promise<void>;
}

/** Declares a command; what `run` is given has the types that its options declare. */
export function command<const Declared extends Options>(
  declaration: Omit<Command, "run" | "options" | "takes"> & {
    options?: Declared;
    takes?: readonly string[];
    run(cli: Cli, values: Values<Declared>, given: string[]): Promise<void>;
  },
): Command {
  return { options: {}, takes: [], ...declaration } as Command;
}

/** The command failed. `message` is the line that is printed; the exit code is 1. */
export class CommandError extends Error {}

/** The arguments are invalid; the exit code is 2. */
export class UsageError extends Error {}
