import { spawn } from "node:child_process";
import { Readable } from "node:stream";
import { runTool } from "../cli/run.ts";

/** What a program left behind. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** What a program is started with; `input` goes to its standard input. */
interface Start {
  cwd: string;
  env: NodeJS.ProcessEnv;
  input?: string | undefined;
}

/** Runs a program to its end. */
export function run(
  program: string,
  words: readonly string[],
  { input = "", ...where }: Start,
): Promise<Ended> {
  const child = spawn(program, words, where);
  const ended: Ended = { code: null, out: "", err: "" };
  child.stdout.on("data", (chunk) => (ended.out += chunk));
  child.stderr.on("data", (chunk) => (ended.err += chunk));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...ended, code }));
  });
}

/** Runs `stile` in this process: what `run` does with the program, without the second that a process takes to start. */
export async function runStile(
  words: readonly string[],
  { cwd, env, input = "" }: Start,
): Promise<Ended & { code: number }> {
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
