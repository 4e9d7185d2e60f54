import type { DisplayedPicture } from "#server/preview/displayed-picture";
import type { PageLanguage } from "#words/language-tags";

/** What pictures are displayed with. */
export interface Drawn {
  language: PageLanguage;
  direction: "ltr" | "rtl";
  /** The style sheet of the theme in the shown colour scheme. */
  style: string;
  /** A `data:` address. */
  logo: string | null;
  /** Settings that are tried and change what is drawn. */
  texts?: Record<string, unknown> | undefined;
}

export const displayedOf = (
  { language, direction, style, logo }: Drawn,
  markup: string,
  { still }: { still: boolean },
): DisplayedPicture => ({ markup, style, language, direction, logo, still });
