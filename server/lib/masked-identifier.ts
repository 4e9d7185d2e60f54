/**
 * An identifier as its owner recognizes it, and another person does not learn it: the first character and, of a longer one,
 * the last are left, of an address also its host, of a number the last two digits.
 */
export function maskedIdentifier(identifier: string): string {
  const at = identifier.lastIndexOf("@");
  if (at > 0) return `${masked(identifier.slice(0, at))}${identifier.slice(at)}`;
  return identifier.startsWith("+") ? `${GAP}${identifier.slice(-2)}` : masked(identifier);
}

const GAP = "•••";

/** A name that is shorter would be known by its ends. */
const MIN_CHARACTERS = 4;

function masked(text: string): string {
  const characters = Array.from(text);
  const last = characters.length >= MIN_CHARACTERS ? characters.at(-1) : "";
  return `${characters[0] ?? ""}${GAP}${last}`;
}
