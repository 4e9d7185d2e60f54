/** Languages that `X-Language` may name; a language without words falls back to English. */
export const languages = ["bn", "de", "en", "fr", "it", "nl", "pt-BR", "zh"] as const;

export type Language = (typeof languages)[number];
