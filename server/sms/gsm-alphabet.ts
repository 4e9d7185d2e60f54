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

/**
 * Brings a text into the alphabet where only marks are lost: `ç` becomes `c`, a curved apostrophe a straight one. What
 * is of another script stays.
 */
export function gsmText(text: string): string {
  return [...text.normalize("NFC")].map(gsmCharacter).join("");
}

const typographic: Record<string, string> = { "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-" };

function gsmCharacter(character: string): string {
  if (gsmLength(character) !== null) return character;
  const plain = typographic[character] ?? character.normalize("NFKD").replace(/\p{M}/gu, "");
  return gsmLength(plain) === null ? character : plain;
}
