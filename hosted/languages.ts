import { directionOf } from "#words/direction";
import { languageTags } from "#words/language-tags";
import { translations } from "#words/translations";
import type { LanguagesProps } from "../components/ui/languages.tsx";
import type { PageRequest } from "./page.ts";

/**
 * Links to the same page in every language.
 *
 * @param address of the page, with the prefix of its tenant, for instance `/?flow=registration`
 */
export function languagesOf({ language, words }: PageRequest, address: string): LanguagesProps {
  const separator = address.includes("?") ? "&" : "?";
  return {
    title: words.flow.page.languages,
    current: language,
    languages: languageTags.map((tag) => ({
      tag,
      direction: directionOf(tag),
      name: translations[tag].name,
      address: `${address}${separator}lang=${tag}`,
    })),
  };
}
