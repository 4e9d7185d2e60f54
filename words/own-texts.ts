import { createTranslator } from "use-intl/core";
import { en } from "./en/index.ts";
import { type Language, languageTags } from "./language-tags.ts";
import type { LanguageWords } from "./language-words.ts";
import { MAX_TEXT_CHARACTERS, mapTexts, type OwnTexts, withTexts } from "./with-texts.ts";

/** The texts that an operator gives in place of ours, by language and path. */
export type OwnWords = Readonly<Record<string, OwnTexts>>;

/**
 * The parts that can be replaced, with what their paths begin with. The words of a terminal are not among them: it is a
 * program of its own, that may speak to another version of the service.
 */
const parts = {
  flow: "",
  confirmation: "confirmation.",
  frame: "frame.",
  mail: "mail.",
  sms: "sms.",
} as const;
const partNames = Object.keys(parts) as (keyof typeof parts)[];

/** The texts of a language that can be replaced, by path. */
export function textsByPath(words: LanguageWords): Map<string, string> {
  const texts = new Map<string, string>();
  for (const part of partNames)
    mapTexts<unknown>(
      words[part],
      (text, path) => {
        texts.set(path, text);
        return text;
      },
      parts[part],
    );
  return texts;
}

/** Our texts by path. All languages have the same paths and placeholders. */
const known = textsByPath(en);

/** Paths of all texts that can be replaced, for instance `states.login_init.title`. */
export const textPaths: readonly string[] = [...known.keys()];

/** What every message may name, whether or not our own text does: messages are ICU messages, and texts of pages are not. */
const namesOfMessages: { [prefix: string]: readonly string[] } = {
  [parts.mail]: ["service", "host"],
  [parts.sms]: ["service"],
};

/** Values of every placeholder of a message. */
const messageValues = {
  service: "Stile",
  host: "login.example.com",
  code: "048213",
  address: "ada@example.com",
  minutes: 5,
  factor: "totp",
  time: "November 24, 2026",
  browser: "Unknown",
  place: "none",
  reason: "Ticket 4711",
};

/** Controls, halves of characters, line breaks, and characters that turn the order of the text around them. */
const unfit = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** What is wrong with the texts of an operator, one line each. These texts are not used. */
export function faultsOfWords(own: OwnWords): string[] {
  return Object.entries(own).flatMap(([tag, texts]) => {
    if (!isLanguage(tag)) return [`words.${tag} is not one of the languages ${languageTags.join(", ")}`];
    return Object.entries(texts).flatMap(([path, text]) => {
      const fault = faultOfText(path, text);
      return fault === null ? [] : [`words.${tag}.${path} ${fault}`];
    });
  });
}

/**
 * Finds what is wrong with a text that is to replace one of ours.
 *
 * @returns null if it can be used; else the end of a sentence that begins with the path
 */
function faultOfText(path: string, text: string): string | null {
  const ours = known.get(path);
  if (ours === undefined) return "is not a text of pages, mails or SMS";
  if (text.trim() === "") return "must not be empty";
  if (text.length > MAX_TEXT_CHARACTERS) return `must not be longer than ${MAX_TEXT_CHARACTERS} characters`;
  if (unfit.test(text)) return "must be one line without control characters";
  const names = Object.entries(namesOfMessages).find(([prefix]) => path.startsWith(prefix))?.[1];
  const [needed, given] = [placeholders(ours), placeholders(text)];
  const missing = needed.find((name) => !given.includes(name) && !names?.includes(name));
  if (missing) return `must have the placeholder {${missing}}`;
  if (names) return faultOfMessage(text, [...new Set([...needed, ...names])]);
  const extra = given.find((name) => !needed.includes(name));
  if (extra) return `has no placeholder {${extra}}${listed(needed)}`;
  const repeated = given.find((name, at) => given.indexOf(name) < at);
  return repeated ? `must have the placeholder {${repeated}} once` : null;
}

/** Formats a text as the writer of messages does, with every value that it may use. */
function faultOfMessage(text: string, allowed: readonly string[]): string | null {
  const values = Object.fromEntries(Object.entries(messageValues).filter(([name]) => allowed.includes(name)));
  try {
    createTranslator({
      locale: "en",
      messages: { text: icuOf(text) },
      onError(error) {
        throw error;
      },
    })("text", values);
    return null;
  } catch {
    return `cannot be read as an ICU message${listed(allowed)}`;
  }
}

const placeholders = (text: string): string[] =>
  [...text.matchAll(/\{\s*(\w+)\s*[,}]/g)].map(([, name = ""]) => name);

const listed = (names: readonly string[]) =>
  names.length === 0 ? "" : `: it may use ${names.map((name) => `{${name}}`).join(", ")}`;

/** Apostrophes and angle brackets mean themselves, as everywhere else, and not quotation and tags. */
const icuOf = (text: string) => text.replaceAll("'", "''").replaceAll("<", "'<'");

/**
 * The words of a language with an operator's own texts. A text that no longer fits, because ours has changed with an
 * update, is left out.
 */
export function withOwnTexts(words: LanguageWords, given: OwnTexts): LanguageWords {
  const texts = fitting(given);
  const changed = { ...words };
  const own: Record<keyof typeof parts, OwnTexts> = {
    flow: texts,
    confirmation: texts,
    frame: texts,
    mail: mapTexts(texts, icuOf),
    sms: mapTexts(texts, icuOf),
  };
  for (const part of partNames)
    Object.assign(changed, { [part]: withTexts<unknown>(words[part], own[part], parts[part]) });
  return changed;
}

/** The texts of the flow alone, which the packages load beside their own words. */
export function textsOfFlow(given: OwnTexts): OwnTexts {
  const texts = fitting(given);
  const others = partNames.map((part) => parts[part]).filter((prefix) => prefix !== "");
  return Object.fromEntries(
    Object.entries(texts).filter(([path]) => !others.some((prefix) => path.startsWith(prefix))),
  );
}

const fitting = (texts: OwnTexts): OwnTexts =>
  Object.fromEntries(Object.entries(texts).filter(([path, text]) => faultOfText(path, text) === null));

const isLanguage = (tag: string): tag is Language => (languageTags as readonly string[]).includes(tag);
