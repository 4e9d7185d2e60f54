/**
 * A name or a subject as one line: without line breaks and control characters, which end a header, and without
 * the marks that turn the direction of text, which make a line read as another one.
 */
export function oneLine(value: string): string {
  return value.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ").trim();
}
