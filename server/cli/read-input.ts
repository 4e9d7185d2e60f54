import { readFileSync } from "node:fs";
import { CommandError } from "./command.ts";

/**
 * Reads the file that an argument names.
 *
 * @param file `-` for standard input
 * @throws CommandError if the file cannot be read
 */
export async function readInput(file: string, input: NodeJS.ReadableStream): Promise<string> {
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
