import { createHash } from "node:crypto";
import { languageTags } from "#words/language-tags";
import { faultsOfWords, type OwnWords, textsOfFlow } from "#words/own-texts";
import { ConfigError } from "../config/errors.ts";
import type { Config } from "../config/schema.ts";
import type { ThemeFile } from "./theme-files.ts";

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

/** The own texts of a tenant, for components that load our words from elsewhere. */
export interface WordFiles {
  /** Changes with any text. */
  version: string;
  files: ReadonlyMap<WordFileName, ThemeFile>;
}

const prepared = new WeakMap<OwnWords, WordFiles>();

/** Returns the files of a tenant's own texts: those of languages that have any. Prepared once for each configuration. */
export function wordFiles(words: OwnWords): WordFiles {
  const known = prepared.get(words);
  if (known) return known;
  const files = new Map<WordFileName, ThemeFile>();
  for (const tag of languageTags) {
    const texts = textsOfFlow(words[tag] ?? {});
    if (Object.keys(texts).length > 0)
      files.set(`words-${tag}.json`, { mediaType: "application/json", content: JSON.stringify(texts) });
  }
  const hash = createHash("sha256");
  for (const [name, { content }] of files) hash.update(name).update(content);
  const made = { version: hash.digest("base64url").slice(0, 16), files };
  prepared.set(words, made);
  return made;
}

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
