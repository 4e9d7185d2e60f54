import { spawn } from "node:child_process";

/** What a program left behind. */
export interface ProgramResult {
  code: number | null;
  out: string;
  err: string;
}

/** What a program is started with; `input` goes to its standard input. */
export interface Start {
  cwd: string;
  env: NodeJS.ProcessEnv;
  input?: string | undefined;
}

/** Runs a program to its end. */
export function run(
  program: string,
  words: readonly string[],
  { input = "", ...where }: Start,
): Promise<ProgramResult> {
  const child = spawn(program, words, where);
  const ended: ProgramResult = { code: null, out: "", err: "" };
  child.stdout.on("data", (chunk) => (ended.out += chunk));
  child.stderr.on("data", (chunk) => (ended.err += chunk));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...ended, code }));
  });
}
