import { countryOfNumber } from "../identity/phone/phone-number.ts";
import type { Charge } from "../limits/rate-limits.ts";

/** Digits at the end of numbers that belong to one range: numbers are allotted in blocks of at least a thousand. */
const DIGITS_OF_RANGE = 3;

/**
 * The limits of one SMS, which are charged together with those of its code. They bound what strangers can make SMS cost
 * (pumping: codes are asked for that go to numbers which pay the attacker): those of a source, of a number, of a
 * thousand adjacent numbers, and of a country, which has the last word over all sources. Those of the number are quiet:
 * they withhold the SMS and reject nothing, because an error would tell whose number it is.
 *
 * @param of `number`: E.164; null if nothing is sent, which is charged as much. `identifier`: as the visitor entered it.
 *   `apart`: the SMS has limits of its own, which strangers cannot use up: it follows a first factor, or is one of the
 *   reserve
 */
export function smsCharges({
  number,
  identifier,
  source,
  apart,
}: {
  number: string | null;
  identifier: string;
  source: string;
  apart?: "second factor" | "reserve" | undefined;
}): Charge[] {
  const named = number ?? identifier;
  const scope = apart ? `${apart}/` : "";
  return [
    { name: "sms_source", subject: source },
    { name: "sms_number", subject: scope + named, quiet: true },
    { name: "sms_range", subject: scope + named.slice(0, -DIGITS_OF_RANGE), quiet: true },
    {
      name: "sms_country",
      subject: scope + (number === null ? named : countryOfNumber(number)),
      quiet: true,
    },
  ];
}
