import type { Language } from "#words/language-tags";
import type { OwnWords } from "#words/own-texts";
import { wordsOf } from "#words/words-of";
import { oneLine } from "../mail/one-line.ts";
import { translatorOf } from "../messages/compiled-texts.ts";
import { gsmText } from "./gsm-alphabet.ts";
import type { SmsContent } from "./sms-job.ts";

/** Characters of the name of the service in an SMS: with our texts and a host of 32 characters, they fit into one. */
const MAX_NAME_CHARACTERS = 20;

/**
 * Writes an SMS. Its last line is for browsers, which offer the code to the page of that host alone (WICG,
 * Origin-bound one-time codes delivered via SMS, 3).
 *
 * @param service name of the service; cut, and without line breaks, controls and marks that its letters can do without
 * @param words texts in place of ours
 */
export function writeSms(
  { type, code, ttlSeconds, host }: SmsContent,
  language: Language,
  { service, words = {} }: { service: string; words?: OwnWords },
): string {
  const translate = translatorOf(language, wordsOf(language, words).sms);
  // Rounded down: an SMS must not promise more than the code's lifetime.
  const minutes = Math.max(1, Math.floor(ttlSeconds / 60));
  const text = translate(type, { service: shortName(service), code, minutes });
  return host === null ? text : `${text}\n@${host} #${code}`;
}

function shortName(service: string): string {
  const name = [...gsmText(oneLine(service))];
  if (name.length <= MAX_NAME_CHARACTERS) return name.join("");
  return `${name
    .slice(0, MAX_NAME_CHARACTERS - 3)
    .join("")
    .trimEnd()}...`;
}
