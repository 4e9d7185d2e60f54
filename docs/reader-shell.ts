import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { runCli } from "../server/cli/run.ts";
import { type ProgramResult, run } from "../server/testing/program.ts";

/** The shell in which a reader runs the commands of pages. */
export interface ReaderShell {
  /** Runs commands until one fails. */
  run(commands: string, cwd: string, env: NodeJS.ProcessEnv): Promise<ProgramResult>;
  close(): void;
}

/** What a reader does beside the shell. */
export interface Reader {
  /** Answers what a command asks. */
  typed(words: readonly string[]): AsyncIterable<string>;
  /** Allows a device what it asks for, by the code that it shows; `allow-device <code>` in set-ups of pages. */
  allowDevice(code: string): Promise<unknown>;
  /** Causes an event, while a command waits for one. */
  causeEvent(): Promise<unknown>;
}

/** Programs of the machine that commands may use. A block that needs another one fails until it is accounted for. */
const programs = ["cat", "cp", "curl", "grep", "mkdir", "mktemp", "node", "openssl", "sleep", "tee"];

/** Commands that end by Ctrl-C. They are interrupted once they have printed a line. */
const endless = ["webhooks listen", "audit follow"];

/** A call of a program that this process answers. */
interface Call {
  program: string;
  words: string[];
  input: string;
  folder: string;
  environment: NodeJS.ProcessEnv;
}

/** A program that sends its call, and prints the answer. */
const caller = (address: string) => `#!/usr/bin/env node
import { readFileSync } from "node:fs";
const [, path, ...words] = process.argv;
const input = words.includes("-") ? readFileSync(0, "utf8") : "";
const call = { program: path.split("/").pop(), words, input, folder: process.cwd(), environment: process.env };
const answer = await fetch("${address}", { method: "POST", body: JSON.stringify(call) });
const { code, out, err } = await answer.json();
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = code;
`;

/**
 * Makes a shell with the programs `npx --no-install stile` and `npm start`. Both run the CLI in this process, which spares
 * the seconds that each start takes; a start of the server judges its settings, by `stile config check`.
 *
 * @param folder for the programs
 */
export async function readerShell(folder: string, reader: Reader): Promise<ReaderShell> {
  const server = createServer(async (request, response) => {
    const result = await answerOf((await json(request)) as Call, reader);
    response.end(JSON.stringify(result));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  mkdirSync(folder);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o755 });
  for (const name of programs) write(name, `#!/bin/sh\nexec "${pathOf(name)}" "$@"\n`);
  for (const name of ["npx", "npm", "allow-device"]) write(name, caller(`http://127.0.0.1:${port}`));
  // An answer that is an error fails its command, and nothing is written beside answers.
  write(".curlrc", "fail-with-body\nsilent\nshow-error\n");
  const bash = pathOf("bash");
  const before = process.cwd();
  return {
    run: (commands, cwd, env) =>
      run(bash, ["-e", "-o", "pipefail", "-c", commands], {
        cwd,
        env: { ...env, PATH: folder, HOME: folder, TMPDIR: cwd },
      }),
    close() {
      server.close();
      process.chdir(before);
    },
  };
}

/** The path of a program of this machine, or its name if there is none; `node` is that of the tests. */
function pathOf(program: string): string {
  const folders = [dirname(process.execPath), ...(process.env.PATH ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? program;
}

async function answerOf(call: Call, reader: Reader): Promise<ProgramResult> {
  const [first, second, ...rest] = call.words;
  if (call.program === "allow-device") {
    await reader.allowDevice(first ?? "");
    return { code: 0, out: "", err: "" };
  }
  if (call.program === "npm" && first === "start")
    return stile({ ...call, words: ["config", "check"] }, reader);
  if (call.program === "npx" && first === "--no-install" && second === "stile")
    return stile({ ...call, words: rest }, reader);
  const err = `${call.program} ${call.words.join(" ")}: not a command of this shell\n`;
  return { code: 127, out: "", err };
}

/** Runs the CLI, with the reader beside it: in this process, and in its folder, from which the CLI finds files. */
async function stile({ words, input, folder, environment }: Call, reader: Reader): Promise<ProgramResult> {
  const interruption = new AbortController();
  let isDeviceAllowed = false;
  const isEndless = endless.includes(words.slice(0, 2).join(" "));
  const result: ProgramResult = { code: null, out: "", err: "" };
  process.chdir(folder);
  const running = runCli(words, {
    environment,
    folder,
    input: Readable.from(words[0] === "login" ? reader.typed(words) : [input]),
    async print(line) {
      result.out += `${line}\n`;
      if (isEndless) interruption.abort();
    },
    async write(bytes) {
      result.out += Buffer.from(bytes).toString();
    },
    showsProgress: false,
    interruption: () => interruption.signal,
    prompt(text) {
      result.err += text;
      const [code] = /\b[A-Z]{4}-[A-Z]{4}\b/.exec(text) ?? [];
      if (!code || isDeviceAllowed) return;
      isDeviceAllowed = true;
      void reader.allowDevice(code);
    },
    printError(line) {
      result.err += `stile: ${line}\n`;
    },
  });
  while (isEndless && !interruption.signal.aborted) await reader.causeEvent();
  result.code = await running;
  return result;
}
