import { onceFor } from "../lib/once-for.ts";
import { StepBudget } from "../lib/step-budget.ts";
import { MAX_ENTRIES, MAX_MATCHING_STEPS, matchesPattern, subjectOf } from "../lib/wildcard-pattern.ts";
import { parseAddressPattern } from "./address-pattern.ts";

/** Redirect URLs requested by clients. */

export const MAX_REDIRECT_LENGTH = 2048;

/**
 * Parses an absolute http(s) URL that all parsers interpret in the same way: no credentials, no fragment, no characters
 * that parsers drop or convert.
 *
 * @returns null for any other text, or one of more than 2048 characters
 */
export function parseRedirectTarget(text: string): URL | null {
  if (text.length > MAX_REDIRECT_LENGTH || /[\s\\#]/.test(text) || hasControls(text) || !URL.canParse(text))
    return null;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  return url.username === "" && url.password === "" ? url : null;
}

function hasControls(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}

/** The entries of a list, parsed once: lists of the configuration stay the same objects. Those without `*` are exact. */
const parsedList = onceFor((entries: readonly string[]) => {
  const [patterns, exact] = [true, false].map((is) => entries.filter((entry) => entry.includes("*") === is));
  return {
    exact: new Set(exact?.flatMap((entry) => (URL.canParse(entry) ? [new URL(entry).href] : []))),
    patterns: (patterns ?? []).slice(0, MAX_ENTRIES).flatMap((entry) => parseAddressPattern(entry) ?? []),
  };
});

/**
 * Whether a URL is on a list of the configuration. An entry without `*` must be equal; others are patterns
 * (`address-pattern.ts`).
 *
 * @param budget steps of matching patterns; a used-up budget ends the list
 */
export function isAllowedRedirect(
  target: URL,
  allowed: readonly string[],
  budget: StepBudget = new StepBudget(MAX_MATCHING_STEPS),
): boolean {
  const { exact, patterns } = parsedList(allowed);
  if (exact.has(target.href)) return true;
  // Proxies may decode an encoded slash.
  if (patterns.length === 0 || /%2f|%5c/i.test(target.pathname)) return false;
  const text = subjectOf(target.origin + target.pathname + target.search);
  return patterns.some((pattern) => {
    if ("origin" in pattern) return pattern.origin === target.origin;
    return !budget.isUsedUp && matchesPattern(pattern.text, text, budget);
  });
}
