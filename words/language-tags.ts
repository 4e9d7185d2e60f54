/** The languages of pages and mails, by BCP 47 tag; pages offer them in this order, which is that of their own names. */
export const languageTags = ["de", "en", "fr", "it", "nl", "pt-BR", "bn", "zh"] as const;

export type Language = (typeof languageTags)[number];

/**
 * Pseudo-languages, for tests of the layout: accented, bracketed and longer English, and English that is written from
 * right to left. Both have a region for private use (RFC 5646, 2.2.4). In development alone.
 */
export const pseudoTags = ["en-XA", "ar-XB"] as const;

/** The language of a page: one of ours, or a pseudo-language in development. */
export type PageLanguage = Language | (typeof pseudoTags)[number];

export const isPseudoTag = (tag: unknown): tag is (typeof pseudoTags)[number] =>
  (pseudoTags as readonly unknown[]).includes(tag);
