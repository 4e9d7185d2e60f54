import { existsSync } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { CommandError } from "./command.ts";

/** Returns what throws a CommandError for an error of the file system. */
export const cannotBe = (verb: "created" | "read" | "written", file: string) => (error: unknown) => {
  throw new CommandError(`${file} cannot be ${verb}: ${(error as NodeJS.ErrnoException).code}`);
};

/** @throws CommandError if the file cannot be read */
export const readText = (file: string): Promise<string> =>
  readFile(file, "utf8").catch(cannotBe("read", file));

/** Reads a text of at most some bytes. @throws CommandError if the file cannot be read, or is longer */
export async function readBounded(file: string, maxBytes: number): Promise<string> {
  const opened = await open(file).catch(cannotBe("read", file));
  try {
    const { size } = await opened.stat();
    if (size > maxBytes) throw new CommandError(`${file} has more than ${maxBytes} bytes`);
    return await opened.readFile("utf8").catch(cannotBe("read", file));
  } finally {
    await opened.close();
  }
}

/** Creates a file that only its owner may read. @throws CommandError if it exists or cannot be created */
export async function createPrivateFile(path: string) {
  // An existing file could be readable by others.
  const file = await open(path, "wx", 0o600).catch(cannotBe("created", path));
  return {
    write: (text: string) => file.appendFile(`${text}\n`).catch(cannotBe("written", path)),
    close: () => file.close().catch(cannotBe("written", path)),
  };
}

/**
 * Reads the file that an argument names.
 *
 * @param file `-` for standard input
 * @throws CommandError if the file cannot be read
 */
export const readInput = (file: string, input: NodeJS.ReadableStream): Promise<string> =>
  file === "-" ? text(input) : readText(file);

/**
 * Writes a new file that only its owner may read, under another name beside it until it is complete and on disk.
 *
 * @param write receives what takes the bytes of the file
 * @throws CommandError if the file exists or cannot be written; nothing is left of it then
 */
export async function writeWholeFile<Result>(
  path: string,
  write: (take: (bytes: Uint8Array) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  if (existsSync(path)) throw new CommandError(`${path} cannot be created: EEXIST`);
  const partial = `${path}.${process.pid}.partial`;
  const file = await open(partial, "wx", 0o600).catch(cannotBe("created", partial));
  try {
    const result = await write((bytes) => file.appendFile(bytes).catch(cannotBe("written", path)));
    await file.sync().catch(cannotBe("written", path));
    await file.close().catch(cannotBe("written", path));
    await rename(partial, path).catch(cannotBe("created", path));
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  }
}

/** Without it a name may be missing after a power failure, although its file is there. */
async function syncFolder(path: string): Promise<void> {
  // Windows opens no folder.
  const folder = await open(path).catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
