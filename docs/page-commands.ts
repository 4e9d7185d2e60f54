import { dirname } from "node:path";
import process from "node:process";
import { type ProgramResult, run } from "../server/testing/program.ts";
import type { RunningServer } from "../server/testing/server.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

/** Where the pages say that Stile runs. */
const STATED = "http://localhost:3000";

/**
 * Runs the commands of a page in their order, in one shell, as a reader would.
 *
 * @param page its name in `docs/`
 * @param server takes the place of the one that the page names
 * @param folder that they are run in
 * @param given values of variables that the page sets as an example
 */
export async function runCommandsOf(
  page: string,
  { url, environment }: Pick<RunningServer, "url" | "environment">,
  folder: string,
  given: Record<string, string> = {},
): Promise<ProgramResult> {
  const stated = fencedBlocks(`docs/${page}`, "sh")
    .map(({ text }) => text)
    .join("");
  let commands = stated.replaceAll(STATED, url);
  if (commands === stated) throw new Error(`${page} does not name ${STATED}`);
  for (const [name, value] of Object.entries(given)) {
    if (!commands.includes(`\n${name}=`)) throw new Error(`${page} does not set ${name}`);
    commands = commands.replace(new RegExp(`^${name}=.*$`, "m"), `${name}='${value}'`);
  }
  // A page that fails leaves no program of its own running.
  return run("bash", ["-e", "-c", `trap 'kill $(jobs -p) 2>&- || :' EXIT\n${commands}`], {
    cwd: folder,
    // `node` is that of the tests.
    env: { ...environment, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  });
}
