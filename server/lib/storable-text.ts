/** Replaces NUL and lone surrogates, which PostgreSQL rejects, so that a client cannot make a write fail. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
