import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "../server/lib/tree.ts";
import { folderForTests } from "../server/testing/open-for-tests.ts";

const root = join(import.meta.dirname, "..");

/**
 * Makes a folder that stands for that of Stile, in which readers run the commands of a page and the server looks for its
 * configuration. What the commands write does not reach the repository.
 *
 * @param config content of its `stile.config.json`
 */
export function readerFolder(config: Tree = {}): string {
  const folder = folderForTests("reader");
  for (const name of ["bin", "node_modules"]) symlinkSync(join(root, name), join(folder, name), "junction");
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  writeFileSync(join(folder, "stile.config.json"), JSON.stringify(config));
  return folder;
}
