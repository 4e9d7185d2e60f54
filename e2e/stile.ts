import { join } from "node:path";
import { run } from "../server/testing/program.ts";
import type { RunningServer } from "../server/testing/server.ts";

const root = join(import.meta.dirname, "..");

/**
 * Runs the CLI with the environment of a running server.
 *
 * @param input its standard input
 * @returns its standard output
 * @throws Error with its standard error
 */
export async function stile(server: RunningServer, words: string[], input = ""): Promise<string> {
  const start = { cwd: root, env: server.environment, input };
  const { code, out, err } = await run(join(root, "bin/stile.js"), words, start);
  if (code !== 0) throw new Error(err);
  return out.trim();
}
