import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startParameters } from "../scripts/start-parameters.ts";
import type { Tree } from "../server/lib/tree.ts";
import { folderForTests, openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { startServer } from "../server/testing/server.ts";

const root = join(import.meta.dirname, "..");

/**
 * Starts a server for the tests of one file, in a folder that stands for that of Stile: readers run the commands of a page
 * there, and what these write does not reach the repository.
 *
 * @param config content of `stile.config.json`
 * @param env further environment variables of the server
 */
export async function readerServer(config: Tree, env: Record<string, string> = {}) {
  const folder = folderForTests("reader");
  for (const name of ["bin", "node_modules"]) symlinkSync(join(root, name), join(folder, name), "junction");
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  writeFileSync(join(folder, "stile.config.json"), JSON.stringify(config));
  const database = await openForTests(testDatabase());
  const program = { folder, parameters: [...startParameters.stile] };
  const server = await openForTests(startServer({ env: { DATABASE_URL: database.url, ...env }, program }));
  return { folder, database, server };
}
