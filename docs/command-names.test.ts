import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../server/cli/commands/index.ts";
import { textOf } from "./fenced-blocks.ts";

const root = join(import.meta.dirname, "..");
const pages = ["README.md", "SECURITY.md", ...globSync(["docs/*.md", "docs/operating/*.md"], { cwd: root })];

/** Calls of the CLI in sentences, tables and blocks of every language. */
const callsIn = (text: string) =>
  [...text.matchAll(/(?:`|npx --no-install |bin\/)stile(?:\.js)? ([a-z-][^`|\n"'<>#)]*)/g)].map(
    ([, words = ""]) => words,
  );

/** What the CLI does not know of a call: the command, or an option; undefined if it knows all. */
function unknownIn(call: string): string | undefined {
  const words = call.trim().split(/\s+/);
  if (words[0] === "--help") return undefined;
  const named = commands.filter(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  const group = words.length === 1 ? commands.filter(({ name }) => name.startsWith(`${words[0]} `)) : [];
  const known = [...named, ...group].map(({ options }) => Object.keys(options));
  if (known.length === 0) return words.join(" ");
  const options = ["help", ...known.flat()].map((name) => `--${name}`);
  return words.find((word) => word.startsWith("--") && !options.includes(word));
}

test("pages name commands and options of the CLI that exist", () => {
  const calls = pages.flatMap((page) => callsIn(textOf(page)).map((call) => ({ page, call })));
  expect(calls.length).toBeGreaterThan(100);
  const unknown = calls.flatMap(({ page, call }) => {
    const name = unknownIn(call);
    return name === undefined ? [] : [`${page}: ${name}`];
  });
  expect(unknown).toEqual([]);
});
