import { setImmediate } from "node:timers/promises";
import { directionOf } from "#words/direction";
import type { PageLanguage } from "#words/language-tags";
import { wordsOf } from "#words/words-of";
import type { Config } from "../config/schema.ts";
import { themeCss, themeWarnings } from "../theme/theme-css.ts";
import { builtGallery, type ShownState } from "./pictures.ts";

/** Pages as a tenant's users would see them. */

/** What one colour scheme of the visitor's system leads to. */
const systemSchemes = ["light", "dark"] as const;

export interface PagePreviews {
  /** The style sheet of the theme for visitors with a light and with a dark system. */
  style: Record<(typeof systemSchemes)[number], string>;
  /** Colours with too little contrast, and those that pages use. */
  warnings: string[];
  direction: "ltr" | "rtl";
  pictures: { name: string; markup: string }[];
}

/**
 * Draws pictures of the gallery, and states that users were shown, in the theme and the words of a tenant. A logo is left to
 * the page that displays them: it would be in each of them.
 *
 * @param asked names of pictures, of which unknown ones are left out; or states
 * @throws Error if the pages are not built
 */
export async function previewPages(
  { theme, words: own, service }: Pick<Config, "theme" | "words" | "service">,
  language: PageLanguage,
  asked: readonly (string | ShownState)[],
): Promise<PagePreviews> {
  const { color_scheme: fixed } = theme;
  const [light, dark] = systemSchemes.map((system) =>
    themeCss({ ...theme, color_scheme: fixed === "auto" ? system : fixed }),
  );
  const { drawPicture, drawShownState } = await builtGallery();
  const options = { words: wordsOf(language, own), language, service: service.name };
  const pictures: PagePreviews["pictures"] = [];
  for (const picture of asked) {
    const [name, markup] =
      typeof picture === "string"
        ? [picture, drawPicture(picture, options)]
        : [picture.state, drawShownState(picture, options)];
    if (markup !== null) pictures.push({ name, markup });
    // A picture is drawn in one go, and sign-ins get their turn in between.
    await setImmediate();
  }
  return {
    style: { light: light ?? "", dark: dark ?? "" },
    warnings: themeWarnings(theme),
    direction: directionOf(language),
    pictures,
  };
}
