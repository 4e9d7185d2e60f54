import { isPseudoTag, type Language, languageTags, type PageLanguage } from "#words/language-tags";
import type { Config } from "../../config/schema.ts";
import { acceptedLanguageTags } from "../../lib/accept-language.ts";
import { matchLanguage } from "../../lib/match-language.ts";
import { cookieValues } from "./cookies.ts";

/** The cookie with the language that a visitor chose on a page. */
export const LANGUAGE_COOKIE = "stile-language";

/** The language tag in the query of a page's address, or null if it is absent or malformed (RFC 5646, 2.1). */
export function languageInQuery(query: URLSearchParams): string | null {
  const tag = query.get("lang");
  return tag !== null && /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/.test(tag) ? tag : null;
}

/** The language tag that a visitor chose before, from the `Cookie` header of the request. */
export function languageInCookie(cookies: string | null): string | null {
  return cookieValues(cookies, LANGUAGE_COOKIE)[0] ?? null;
}

/**
 * The language of mails by `X-Language`; null without the header. Regional variants match, so `zh-CN` is `zh` and `pt`
 * is `pt-BR`. Unknown values mean English, including `undefined`, which a published client sends if no language is set.
 */
export function requestedLanguage(header: string | null): Language | null {
  return header === null ? null : (matchLanguage([header], languageTags) ?? "en");
}

/** The language of mails that an `Accept-Language` header prefers (RFC 9110, 12.5.4); null if it names none of ours. */
export function acceptedLanguage(header: string | null): Language | null {
  return matchLanguage(acceptedLanguageTags(header), languageTags) ?? null;
}

/**
 * The language of a page: the one that the visitor chose, else the one that the browser prefers, else English. In
 * development a pseudo-language can be chosen.
 */
export function pageLanguage(
  chosen: string | null,
  acceptLanguage: string | null,
  mode: Config["mode"] = "production",
): PageLanguage {
  if (mode === "development" && isPseudoTag(chosen)) return chosen;
  return matchLanguage([chosen ?? "", ...acceptedLanguageTags(acceptLanguage)], languageTags) ?? "en";
}
