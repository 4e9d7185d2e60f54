import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login:
    "Use {code} para entrar em {service}. Vale por {minutes, plural, one {# minuto} other {# minutos}}. Nunca passe a terceiros.",
  sms_second_factor:
    "Use {code} na segunda etapa para entrar em {service}. Vale por {minutes, plural, one {# minuto} other {# minutos}}. Nunca passe a terceiros.",
  phone_verification:
    "Use {code} para confirmar este telefone em {service}. Vale por {minutes, plural, one {# minuto} other {# minutos}}. Nunca passe a terceiros.",
};
