import { spawn } from "node:child_process";
import { eventually } from "./eventually.ts";

/** A program in a pseudo-terminal, as a person uses it. */
export interface PseudoTerminal {
  /** Everything that the terminal has shown, without escape sequences. */
  output(): string;
  /** Waits until the terminal shows a text after what was typed last. */
  shows(text: string | RegExp): Promise<void>;
  /** Types keys; `\r` is Enter. */
  type(keys: string): void;
  /** Waits for the end of the program, and returns its exit code. */
  ended(): Promise<number>;
  kill(): void;
}

/** Node has no pseudo-terminals; Python has. The exit code is passed on. */
const python = "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** Starts a program in a pseudo-terminal. */
export function pseudoTerminal(words: readonly string[], env: NodeJS.ProcessEnv): PseudoTerminal {
  const child = spawn("python3", ["-c", python, ...words], { env, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  let text = "";
  let typedAt = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of a terminal
  const plain = (shown: string) => shown.replace(/\u001b\[[\d;]*[A-Za-z]/g, "");
  return {
    output: () => plain(text),
    async shows(expected) {
      await eventually(() => {
        const shown = plain(text.slice(typedAt));
        if (!(typeof expected === "string" ? shown.includes(expected) : expected.test(shown)))
          throw new Error(`the terminal does not show ${expected}:\n${plain(text)}`);
      });
    },
    type(keys) {
      typedAt = text.length;
      child.stdin.write(keys);
    },
    ended: () => exited,
    kill: () => void child.kill("SIGKILL"),
  };
}
