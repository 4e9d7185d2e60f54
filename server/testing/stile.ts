import { Readable } from "node:stream";
import { runCli } from "../cli/run.ts";
import type { ProgramResult, Start } from "./program.ts";

/** Runs the CLI in this process, like `run` but without the second that a process takes to start. */
export async function runStile(
  words: readonly string[],
  { cwd, env, input = "" }: Start,
): Promise<ProgramResult & { code: number }> {
  const result = { code: 0, out: "", err: "" };
  result.code = await runCli(words, {
    environment: env,
    folder: cwd,
    input: Readable.from([input]),
    async print(line) {
      result.out += `${line}\n`;
    },
    printError(line) {
      result.err += `stile: ${line}\n`;
    },
  });
  return result;
}
