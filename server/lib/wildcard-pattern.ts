import type { StepBudget } from "./step-budget.ts";

/**
 * Patterns with wildcards, for texts of clients. A pattern is parsed once. Matching goes from left to right through the
 * text, twice for each wildcard and without backtracking, so that its cost is at most `maxMatchingSteps`.
 */

/** Bounds of one entry of a list of patterns. */
export const MAX_ENTRY_CHARACTERS = 255;
export const MAX_WILDCARDS = 4;
export const MAX_HOST_WILDCARDS = 2;

/** Entries of one list of patterns. */
export const MAX_ENTRIES = 100;

/** What a wildcard stands for. */
export interface Wildcard {
  takes(character: string): boolean;
  /** Minimum number of characters. */
  least: 0 | 1;
  /** Characters that it takes, but neither first nor last. Only with `least` 1. */
  inner?: string;
}

/** A parsed pattern: texts that are matched literally, with one wildcard between each two. */
export interface WildcardPattern {
  literals: readonly Literal[];
  wildcards: readonly Wildcard[];
}

interface Literal {
  text: string;
  /** At each position, the length of the longest proper prefix that ends there (Knuth, Morris and Pratt). */
  borders: Uint8Array;
}

/**
 * Finds out whether an entry is beyond the bounds. A run of `*` is one wildcard.
 *
 * @returns the end of a sentence about the entry; null if it is within the bounds
 */
export function patternFault(entry: string): string | null {
  if (entry.length > MAX_ENTRY_CHARACTERS)
    return `must not be longer than ${MAX_ENTRY_CHARACTERS} characters`;
  const count = (text: string) => text.match(/\*+/g)?.length ?? 0;
  const [, host = ""] = /^(?:[a-z]+:\/\/)?([^/?#:]*)/i.exec(entry) ?? [];
  if (count(host) > MAX_HOST_WILDCARDS)
    return `must not have more than ${MAX_HOST_WILDCARDS} wildcards in a host`;
  return count(entry) > MAX_WILDCARDS ? `must not have more than ${MAX_WILDCARDS} wildcards` : null;
}

/**
 * Parses a pattern.
 *
 * @param parts texts and wildcards in their order
 * @returns null if it has more than `MAX_WILDCARDS` wildcards or `MAX_ENTRY_CHARACTERS` characters
 */
export function parsePattern(parts: readonly (string | Wildcard)[]): WildcardPattern | null {
  const texts = [""];
  const wildcards: Wildcard[] = [];
  for (const part of parts) {
    if (typeof part === "string") texts.push((texts.pop() ?? "") + part);
    else {
      wildcards.push(part);
      texts.push("");
    }
  }
  if (wildcards.length > MAX_WILDCARDS || texts.join("").length > MAX_ENTRY_CHARACTERS) return null;
  return { literals: texts.map((text) => ({ text, borders: bordersOf(text) })), wildcards };
}

/** The most steps that one text of a length costs with a list of patterns. */
export const maxMatchingSteps = (length: number) => MAX_ENTRIES * MAX_WILDCARDS * 2 * (length + 1);

/**
 * Whether a text matches a pattern.
 *
 * @param budget each character that is looked at for a wildcard, or for the text after it, is a step
 * @returns false if the budget is used up
 */
export function matchesPattern(
  { literals, wildcards }: WildcardPattern,
  text: string,
  budget: StepBudget,
): boolean {
  const [first, ...others] = literals.map((literal) => literal.text);
  const last = others.at(-1);
  if (first === undefined || last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  if (end < first.length) return false;
  let begins = new Uint8Array(end + 1);
  begins[first.length] = 1;
  for (const [index, wildcard] of wildcards.entries()) {
    if (!budget.take(end + 1)) return false;
    const reached = reach(wildcard, text, begins);
    const literal = literals[index + 1];
    if (index === wildcards.length - 1 || !literal) return reached[end] === 1;
    if (!budget.take(end + 1)) return false;
    begins = endsOf(literal, text, reached);
  }
  return false;
}

/** Returns the positions, up to the last of `begins`, at which a wildcard can end that begins at one of `begins`. */
function reach(
  { takes, least, inner = "" }: Wildcard,
  text: string,
  begins: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const reached = new Uint8Array(begins.length);
  let open = false;
  for (let at = 0; at < begins.length; at++) {
    const mayBegin = begins[at] === 1;
    const mayEnd = open && !inner.includes(text.charAt(at - 1));
    if (mayEnd || (mayBegin && least === 0)) reached[at] = 1;
    const character = text.charAt(at);
    open = (open || (mayBegin && !inner.includes(character))) && takes(character);
  }
  return reached;
}

/** Returns the positions at which a literal ends that begins at one of `begins`. */
function endsOf(
  { text: literal, borders }: Literal,
  text: string,
  begins: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const ends = new Uint8Array(begins.length);
  let matched = 0;
  for (let at = 0; at < begins.length; at++) {
    const begin = at - literal.length;
    if (matched === literal.length) {
      if (begins[begin] === 1) ends[at] = 1;
      matched = borders[matched - 1] ?? 0;
    }
    while (matched > 0 && literal.charAt(matched) !== text.charAt(at)) matched = borders[matched - 1] ?? 0;
    if (literal.charAt(matched) === text.charAt(at)) matched++;
  }
  return ends;
}

function bordersOf(text: string): Uint8Array {
  const borders = new Uint8Array(text.length);
  for (let at = 1, length = 0; at < text.length; at++) {
    while (length > 0 && text.charAt(at) !== text.charAt(length)) length = borders[length - 1] ?? 0;
    if (text.charAt(at) === text.charAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}
