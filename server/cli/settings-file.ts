import { ConfigError } from "../config/errors.ts";
import { isTree, type Tree } from "../lib/tree.ts";
import { CommandError } from "./command.ts";
import { readInput } from "./files.ts";

/**
 * Reads settings from a file of JSON, or from standard input.
 *
 * @param file `-` for standard input
 * @throws CommandError if they are no object
 */
export async function settingsIn(input: NodeJS.ReadableStream, file: string): Promise<Tree> {
  const content = await readInput(file, input);
  try {
    const settings: unknown = JSON.parse(content);
    if (isTree(settings)) return settings;
  } catch {
    // The message of the parser would quote the file, which may contain secrets.
    throw new CommandError(`${file} is not JSON`);
  }
  throw new CommandError(`${file} does not contain an object`);
}

/** Names the file in the error of a setting: the server has settings of its own. */
export async function withSource<Result>(
  option: string,
  file: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (file === undefined || !(error instanceof ConfigError)) throw error;
    throw new CommandError(`${option} ${file}: ${error.message}`);
  }
}
