import { jsonEntries } from "./json-entries.ts";

/** Maximum number of nested levels. */
export const MAX_JSON_DEPTH = 32;

/** Default for the maximum number of members of all objects of a text together. */
export const MAX_JSON_MEMBERS = 256;

/**
 * Parses I-JSON (RFC 7493): rejects duplicate names in an object, numbers beyond a double, and lone surrogates. Also
 * rejects more than `MAX_JSON_DEPTH` levels, too many members, and members named `__proto__`, because code that copies
 * them could change a prototype.
 *
 * @param maxMembers maximum number of members of all objects together
 * @returns undefined if the text is rejected
 */
export function parseJson(text: string, maxMembers = MAX_JSON_MEMBERS): unknown {
  const members = countMembers(text, maxMembers);
  if (members === null) return undefined;
  const value = plainJson(text);
  // A duplicate name counts as two members in the text and as one in the value.
  return countPlainMembers(value) === members ? value : undefined;
}

/** Characters of a path that are reported. A client may have sent a longer one. */
const MAX_REPORTED_PATH = 100;

/**
 * Returns the member that makes `parseJson` reject a text, as a sentence without a full stop; null if it is not JSON, or
 * was rejected as a whole.
 */
export function rejectedMember(text: string, maxMembers = MAX_JSON_MEMBERS): string | null {
  if (countMembers(text, maxMembers) === null || plainJson(text) === undefined) return null;
  for (const entry of jsonEntries(text)) {
    const { kind, path: whole } = entry;
    const path = (
      whole.length > MAX_REPORTED_PATH ? `${whole.slice(0, MAX_REPORTED_PATH)}…` : whole
    ).toWellFormed();
    if (kind === "number" && !Number.isFinite(Number(entry.source)))
      return `the number at ${path} is out of range`;
    if (kind === "string" && !isWellFormed(entry.source))
      return `the text at ${path} is not well-formed Unicode`;
    if (kind !== "name") continue;
    if (entry.duplicate) return `the member ${path} occurs twice`;
    if (entry.name === "__proto__") return `the member ${path} is not allowed`;
    if (!entry.name.isWellFormed()) return `the name of the member ${path} is not well-formed Unicode`;
  }
  return null;
}

/** @param source a string of JSON with its quotes and escapes */
function isWellFormed(source: string): boolean {
  return (JSON.parse(source) as string).isWellFormed();
}

/** @returns undefined for a text that is not JSON */
function plainJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts the members in a text. Returns null if there are too many of them or too many levels. */
function countMembers(text: string, maxMembers: number): number | null {
  let depth = 0;
  let members = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (quoted) {
      if (character === 0x5c /* \ */) at++;
      else if (character === 0x22 /* " */) quoted = false;
    } else if (character === 0x22) quoted = true;
    else if (character === 0x7b /* { */ || character === 0x5b /* [ */) {
      if (++depth > MAX_JSON_DEPTH) return null;
    } else if (character === 0x7d /* } */ || character === 0x5d /* ] */) depth--;
    else if (character === 0x3a /* : */ && ++members > maxMembers) return null;
  }
  return members;
}

/** Counts the members of a parsed value. Returns NaN if the value contains something that is rejected. */
function countPlainMembers(value: unknown): number {
  if (typeof value === "string") return value.isWellFormed() ? 0 : Number.NaN;
  if (typeof value === "number") return Number.isFinite(value) ? 0 : Number.NaN;
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countPlainMembers(item);
    return count;
  }
  for (const [name, member] of Object.entries(value)) {
    if (name === "__proto__" || !name.isWellFormed()) return Number.NaN;
    count += 1 + countPlainMembers(member);
  }
  return count;
}
