/** The languages that `X-Language` may name, by BCP 47 tag; pages offer those with words in this order. */
export const languageTags = ["en", "de", "bn", "fr", "it", "nl", "pt-BR", "zh"] as const;

export type Language = (typeof languageTags)[number];
