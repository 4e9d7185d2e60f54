import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { CommandError } from "./command.ts";

/** Returns what throws a CommandError for an error of the file system. */
export const cannotBe = (verb: "created" | "read" | "written", file: string) => (error: unknown) => {
  throw new CommandError(`${file} cannot be ${verb}: ${(error as NodeJS.ErrnoException).code}`);
};

/** @throws CommandError if the file cannot be read */
export const readText = (file: string): Promise<string> =>
  readFile(file, "utf8").catch(cannotBe("read", file));

/**
 * Reads the file that an argument names.
 *
 * @param file `-` for standard input
 * @throws CommandError if the file cannot be read
 */
export const readInput = (file: string, input: NodeJS.ReadableStream): Promise<string> =>
  file === "-" ? text(input) : readText(file);
