/**
 * Text as a person must see it before they agree to it: what has no shape of its own, or changes how its neighbours
 * are drawn, is told apart from what is meant to be read.
 */

/** A stretch of text; or one character that cannot be seen, by its code point, as in `U+202E`. */
export type TextPiece = { text: string } | { hidden: string; breaks?: true };

/**
 * Controls, formats such as the marks that turn the direction of writing, unassigned and private characters, separators
 * of lines and paragraphs, what Unicode says is not drawn (`Default_Ignorable_Code_Point`), and two symbols that are
 * drawn as nothing or as anything: the empty Braille pattern and the replacement of objects.
 */
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc]/u;

/** Marks on one letter that are still writing; what is beyond would be drawn over other lines. */
const MAX_COMBINING_MARKS = 4;

/** Cuts a text into what can be read and what cannot be seen. Nothing is left out. */
export function visiblePieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let run = "";
  let marks = 0;
  const characters = [...text];
  characters.forEach((character, at) => {
    marks = /\p{M}/u.test(character) ? marks + 1 : 0;
    const drawn = !invisible.test(character) || isPartOfEmoji(characters, at);
    if (drawn && marks <= MAX_COMBINING_MARKS) {
      run += character;
      return;
    }
    if (run !== "") pieces.push({ text: run });
    run = "";
    pieces.push({ hidden: codePoint(character), ...(character === "\n" ? { breaks: true as const } : {}) });
  });
  if (run !== "") pieces.push({ text: run });
  return pieces;
}

/** The same for a text that stands without quotes: there, spaces at its ends cannot be seen either. */
export function visibleEnds(text: string): TextPiece[] {
  const isSpace = (at: number) => /\p{Zs}/u.test(text[at] ?? "");
  let [start, end] = [0, text.length];
  while (isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  const spaces = (part: string) => [...part].map((character) => ({ hidden: codePoint(character) }));
  return [
    ...spaces(text.slice(0, start)),
    ...visiblePieces(text.slice(start, end)),
    ...spaces(text.slice(end)),
  ];
}

/** The same in one line, for terminals: `‹U+202E›` in place of what cannot be seen. */
export function visibleLine(text: string): string {
  return visiblePieces(text)
    .map((piece) => ("text" in piece ? piece.text : `‹${piece.hidden}›`))
    .join("");
}

/** What joins pictures into one, or asks for their coloured form, is seen by what it does. */
function isPartOfEmoji(characters: readonly string[], at: number): boolean {
  const [before = "", character, after = ""] = [characters[at - 1], characters[at], characters[at + 1]];
  const picture = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
  if (character === "\ufe0f") return /[\p{Extended_Pictographic}\d#*]/u.test(before);
  const joined = picture.test(before) || before === "\ufe0f";
  return character === "\u200d" && joined && picture.test(after);
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
