import { countryOfNumber } from "../identity/phone-number.ts";
import type { Charge } from "../limits/rate-limits.ts";

/** Digits at the end of numbers that belong to one range: numbers are allotted in blocks of at least a thousand. */
const DIGITS_OF_RANGE = 3;

/**
 * The limits of one SMS, which are charged together with those of its code. They bound what strangers can make SMS cost
 * (pumping: codes are asked for that go to numbers which pay the attacker): those of a source, of a number, of a
 * thousand adjacent numbers, and of a country, which has the last word over all sources.
 *
 * @param of `number`: E.164; null if there is none to send to. `quiet`: the visitor has not entered the number, so that its limits must not show: they
 *   withhold the SMS and reject nothing
 */
export function smsCharges({
  number,
  source,
  quiet = false,
}: {
  number: string | null;
  source: string;
  quiet?: boolean;
}): Charge[] {
  const ofSource = { name: "sms_source", subject: source } as const;
  if (number === null) return [ofSource];
  const ofNumber = [
    { name: "sms_number", subject: number },
    { name: "sms_range", subject: number.slice(0, -DIGITS_OF_RANGE) },
    { name: "sms_country", subject: countryOfNumber(number) },
  ] as const;
  return [ofSource, ...ofNumber.map((charge) => ({ ...charge, quiet }))];
}
