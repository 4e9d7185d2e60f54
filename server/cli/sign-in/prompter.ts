import { StringDecoder } from "node:string_decoder";
import { CommandError } from "../command.ts";

/** Asks for lines of text. */
export interface Prompter {
  /** Whether a person can be asked again. */
  interactive: boolean;
  /**
   * Writes a prompt and reads one line.
   *
   * @param masked shows an asterisk for each character
   * @throws CommandError if the input ends, or on Ctrl-C
   */
  ask(prompt: string, masked?: boolean): Promise<string>;
  close(): void;
}

const END = "the input ended before the sign-in did";
const INTERRUPTED = "interrupted";

type TerminalInput = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): void };

/**
 * Reads answers from a terminal, key by key, or from a pipe, line by line. The terminal is in raw mode only while it is
 * asked, so that Ctrl-C works in between, and it is restored whatever happens.
 *
 * @param write receives prompts and echoed characters
 * @param signal aborts a question
 */
export function prompter(input: TerminalInput, write: (text: string) => void, signal: AbortSignal): Prompter {
  return input.isTTY && input.setRawMode ? terminal(input, write, signal) : pipe(input, write, signal);
}

function pipe(input: TerminalInput, write: (text: string) => void, signal: AbortSignal): Prompter {
  const decoder = new StringDecoder("utf8");
  let [text, ended] = ["", false];
  let wake = () => {};
  const onData = (chunk: Buffer | string) => {
    text += typeof chunk === "string" ? chunk : decoder.write(chunk);
    wake();
  };
  const onEnd = () => {
    ended = true;
    wake();
  };
  const onAbort = () => wake();
  let listens = false;
  return {
    interactive: false,
    async ask(prompt) {
      if (!listens) {
        listens = true;
        input.on("data", onData).on("end", onEnd);
        signal.addEventListener("abort", onAbort);
      }
      write(prompt);
      for (;;) {
        if (signal.aborted) throw new CommandError(INTERRUPTED);
        const at = text.indexOf("\n");
        if (at >= 0 || (ended && text !== "")) {
          const line = at >= 0 ? text.slice(0, at) : text;
          text = at >= 0 ? text.slice(at + 1) : "";
          write("\n");
          return line.replace(/\r$/, "");
        }
        if (ended) {
          write("\n");
          throw new CommandError(END);
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close() {
      signal.removeEventListener("abort", onAbort);
      input.removeListener("data", onData);
      input.pause();
    },
  };
}

function terminal(input: TerminalInput, write: (text: string) => void, signal: AbortSignal): Prompter {
  return {
    interactive: true,
    ask(prompt, masked = false) {
      const decoder = new StringDecoder("utf8");
      let shown = "";
      const show = (line: string) => {
        const text = masked ? "*".repeat([...line].length) : line;
        // What is longer than the terminal is wide cannot be drawn again in place, so only what is new is written.
        write(text.startsWith(shown) ? text.slice(shown.length) : `\r\u001b[K${prompt}${text}`);
        shown = text;
      };
      return new Promise<string>((resolve, reject) => {
        let line = "";
        const finish = (end: () => void) => {
          input.removeListener("data", onData).removeListener("end", onEnd);
          signal.removeEventListener("abort", onAbort);
          input.setRawMode?.(false);
          input.pause();
          write("\n");
          end();
        };
        const fail = (reason: string) => finish(() => reject(new CommandError(reason)));
        const onEnd = () => fail(END);
        const onAbort = () => fail(INTERRUPTED);
        const onData = (chunk: Buffer | string) => {
          const keys = typeof chunk === "string" ? chunk : decoder.write(chunk);
          // Arrow keys and other sequences are ignored.
          // biome-ignore lint/suspicious/noControlCharactersInRegex: the keys of a terminal
          for (const key of keys.replace(/\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Z])/g, "")) {
            if (key === "\r" || key === "\n") {
              const answer = line;
              show(answer);
              return finish(() => resolve(answer));
            }
            if (key === "\u0003") return fail(INTERRUPTED);
            if (key === "\u0004" && line === "") return fail(END);
            if (key === "\u007f" || key === "\b") line = [...line].slice(0, -1).join("");
            else if (key === "\u0015") line = "";
            else if (key >= " ") line += key;
          }
          show(line);
        };
        if (signal.aborted) return reject(new CommandError(INTERRUPTED));
        signal.addEventListener("abort", onAbort);
        input.setRawMode?.(true);
        input.on("data", onData).on("end", onEnd);
        input.resume();
        write(prompt);
      });
    },
    close() {
      input.pause();
    },
  };
}
