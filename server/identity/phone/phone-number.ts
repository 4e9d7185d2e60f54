import { type NumberType, parsePhoneNumberFromString } from "libphonenumber-js/max";
import type { Config } from "../../config/schema.ts";
import type { ParsedIdentifier } from "../identifier.ts";

export type PhoneNumberError = "value_invalid_error" | "phone_number_not_allowed";

/** The longest text that a number may be written as, with separators. */
export const MAX_INPUT_CHARACTERS = 64;

/** A number of E.164 has at most 15 digits; an exit code, a national prefix and a few more are bounded here. */
const digitsAlone = /^\+?\d{3,24}$/;

/** What separates groups of digits in writing, and marks that come along when a number is copied. */
const separators = /[\s().\-/\u00ad\u2010-\u2015\u2212\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/g;

/** Zero of the digits of scripts whose users write numbers with them: Arabic, Persian, Devanagari and Bengali. */
const zeros = [0x0660, 0x06f0, 0x0966, 0x09e6];

/**
 * Numbers of these types are accepted. Some countries, such as the United States, do not tell fixed lines from mobile
 * ones. Personal numbers, pagers, shared cost, premium and free numbers are dear to send to or receive no SMS.
 */
const acceptedTypes: ReadonlySet<NumberType | undefined> = new Set(["MOBILE", "FIXED_LINE_OR_MOBILE"]);

/**
 * Converts a telephone number to the canonical form that is stored, compared and sent to: E.164, such as
 * `+4915112345678`. It has to be in the international form, with `+` or `00`; if exactly one country is allowed, the
 * national form of that country is read too.
 *
 * @param text as entered by the user; spaces, hyphens, dots, slashes and parentheses are left out
 * @returns the number; `value_invalid_error` if there is no such number, `phone_number_not_allowed` if it is none of a
 *   mobile line of an allowed country
 */
export function parsePhoneNumber(
  text: string,
  { phone }: Pick<Config, "phone">,
): ParsedIdentifier<PhoneNumberError> {
  const digits = plainDigits(text);
  if (digits === null) return { ok: false, reason: "value_invalid_error" };
  const [country, ...others] = phone.allowed_countries;
  const isInternational = digits.startsWith("+");
  if (!isInternational && (country === undefined || others.length > 0))
    return { ok: false, reason: "value_invalid_error" };
  const parsed = parsePhoneNumberFromString(digits, {
    extract: false,
    ...(isInternational || country === undefined ? {} : { defaultCountry: country }),
  });
  if (parsed?.isNonGeographic()) return { ok: false, reason: "phone_number_not_allowed" };
  if (!parsed?.isValid()) return { ok: false, reason: "value_invalid_error" };
  const isAllowed = parsed.country !== undefined && phone.allowed_countries.includes(parsed.country);
  if (!isAllowed || !acceptedTypes.has(parsed.getType()))
    return { ok: false, reason: "phone_number_not_allowed" };
  return { ok: true, value: parsed.number };
}

/**
 * Returns the country of a number, ISO 3166-1 alpha-2; its calling code if the number belongs to none.
 *
 * @param number E.164
 */
export function countryOfNumber(number: string): string {
  const parsed = parsePhoneNumberFromString(number, { extract: false });
  return parsed?.country ?? `+${parsed?.countryCallingCode ?? ""}`;
}

/** Returns the digits of a text, after a `+` if the form is international; null if it holds more than a number. */
function plainDigits(text: string): string | null {
  // Bounds the work of normalization.
  if (text.length > MAX_INPUT_CHARACTERS) return null;
  const written = text
    .normalize("NFKC")
    .replace(/\p{Nd}/gu, asciiDigit)
    .replace(separators, "");
  if (!digitsAlone.test(written)) return null;
  return written.replace(/^00/, "+");
}

function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  const zero = zeros.find((each) => code >= each && code < each + 10);
  return zero === undefined ? digit : String(code - zero);
}
