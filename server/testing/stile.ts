import { Readable } from "node:stream";
import { runTool } from "../cli/run.ts";
import type { ProgramResult, Start } from "./program.ts";

/** Runs `stile` in this process: what `run` does with the program, without the second that a process takes to start. */
export async function runStile(
  words: readonly string[],
  { cwd, env, input = "" }: Start,
): Promise<ProgramResult & { code: number }> {
  const ended = { code: 0, out: "", err: "" };
  ended.code = await runTool(words, {
    environment: env,
    folder: cwd,
    input: Readable.from([input]),
    async print(line) {
      ended.out += `${line}\n`;
    },
    complain(line) {
      ended.err += `stile: ${line}\n`;
    },
  });
  return ended;
}
