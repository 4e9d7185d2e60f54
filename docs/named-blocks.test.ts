import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startParameters } from "../scripts/start-parameters.ts";
import { parseCall } from "../server/cli/arguments.ts";
import { commands } from "../server/cli/commands/index.ts";
import { configLeaves } from "../server/config/load.ts";
import { documentedCommands, named } from "./documented-commands.ts";
import { commandsOf } from "./fenced-blocks.ts";

/**
 * The blocks that tests of their own run. Some of these tests need a registry, an engine or a cluster, and are run on demand:
 * what such a block names is compared with what exists in every run.
 */

const root = join(import.meta.dirname, "..");

const blocks = documentedCommands.flatMap(({ page, named: ofPage }) =>
  ofPage.map(({ line, text }) => ({ page, line, text })),
);

test("each block that a test names is one of its page", () => {
  expect(named.length).toBeGreaterThanOrEqual(blocks.length);
  for (const { page, begins } of named)
    expect(blocks).toContainEqual({ page, line: expect.anything(), text: commandsOf(page, begins) });
});

/** Settings, and what servers of tests read before them. */
const variables = [...configLeaves().map(({ variable }) => variable), "STILE_COVERAGE"];

const packages = ["package.json", ...globSync("packages/*/package.json", { cwd: root })].map(
  (file) => JSON.parse(readFileSync(join(root, file), "utf8")).name,
);

test.each(blocks)("$page, line $line, names what exists", ({ text }) => {
  for (const [, call = ""] of text.matchAll(/(?:^|npx --no-install |bin\/)stile(?:\.js)? ([^|>&#\n]+)/gm))
    expect(parseCall(call.trim().split(/\s+/), commands)).toMatchObject({ kind: "run" });
  const settings = [...text.matchAll(/\bSTILE_[A-Z_]+/g)].map(([name]) => name);
  expect(variables).toEqual(expect.arrayContaining(settings));
  // From a registry, or as the files that `npm run packages` writes.
  const installed = [...text.matchAll(/\bstile-auth[/-]([a-z]+)(?=[ \n-])/g)].map(
    ([, name]) => `@stile-auth/${name}`,
  );
  expect(packages).toEqual(expect.arrayContaining(installed));
  const files = [...text.matchAll(/(?<![\w./-])(?:bench|bin|deploy|scripts)\/[\w./-]+/g)].map(
    ([path]) => path,
  );
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("an installed package is started with the options of `npm start`", () => {
  const block = commandsOf("docs/processes.md", "node --max-semi-space-size=16");
  expect(block).toContain(startParameters.stile.slice(0, -1).join(" "));
});
