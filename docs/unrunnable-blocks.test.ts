import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startParameters } from "../scripts/start-parameters.ts";
import { parseCall } from "../server/cli/arguments.ts";
import { commands } from "../server/cli/commands/index.ts";
import { configLeaves } from "../server/config/load.ts";
import { documentedCommands } from "./documented-commands.ts";
import { type Unrunnable, unrunnable } from "./unrunnable-blocks.ts";

const root = join(import.meta.dirname, "..");
const blocks = documentedCommands.flatMap((page) => page.unrun);

test("each entry of the list is one block of its page", () => {
  const named = (entries: readonly Unrunnable[]) =>
    entries.map(({ page, begins }) => `${page}: ${begins}`).sort();
  expect(named(blocks)).toEqual(named(unrunnable));
});

/** Settings, and what servers of tests read before them. */
const variables = [...configLeaves().map(({ variable }) => variable), "STILE_COVERAGE"];

const packages = ["package.json", ...globSync("packages/*/package.json", { cwd: root })].map(
  (file) => JSON.parse(readFileSync(join(root, file), "utf8")).name,
);

test.each(blocks)("$page, which needs $needs, names what exists", ({ block: { text } }) => {
  for (const [, call = ""] of text.matchAll(/(?:^|npx --no-install |bin\/)stile(?:\.js)? ([^|>&#\n]+)/gm))
    expect(parseCall(call.trim().split(/\s+/), commands)).toMatchObject({ kind: "run" });
  const settings = [...text.matchAll(/\bSTILE_[A-Z_]+/g)].map(([name]) => name);
  expect(variables).toEqual(expect.arrayContaining(settings));
  // From a registry, or as the files that `npm run packages` writes.
  const named = [...text.matchAll(/\bstile-auth[/-]([a-z]+)(?=[ \n-])/g)].map(
    ([, name]) => `@stile-auth/${name}`,
  );
  expect(packages).toEqual(expect.arrayContaining(named));
  const files = [...text.matchAll(/(?<![\w./-])(?:bench|bin|deploy|scripts)\/[\w./-]+/g)].map(
    ([path]) => path,
  );
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("an installed package is started with the options of `npm start`", () => {
  const { block } = blocks.find(({ page }) => page === "docs/processes.md") ?? {};
  expect(block?.text).toContain(startParameters.stile.slice(0, -1).join(" "));
});
