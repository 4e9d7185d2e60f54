/** Characters of one text. The longest of ours has 253. */
export const MAX_TEXT_CHARACTERS = 500;

/** Texts that replace ours, by path. */
export type OwnTexts = Readonly<Record<string, string>>;

/** Members of words that name a flow or a page, and are no texts. */
const references = new Set(["flow", "nextPage"]);

/**
 * Copies words, and passes each text through a function. Members that are no texts stay.
 *
 * @param at path of the words, with a full stop at its end; empty for the root
 */
export function mapTexts<Words>(
  words: Words,
  change: (text: string, path: string) => string,
  at = "",
): Words {
  const entries = Object.entries(words as object).map(([name, child]) => {
    const path = at + name;
    if (typeof child === "string") return [name, references.has(name) ? child : change(child, path)];
    return [name, typeof child === "object" ? mapTexts(child, change, `${path}.`) : child];
  });
  return Object.fromEntries(entries) as Words;
}

/** Words with some texts replaced. A path that they do not have is ignored. */
export function withTexts<Words>(words: Words, texts: OwnTexts, at = ""): Words {
  return mapTexts(words, (text, path) => (Object.hasOwn(texts, path) ? (texts[path] ?? text) : text), at);
}
