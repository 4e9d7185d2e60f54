import { readFileSync } from "node:fs";
import { CommandError } from "./command.ts";

/**
 * The text of a file that a command was given.
 *
 * @param file `-` for what comes by standard input
 * @throws CommandError when it cannot be read
 */
export async function readGiven(file: string, input: NodeJS.ReadableStream): Promise<string> {
  if (file === "-") return readAll(input);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

async function readAll(input: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of input) text += String(chunk);
  return text;
}
