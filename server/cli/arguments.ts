import { parseArgs } from "node:util";
import { nearestName } from "../lib/nearest-name.ts";
import { type Command, type Option, UsageError } from "./command.ts";

/** A parsed call of `stile`. */
export type Invocation =
  | { kind: "help"; command: Command | null; group: string | null }
  | { kind: "run"; command: Command; values: Record<string, unknown>; positionals: string[] };

/**
 * Parses the arguments of a call.
 *
 * @throws UsageError with one line that describes the invalid argument
 */
export function parseCall(words: readonly string[], commands: readonly Command[]): Invocation {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (command) return parseCommand(command, words.slice(command.name.split(" ").length));
  const [group = "--help", next] = words;
  if (group === "--help" || group === "-h" || group === "help")
    return { kind: "help", command: null, group: null };
  const known = commands.some(({ name }) => name.startsWith(`${group} `));
  if (known && (next === "--help" || next === "-h")) return { kind: "help", command: null, group };
  if (!known) {
    const name = [group, ...(next === undefined ? [] : [next])].join(" ");
    const nearest = nearestName(
      name,
      commands.map((one) => one.name),
    );
    const hint = nearest === null ? "stile --help lists them" : `the nearest is ${nearest}`;
    throw new UsageError(`${group} is not a command; ${hint}`);
  }
  const choices = commands.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name] : []));
  throw new UsageError(`expected one of: ${choices.join(", ")}`);
}

function parseCommand(command: Command, words: readonly string[]): Invocation {
  if (words.includes("--help") || words.includes("-h")) return { kind: "help", command, group: null };
  const { values, positionals } = parse(command, words);
  for (const [name, option] of Object.entries(command.options)) {
    if (option.required && values[name] === undefined) throw usageError(command, `--${name} is missing`);
    if (values[name] !== undefined) continue;
    if (option.value === undefined) values[name] = false;
    else if (option.multiple) values[name] = [];
  }
  const required = command.takes.filter((name) => !name.endsWith("?")).length;
  if (positionals.length < required)
    throw usageError(command, `<${command.takes[positionals.length]}> is missing`);
  if (positionals.length > command.takes.length)
    throw usageError(command, `unexpected argument: ${positionals[command.takes.length]}`);
  return { kind: "run", command, values, positionals };
}

function parse(command: Command, words: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value, multiple = false }]) => [
      name,
      { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    return { values: { ...values } as Record<string, unknown>, positionals };
  } catch (error) {
    const message = (error as Error).message.split(". ", 1)[0] ?? "";
    const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? [];
    const nearest = unknown === undefined ? null : nearestName(unknown, Object.keys(options));
    throw usageError(command, nearest === null ? message : `${message}; the nearest is --${nearest}`);
  }
}

function usageError({ name }: Command, message: string): UsageError {
  return new UsageError(`${message} (stile ${name} --help)`);
}

/** Returns the help text of a command, of a group of commands, or of the CLI. */
export function helpText(
  { command, group }: Extract<Invocation, { kind: "help" }>,
  commands: readonly Command[],
): string {
  if (command) return commandHelp(command);
  const shown = group === null ? commands : commands.filter(({ name }) => name.startsWith(`${group} `));
  return [
    "Usage: stile <command> [options]",
    "",
    ...columns(shown.map(({ name, summary }) => [name, summary])),
    "",
    "stile <command> --help describes a command. The CLI reads the configuration of the server: the environment",
    "and stile.config.json in this folder. It exits with 0 after success, with 1 after a failure, and with 2 if the",
    "arguments are invalid.",
  ].join("\n");
}

function commandHelp({ name, summary, details, options, takes }: Command): string {
  const words = takes.map((taken) => (taken.endsWith("?") ? `[${taken.slice(0, -1)}]` : `<${taken}>`));
  const listed = Object.entries(options).map(([option, declared]): [string, string] => [
    optionWords(option, declared),
    `${declared.required ? "Required. " : ""}${declared.description}`,
  ]);
  const required = Object.entries(options).filter(([, declared]) => declared.required);
  const usage = [
    ...words,
    ...required.map(([option, declared]) => optionWords(option, declared)),
    ...(listed.length > required.length ? ["[options]"] : []),
  ];
  return [
    `Usage: ${["stile", name, ...usage].join(" ")}`,
    "",
    summary,
    ...(details === undefined ? [] : ["", details]),
    ...(listed.length === 0 ? [] : ["", ...columns(listed)]),
  ].join("\n");
}

function optionWords(name: string, { value, multiple }: Option): string {
  return `--${name}${value === undefined ? "" : ` <${value}>`}${multiple ? " …" : ""}`;
}

/** Formats rows of two columns. */
export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd());
}
