/** The languages of pages and mails, by BCP 47 tag; pages offer them in this order, which is that of their own names. */
export const languageTags = ["de", "en", "fr", "it", "nl", "pt-BR", "bn", "zh"] as const;

export type Language = (typeof languageTags)[number];
