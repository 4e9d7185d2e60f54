import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A block of a page between fences, without the indentation of the list that it stands in. */
export interface FencedBlock {
  /** Its first line, from 1. */
  line: number;
  text: string;
}

/** The text of a page, by its path from the root of the repository. */
export const textOf = (page: string) => readFileSync(join(import.meta.dirname, "..", page), "utf8");

/**
 * Returns the blocks of a page in a language, in their order.
 *
 * @param page its path from the root of the repository
 */
export function fencedBlocks(page: string, language: "sh" | "json"): FencedBlock[] {
  const text = textOf(page);
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\`$`, "gms"));
  return [...blocks].map(({ index, 1: indentation = "", 2: lines = "" }) => ({
    line: text.slice(0, index).split("\n").length + 1,
    text: lines.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  }));
}

/**
 * Returns the text of one block of commands, for a test that runs it. `documented-commands.ts` reads the calls of this
 * function: a block that no test names is run by `commands.test.ts`.
 *
 * @param page its path from the root of the repository
 * @param begins the beginning of the block, which no other block of the page has
 * @param examples what takes the place of examples; each has to be there
 * @throws Error if not one block begins so, or an example is not in it
 */
export function commandsOf(page: string, begins: string, examples: Record<string, string> = {}): string {
  const [block, ...others] = fencedBlocks(page, "sh").filter(({ text }) => text.startsWith(begins));
  if (!block || others.length > 0) throw new Error(`not one block of ${page} begins with ${begins}`);
  return Object.entries(examples).reduce((text, [example, real]) => {
    if (!text.includes(example)) throw new Error(`${example} is not in the commands of ${page}`);
    return text.replaceAll(example, () => real);
  }, block.text);
}
