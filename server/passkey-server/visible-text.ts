/**
 * Text that a user must see before confirming it: characters that are invisible, or that change how their neighbours
 * are drawn, are separated from visible ones.
 */

/** Visible text, or one invisible character by its code point, such as `U+202E`. `breaks`: it is a line feed. */
export type TextPiece = { text: string } | { hidden: string; breaks?: true };

/**
 * Control, format (such as bidirectional marks), unassigned and private-use characters, line and paragraph separators,
 * `Default_Ignorable_Code_Point`, the empty Braille pattern and the object replacement character.
 */
const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc]/u;

/** Combining marks on one letter; more would be drawn over other lines. */
const MAX_COMBINING_MARKS = 4;

/** Splits a text into visible text and invisible characters. Nothing is omitted. */
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

/** As `visiblePieces`, for text shown without quotes: spaces at its ends count as invisible too. */
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

/** As `visiblePieces`, in one line for terminals, with `‹U+202E›` in place of an invisible character. */
export function visibleLine(text: string): string {
  return visiblePieces(text)
    .map((piece) => ("text" in piece ? piece.text : `‹${piece.hidden}›`))
    .join("");
}

/** Joiners and variation selectors within an emoji sequence are visible by their effect. */
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
