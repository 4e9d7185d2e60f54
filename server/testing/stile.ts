import { Readable } from "node:stream";
import { runCli } from "../cli/run.ts";
import type { ProgramResult, Start } from "./program.ts";

/**
 * Runs the CLI in this process, like `run` but without the second that a process takes to start.
 *
 * @param live `interruption`: what SIGINT aborts; `print`: called with each line of the output
 */
export async function runStile(
  words: readonly string[],
  { cwd, env, input = "" }: Start,
  live: { interruption?: AbortSignal; print?: (line: string) => void } = {},
): Promise<ProgramResult & { code: number }> {
  const result = { code: 0, out: "", err: "" };
  result.code = await runCli(words, {
    environment: env,
    folder: cwd,
    input: Readable.from([input]),
    async print(line) {
      result.out += `${line}\n`;
      live.print?.(line);
    },
    interruption: () => live.interruption ?? new AbortController().signal,
    prompt(text) {
      result.err += text;
    },
    printError(line) {
      result.err += `stile: ${line}\n`;
    },
  });
  return result;
}
