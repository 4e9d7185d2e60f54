import { Readable } from "node:stream";
import { runCli } from "../cli/run.ts";
import type { ProgramResult, Start } from "./program.ts";

/**
 * Runs the CLI in this process, like `run` but without the second that a process takes to start.
 *
 * @param live `interruption`: what SIGINT aborts; `print` and `write`: called with each line and with the bytes of the output;
 *   `showsProgress`: whether standard error is taken for a terminal
 */
export async function runStile(
  words: readonly string[],
  { cwd, env, input = "" }: Omit<Start, "input"> & { input?: string | Uint8Array | undefined },
  live: {
    interruption?: AbortSignal;
    print?: (line: string) => void;
    write?: (bytes: Uint8Array) => void;
    showsProgress?: boolean;
  } = {},
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
    async write(bytes) {
      live.write?.(bytes);
    },
    showsProgress: live.showsProgress ?? false,
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
