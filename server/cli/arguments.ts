import { parseArgs } from "node:util";
import { type Command, type Option, UsageError } from "./command.ts";

/** What was typed after `stile`. */
export type Invocation =
  | { kind: "help"; command: Command | null; group: string | null }
  | { kind: "run"; command: Command; values: Record<string, unknown>; given: string[] };

/**
 * Reads the words of a call.
 *
 * @throws UsageError with one line that says what is not understood
 */
export function parseCall(words: readonly string[], commands: readonly Command[]): Invocation {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (command) return parseCommand(command, words.slice(command.name.split(" ").length));
  const [group = "--help", next] = words;
  if (group === "--help" || group === "-h" || group === "help")
    return { kind: "help", command: null, group: null };
  const known = commands.some(({ name }) => name.startsWith(`${group} `));
  if (known && (next === "--help" || next === "-h")) return { kind: "help", command: null, group };
  if (!known) throw new UsageError(`${group} is not a command; stile --help lists them`);
  const choices = commands.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name] : []));
  throw new UsageError(`say ${choices.join(", ")}`);
}

function parseCommand(command: Command, words: readonly string[]): Invocation {
  if (words.includes("--help") || words.includes("-h")) return { kind: "help", command, group: null };
  const { values, positionals } = parse(command, words);
  for (const [name, option] of Object.entries(command.options)) {
    if (option.required && values[name] === undefined) throw wrong(command, `--${name} is missing`);
    if (values[name] !== undefined) continue;
    if (option.value === undefined) values[name] = false;
    else if (option.multiple) values[name] = [];
  }
  const fewest = command.takes.filter((name) => !name.endsWith("?")).length;
  if (positionals.length < fewest) throw wrong(command, `<${command.takes[positionals.length]}> is missing`);
  if (positionals.length > command.takes.length)
    throw wrong(command, `${positionals[command.takes.length]} is one word too many`);
  return { kind: "run", command, values, given: positionals };
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
    throw wrong(command, (error as Error).message.split(". ", 1)[0] ?? "");
  }
}

function wrong({ name }: Command, problem: string): UsageError {
  return new UsageError(`${problem} (stile ${name} --help)`);
}

/** The help text of a command, of all that begin with one word, or of the CLI. */
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
    "stile <command> --help tells more of one. The CLI reads the configuration that the server reads: the",
    "environment and stile.config.json in this folder. It ends with 0 when all went well, 1 when something did",
    "not, and 2 when it was not understood.",
  ].join("\n");
}

function commandHelp({ name, summary, details, options, takes }: Command): string {
  const words = takes.map((taken) => (taken.endsWith("?") ? `[${taken.slice(0, -1)}]` : `<${taken}>`));
  const listed = Object.entries(options).map(([option, declared]): [string, string] => [
    optionWords(option, declared),
    declared.description,
  ]);
  return [
    `Usage: ${["stile", name, ...words, ...(listed.length > 0 ? ["[options]"] : [])].join(" ")}`,
    "",
    summary,
    ...(details === undefined ? [] : ["", details]),
    ...(listed.length === 0 ? [] : ["", ...columns(listed)]),
  ].join("\n");
}

function optionWords(name: string, { value, multiple }: Option): string {
  return `--${name}${value === undefined ? "" : ` <${value}>`}${multiple ? " …" : ""}`;
}

/** Two columns, the first as wide as it has to be. */
export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd());
}
