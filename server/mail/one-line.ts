/**
 * A name or a subject as one line: replaces line breaks and control characters, which end a header, and direction
 * marks, which change how a line reads.
 */
export function oneLine(value: string): string {
  return value.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
}
