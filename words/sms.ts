import type { SmsPurpose } from "#server/sms/sms-job";

/**
 * The texts of all SMS in one language, in ICU message syntax. Every text may use {service}, the name of the service,
 * {code}, and {minutes}, for how long the code is valid.
 *
 * An SMS has 160 characters of the GSM 7-bit alphabet (3GPP TS 23.038), or 70 of any other, and each one more is paid
 * for. So languages that are written with that alphabet use none but its characters: `é`, but no `ç`, no `ó` and no
 * curved apostrophe. The line for browsers, `@host #code`, is added to each text.
 */
export type SmsWords = Record<SmsPurpose, string>;
