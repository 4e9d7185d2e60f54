import type { StepBudget } from "./step-budget.ts";

/**
 * Patterns with wildcards, for texts of clients. A pattern is parsed once. Matching goes from left to right through the
 * text, twice for each wildcard at most and without backtracking, and stops at a bound of steps.
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
  wildcards: readonly CompiledWildcard[];
}

interface Literal {
  text: string;
  codes: Uint16Array;
  /** At each position, the length of the longest proper prefix that ends there (Knuth, Morris and Pratt). */
  borders: Uint8Array;
}

/** Characters by their code; those beyond ASCII are one class, the last. */
interface CompiledWildcard {
  takes: Uint8Array;
  /** Characters that it may begin and end with. */
  outer: Uint8Array;
  least: 0 | 1;
}

/** Number of classes of characters: those of ASCII, and all others. */
const CLASSES = 129;

/** A text that is compared with many patterns. */
export interface Subject {
  text: string;
  codes: Uint16Array;
}

/** Prepares a text for `matchesPattern`. */
export function subjectOf(text: string): Subject {
  return { text, codes: codesOf(text) };
}

function codesOf(text: string): Uint16Array {
  const codes = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) codes[at] = text.charCodeAt(at);
  return codes;
}

function compile({ takes, least, inner = "" }: Wildcard): CompiledWildcard {
  const characters = Array.from({ length: CLASSES }, (_, code) => String.fromCharCode(code));
  return {
    takes: Uint8Array.from(characters, (character) => (takes(character) ? 1 : 0)),
    outer: Uint8Array.from(characters, (character) => (inner.includes(character) ? 0 : 1)),
    least,
  };
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
  return { literals: texts.map(literalOf), wildcards: wildcards.map(compile) };
}

/**
 * Steps that one text costs with a whole list of patterns: a millisecond or two. Patterns that lack a part of the text
 * take none. So more are needed only if many entries have several wildcards, and the parts of a long address in their
 * order.
 */
export const MAX_MATCHING_STEPS = 100_000;

/**
 * Whether a text matches a pattern.
 *
 * @param budget each character that is looked at for a wildcard, or for the text after it, is a step
 * @returns false if the budget is used up
 */
export function matchesPattern(
  { literals, wildcards }: WildcardPattern,
  { text, codes }: Subject,
  budget: StepBudget,
): boolean {
  const [first] = literals;
  const last = literals.at(-1);
  if (!first || !last || literals.length === 1) return text === first?.text;
  if (!text.startsWith(first.text) || !text.endsWith(last.text)) return false;
  const end = text.length - last.text.length;
  if (end < first.text.length) return false;
  if (!hasInOrder(literals.slice(1, -1), text.slice(0, end), first.text.length)) return false;
  let begins = new Uint8Array(end + 1);
  begins[first.text.length] = 1;
  for (const [index, wildcard] of wildcards.entries()) {
    if (!budget.take(end + 1)) return false;
    const reached = reach(wildcard, codes, begins);
    const literal = literals[index + 1];
    if (index === wildcards.length - 1 || !literal) return reached[end] === 1;
    if (!budget.take(end + 1)) return false;
    begins = endsOf(literal, codes, reached);
  }
  return false;
}

/** Whether a text has the literals one after the other: without them, no wildcard has to be looked at. */
function hasInOrder(literals: readonly Literal[], text: string, from: number): boolean {
  let at = from;
  return literals.every((literal) => {
    const found = text.indexOf(literal.text, at);
    at = found + literal.text.length;
    return found >= 0;
  });
}

/** Returns the positions, up to the last of `begins`, at which a wildcard can end that begins at one of `begins`. */
function reach(
  { takes, outer, least }: CompiledWildcard,
  codes: Uint16Array,
  begins: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const reached = new Uint8Array(begins.length);
  let open = false;
  let mayEnd = false;
  for (let at = 0; at < begins.length; at++) {
    const mayBegin = begins[at] === 1;
    if ((open && mayEnd) || (mayBegin && least === 0)) reached[at] = 1;
    const character = Math.min(codes[at] ?? 0, CLASSES - 1);
    mayEnd = outer[character] === 1;
    open = (open || (mayBegin && mayEnd)) && takes[character] === 1;
  }
  return reached;
}

/** Returns the positions at which a literal ends that begins at one of `begins`. */
function endsOf(
  { codes: literal, borders }: Literal,
  codes: Uint16Array,
  begins: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const { length } = literal;
  const ends = new Uint8Array(begins.length);
  let matched = 0;
  for (let at = 0; at < begins.length; at++) {
    if (matched === length) {
      if (begins[at - length] === 1) ends[at] = 1;
      matched = borders[matched - 1] ?? 0;
    }
    const code = codes[at];
    while (matched > 0 && literal[matched] !== code) matched = borders[matched - 1] ?? 0;
    if (literal[matched] === code) matched++;
  }
  return ends;
}

function literalOf(text: string): Literal {
  const codes = codesOf(text);
  const borders = new Uint8Array(text.length);
  for (let at = 1, length = 0; at < text.length; at++) {
    while (length > 0 && codes[at] !== codes[length]) length = borders[length - 1] ?? 0;
    if (codes[at] === codes[length]) length++;
    borders[at] = length;
  }
  return { text, codes, borders };
}
