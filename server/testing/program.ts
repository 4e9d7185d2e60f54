import { spawn } from "node:child_process";

/** Exit code and output of a program. */
export interface ProgramResult {
  code: number | null;
  out: string;
  err: string;
}

/** Start options of a program; `input` is written to its standard input. */
export interface Start {
  cwd: string;
  env: NodeJS.ProcessEnv;
  input?: string | Uint8Array | undefined;
}

/** Runs a program until it exits. */
export function run(
  program: string,
  words: readonly string[],
  { input = "", ...where }: Start,
): Promise<ProgramResult> {
  const child = spawn(program, words, where);
  const result: ProgramResult = { code: null, out: "", err: "" };
  child.stdout.on("data", (chunk) => (result.out += chunk));
  child.stderr.on("data", (chunk) => (result.err += chunk));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...result, code }));
  });
}
