import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type FencedBlock, fencedBlocks } from "./fenced-blocks.ts";

/** The blocks of commands of all pages, by how they are run. */

const root = join(import.meta.dirname, "..");

/** The sources of tests that run commands of pages in a way of their own. */
const tests = globSync(["docs/**/*.test.ts", "deploy/*.test.ts", "server/backup/*.test.ts"], {
  cwd: root,
}).map((file) => readFileSync(join(root, file), "utf8"));

/** Pages whose commands a test of their own runs: those that it names to `runCommandsOf`. */
export const tutorials: readonly string[] = tests.flatMap((source) =>
  [...source.matchAll(/runCommandsOf\("([^"]+)"/g)].map(([, page]) => `docs/${page}`),
);

/** Blocks that a test of their own runs: those that it names to `commandsOf`. */
export const named: readonly { page: string; begins: string }[] = tests.flatMap((source) =>
  [...source.matchAll(/commandsOf\(\s*"([^"]+)",\s*"([^"]+)"/g)].map(([, page = "", begins = ""]) => ({
    page,
    begins,
  })),
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

/** The pages but for tutorials, each with its blocks that are run in one shell, settings, and blocks that other tests run. */
export const documentedCommands = pages
  .filter((page) => !tutorials.includes(page))
  .map((page) => {
    const blocks = fencedBlocks(page, "sh");
    const isNamed = ({ text }: FencedBlock) =>
      named.some((one) => one.page === page && text.startsWith(one.begins));
    return {
      page,
      run: blocks.filter((block) => !isNamed(block) && !isSettings(block)),
      settings: blocks.filter(isSettings),
      named: blocks.filter(isNamed),
    };
  });
