import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login:
    "{code} আপনার {service} সাইন ইন কোড, {minutes, plural, one {# মিনিট} other {# মিনিট}} কার্যকর। কাউকে জানাবেন না।",
  sms_second_factor:
    "{code} আপনার {service} দ্বিতীয় ধাপের কোড, {minutes, plural, one {# মিনিট} other {# মিনিট}} কার্যকর। কাউকে জানাবেন না।",
  phone_verification:
    "{code} আপনার {service} নিশ্চিতকরণ কোড, {minutes, plural, one {# মিনিট} other {# মিনিট}} কার্যকর। কাউকে জানাবেন না।",
};
