import type { SmsWords } from "../sms.ts";

export const sms: SmsWords = {
  sms_login: "{code} 是您的 {service} 登录验证码，{minutes, plural, other {# 分钟}}内有效，请勿告诉任何人。",
  sms_second_factor:
    "{code} 是您登录 {service} 第二步的验证码，{minutes, plural, other {# 分钟}}内有效，请勿告诉任何人。",
  phone_verification:
    "{code} 是您在 {service} 确认此号码的验证码，{minutes, plural, other {# 分钟}}内有效，请勿告诉任何人。",
};
