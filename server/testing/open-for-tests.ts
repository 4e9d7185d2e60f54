import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { type TestRuntime, testRuntime } from "./runtime.ts";

/** What a test opens and has to end. */
type Opened = { close(): unknown } | { stop(): unknown };

/**
 * Waits for something that the tests of one file share, and ends it after them, what was opened last first. Called at
 * the top of the file.
 */
export async function openForTests<Thing extends Opened>(opening: Thing | Promise<Thing>): Promise<Thing> {
  const opened = await opening;
  afterAll(async () => void (await ("close" in opened ? opened.close() : opened.stop())));
  return opened;
}

/** Makes the test runtime that the tests of one file share; `settings` are environment variables. */
export const runtimeForTests = (settings: Record<string, string> = {}): Promise<TestRuntime> =>
  openForTests(testRuntime(settings));

/** Makes an empty folder that the tests of one file share, and removes it after them. */
export function folderForTests(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `stile ${name} `));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
