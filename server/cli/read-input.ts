import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { CommandError } from "./command.ts";

/**
 * Reads the file that an argument names.
 *
 * @param file `-` for standard input
 * @throws CommandError if the file cannot be read
 */
export async function readInput(file: string, input: NodeJS.ReadableStream): Promise<string> {
  return file === "-" ? text(input) : readFile(file);
}

/** @throws CommandError if the file cannot be read */
export function readFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
