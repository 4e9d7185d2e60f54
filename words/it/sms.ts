import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login:
    "{code} è il codice di accesso a {service}, valido {minutes, plural, one {# minuto} other {# minuti}}. Non lo comunichi a nessuno.",
  sms_second_factor:
    "{code} è il codice del secondo passaggio per {service}, valido {minutes, plural, one {# minuto} other {# minuti}}. Non lo comunichi a nessuno.",
  phone_verification:
    "{code} è il codice per questo numero su {service}, valido {minutes, plural, one {# minuto} other {# minuti}}. Non lo comunichi a nessuno.",
};
