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
