/** Deepest nesting of JSON. */
export const MAX_JSON_DEPTH = 32;

/** Most members that all objects of a text may have together, unless its reader allows for more. */
export const MAX_JSON_MEMBERS = 256;

/**
 * Parses JSON as RFC 7493 narrows it: no name twice in one object, no number beyond a double, no lone surrogate.
 * Also refused: more than `DEPTH_LIMIT` levels, too many members, and members named `__proto__`, which would be
 * something else than data to careless code.
 *
 * @param mostMembers that all objects may have together
 * @returns undefined for everything refused
 */
export function parseJson(text: string, mostMembers = MAX_JSON_MEMBERS): unknown {
  const members = countMembers(text, mostMembers);
  if (members === null) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // A name that occurs twice was written as two members and read as one.
  return countPlainMembers(value) === members ? value : undefined;
}

/** How many members the text writes down, or null when they, or its levels, are too many. Reads it once. */
function countMembers(text: string, most: number): number | null {
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
    else if (character === 0x3a /* : */ && ++members > most) return null;
  }
  return members;
}

/** How many members a parsed value has, or NaN when there is something in it that JSON has no business to carry. */
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
