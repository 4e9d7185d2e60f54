import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../server/cli/commands/index.ts";
import { textOf } from "./fenced-blocks.ts";

const root = join(import.meta.dirname, "..");
const pages = ["README.md", "SECURITY.md", ...globSync(["docs/*.md", "docs/operating/*.md"], { cwd: root })];

/** Calls of the CLI within a sentence or a table, without `stile`. */
const callsIn = (text: string) =>
  [...text.matchAll(/`(?:npx --no-install |bin\/)?stile(?:\.js)? ([a-z-][^`|]*)/g)].map(
    ([, words = ""]) => words,
  );

/** The first word or option of a call that the CLI does not know; undefined if it knows all. */
function unknownIn(call: string): string | undefined {
  const words = call.trim().split(/\s+/);
  const named = commands.filter(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (named.length === 0 && words[0] !== "--help" && (group.length === 0 || words.length > 1)) return call;
  const known = new Set(
    [...named, ...(named.length === 0 ? group : [])].flatMap(({ options }) => Object.keys(options)),
  );
  return words.find((word) => word.startsWith("--") && word !== "--help" && !known.has(word.slice(2)));
}

test("sentences and tables name commands and options of the CLI that exist", () => {
  const unknown = pages.flatMap((page) =>
    callsIn(textOf(page)).flatMap((call) => (unknownIn(call) === undefined ? [] : [`${page}: ${call}`])),
  );
  expect(unknown).toEqual([]);
  expect(pages.flatMap((page) => callsIn(textOf(page))).length).toBeGreaterThan(50);
});
