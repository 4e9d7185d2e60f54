import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login:
    "{code} est votre code de connexion à {service}, valable {minutes, plural, one {# minute} other {# minutes}}. Ne le communiquez à personne.",
  sms_second_factor:
    "{code} est votre code de seconde étape pour {service}, valable {minutes, plural, one {# minute} other {# minutes}}. Ne le communiquez à personne.",
  phone_verification:
    "{code} est votre code pour ce numéro sur {service}, valable {minutes, plural, one {# minute} other {# minutes}}. Ne le communiquez à personne.",
};
