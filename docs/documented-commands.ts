import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type FencedBlock, fencedBlocks } from "./fenced-blocks.ts";
import { type Unrunnable, unrunnable } from "./unrunnable-blocks.ts";

/** The blocks of commands of all pages, by how they are run. */

const root = join(import.meta.dirname, "..");

/** Pages whose commands a test of their own runs: those that it names to `runCommandsOf`. */
export const tutorials: readonly string[] = globSync("docs/*.test.ts", { cwd: root }).flatMap((file) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/runCommandsOf\("([^"]+)"/g)].map(
    ([, page]) => `docs/${page}`,
  ),
);

const pages = ["README.md", ...globSync(["docs/*.md", "docs/operating/*.md"], { cwd: root }).sort()];

/** Settings alone, as the environment of a server has them, or starts of a server with them. */
const isSettings = ({ text }: FencedBlock) =>
  text
    .replaceAll(/'[^']*'/g, "")
    .replaceAll("\\\n", "")
    .trimEnd()
    .split("\n")
    .every((line) => /^(?:export )?(?:[A-Z][A-Z_]+=\S*(?: |$))+(?:npm start(?: +#.*)?)?$/.test(line));

/** The entry of a block that is not run; undefined for all others. */
const entryOf = (page: string, { text }: FencedBlock): Unrunnable | undefined =>
  unrunnable.find((entry) => entry.page === page && text.startsWith(entry.begins));

/** The pages but for tutorials, each with its blocks that are run in one shell, settings, and blocks that are not run. */
export const documentedCommands = pages
  .filter((page) => !tutorials.includes(page))
  .map((page) => {
    const blocks = fencedBlocks(page, "sh");
    const isRun = (block: FencedBlock) => !entryOf(page, block) && !isSettings(block);
    return {
      page,
      run: blocks.filter(isRun),
      settings: blocks.filter(isSettings),
      unrun: blocks.flatMap((block) => {
        const entry = entryOf(page, block);
        return entry ? [{ ...entry, block }] : [];
      }),
    };
  });
