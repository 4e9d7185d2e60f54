import { languageTags } from "#words/language-tags";
import { faultsOfWords, type OwnWords, textsOfFlow } from "#words/own-texts";
import { ConfigError } from "../config/errors.ts";
import type { Config } from "../config/schema.ts";
import { onceFor } from "../lib/once-for.ts";
import { type VersionedFiles, versioned } from "./theme-files.ts";

/**
 * Checks the texts that replace ours.
 *
 * @throws ConfigError with one line that names the first unfit text
 */
export function checkWords({ words }: Pick<Config, "words">): void {
  const [fault] = faultsOfWords(words);
  if (fault) throw new ConfigError(fault);
}

/** The file with a tenant's own texts of the flow in a language, beside those of its theme. */
export const wordFileNames = languageTags.map((tag) => `words-${tag}.json` as const);
type WordFileName = (typeof wordFileNames)[number];

/**
 * Returns the own texts of a tenant, for components that load our words from elsewhere: a file for each language that has
 * any. Prepared once for each configuration.
 */
export const wordFiles = onceFor(
  (words: OwnWords): VersionedFiles<WordFileName> =>
    versioned(
      languageTags.map((tag) => {
        const texts = textsOfFlow(words[tag] ?? {});
        const file = { mediaType: "application/json", content: JSON.stringify(texts) };
        return [`words-${tag}.json`, Object.keys(texts).length > 0 ? file : null];
      }),
    ),
);

/** The header that tells components of a tenant's own texts. */
const WORDS_HEADER = "X-Words";

/**
 * The header of flow answers by which a component knows, without a request, whether there are texts to load: their
 * version, then the languages that have any. None for a tenant without own texts.
 */
export function wordsHeader({ words }: Pick<Config, "words">): Record<string, string> {
  const { version, files } = wordFiles(words);
  if (files.size === 0) return {};
  const tags = languageTags.filter((tag) => files.has(`words-${tag}.json`));
  return { [WORDS_HEADER]: [version, ...tags].join(" ") };
}
