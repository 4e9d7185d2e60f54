import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login:
    "{code} is je inlogcode voor {service}, {minutes, plural, one {# minuut} other {# minuten}} geldig. Deel de code met niemand.",
  sms_second_factor:
    "{code} is je code voor de tweede stap bij {service}, {minutes, plural, one {# minuut} other {# minuten}} geldig. Deel de code met niemand.",
  phone_verification:
    "{code} is je code voor dit nummer bij {service}, {minutes, plural, one {# minuut} other {# minuten}} geldig. Deel de code met niemand.",
};
