import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login:
    "{code} ist Ihr Anmeldecode für {service}, {minutes, plural, one {# Minute} other {# Minuten}} gültig. Geben Sie ihn nicht weiter.",
  sms_second_factor:
    "{code} ist Ihr Code für den zweiten Schritt bei {service}, {minutes, plural, one {# Minute} other {# Minuten}} gültig. Geben Sie ihn nicht weiter.",
  phone_verification:
    "{code} ist Ihr Code für diese Nummer bei {service}, {minutes, plural, one {# Minute} other {# Minuten}} gültig. Geben Sie ihn nicht weiter.",
};
