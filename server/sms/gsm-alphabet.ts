/**
 * The GSM 7-bit default alphabet (3GPP TS 23.038, 6.2.1): an SMS of 160 characters. One character outside makes the whole
 * SMS one of UCS-2, which has 70.
 */
const alphabet = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);

/** Its extension table (6.2.1.1): each of these takes the place of two characters. */
const extension = new Set("\f^{}\\[~]|€");

/** Returns how many of the 160 characters a text takes; null if it has one outside of the alphabet. */
export function gsmLength(text: string): number | null {
  let length = 0;
  for (const character of text) {
    if (!alphabet.has(character) && !extension.has(character)) return null;
    length += extension.has(character) ? 2 : 1;
  }
  return length;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Brings a text into the alphabet where only marks are lost: `ç` becomes `c`, a curved apostrophe a straight one. A letter
 * of another script stays, with its marks.
 */
export function gsmText(text: string): string {
  return [...graphemes.segment(text.normalize("NFC"))].map(({ segment }) => gsmLetter(segment)).join("");
}

const typographic: Record<string, string> = { "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-" };

function gsmLetter(letter: string): string {
  if (gsmLength(letter) !== null) return letter;
  const plain = typographic[letter] ?? letter.normalize("NFKD").replace(/\p{M}/gu, "");
  return plain === "" || gsmLength(plain) === null ? letter : plain;
}
