/** Replaces what a terminal may obey and what PostgreSQL rejects: control and format characters, lone surrogates. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\uFFFD");
}
