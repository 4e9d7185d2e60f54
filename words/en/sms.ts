import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login:
    "{code} is your {service} sign-in code, valid for {minutes, plural, one {# minute} other {# minutes}}. Do not share it.",
  sms_second_factor:
    "{code} is your {service} second-step code, valid for {minutes, plural, one {# minute} other {# minutes}}. Do not share it.",
  phone_verification:
    "{code} is your {service} code to confirm this number, valid for {minutes, plural, one {# minute} other {# minutes}}. Do not share it.",
};
