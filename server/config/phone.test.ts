import { expect, test } from "vitest";
import { uselessSettings } from "../start/useless-settings.ts";
import { ConfigError } from "./errors.ts";
import { loadConfig } from "./load.ts";

const load = (settings: Record<string, string>) => loadConfig(settings, "/nowhere");

function rejection(settings: Record<string, string>): string {
  try {
    load(settings);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error("the configuration was accepted");
}

const production = { NODE_ENV: "production", SECRET_KEYS: "x".repeat(32) };
const service = {
  STILE_SMS_DELIVERY_ACCOUNT_SID: "AC0123",
  STILE_SMS_DELIVERY_AUTH_TOKEN: "hush",
  STILE_SMS_DELIVERY_FROM: "+4915112345678",
};

test("telephone numbers are off, and no country is allowed", () => {
  const { phone, mfa, sms_delivery } = load({});
  expect(phone).toEqual({
    enabled: false,
    optional: true,
    acquire_on_registration: false,
    use_as_login_identifier: true,
    use_for_authentication: true,
    allowed_countries: [],
    code_ttl: 300,
  });
  expect(mfa.sms.enabled).toBe(false);
  expect(sms_delivery).toEqual({ enabled: true, url: "https://api.twilio.com", timeout: 10 });
});

test("production with numbers needs something that sends SMS, and says what", () => {
  const line = rejection({ ...production, STILE_PHONE_ENABLED: "true" });
  expect(line).toContain("STILE_SMS_DELIVERY_ACCOUNT_SID (sms_delivery.account_sid)");
  expect(line).toContain("STILE_SMS_DELIVERY_ENABLED (sms_delivery.enabled) to false");
  expect(load(production).phone.enabled).toBe(false);
  expect(load({ STILE_PHONE_ENABLED: "true" }).phone.enabled).toBe(true);
  const sending = { ...production, ...service, STILE_PHONE_ENABLED: "true" };
  expect(load(sending).sms_delivery.from).toBe("+4915112345678");
  const byWebhook = { ...production, STILE_PHONE_ENABLED: "true", STILE_SMS_DELIVERY_ENABLED: "false" };
  expect(load(byWebhook).sms_delivery.enabled).toBe(false);
});

test.each<[string, Record<string, string>, string]>([
  [
    "one number as both factors",
    { STILE_PHONE_ENABLED: "true", STILE_MFA_SMS_ENABLED: "true" },
    "STILE_PHONE_USE_FOR_AUTHENTICATION (phone.use_for_authentication) and STILE_MFA_SMS_ENABLED",
  ],
  ["a second factor without numbers", { STILE_MFA_SMS_ENABLED: "true" }, "needs STILE_PHONE_ENABLED"],
  [
    "SMS as the only second factor on offer",
    {
      STILE_PHONE_ENABLED: "true",
      STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
      STILE_MFA_SMS_ENABLED: "true",
      STILE_MFA_TOTP_ENABLED: "false",
      STILE_MFA_SECURITY_KEYS_ENABLED: "false",
    },
    "needs STILE_MFA_TOTP_ENABLED",
  ],
  [
    "an account without a password",
    { STILE_SMS_DELIVERY_ACCOUNT_SID: "AC0123", STILE_SMS_DELIVERY_FROM: "Stile" },
    "STILE_SMS_DELIVERY_AUTH_TOKEN (sms_delivery.auth_token) is missing",
  ],
  [
    "an account without a sender",
    { STILE_SMS_DELIVERY_ACCOUNT_SID: "AC0123", STILE_SMS_DELIVERY_AUTH_TOKEN: "hush" },
    "needs either STILE_SMS_DELIVERY_FROM",
  ],
  [
    "two senders",
    { ...service, STILE_SMS_DELIVERY_MESSAGING_SERVICE_SID: "MG0123" },
    "needs either STILE_SMS_DELIVERY_FROM",
  ],
  [
    "a service without TLS on another machine",
    { ...service, STILE_SMS_DELIVERY_URL: "http://sms.example" },
    "must begin with https://",
  ],
  [
    "a password in the address",
    { STILE_SMS_DELIVERY_URL: "https://user:hush@sms.example" },
    "STILE_SMS_DELIVERY_URL ",
  ],
  ["an address that is none", { STILE_SMS_DELIVERY_URL: "sms.example" }, "STILE_SMS_DELIVERY_URL "],
  [
    "an account that changes the path",
    { STILE_SMS_DELIVERY_ACCOUNT_SID: "../x" },
    "letters, digits, _ and -",
  ],
  ["a name of twelve letters", { STILE_SMS_DELIVERY_FROM: "Twelveletter" }, "STILE_SMS_DELIVERY_FROM "],
  ["a country in small letters", { STILE_PHONE_ALLOWED_COUNTRIES: "de" }, "two capital letters"],
  ["a country that is none", { STILE_PHONE_ALLOWED_COUNTRIES: "UK" }, "no country with telephone numbers"],
  ["a country twice", { STILE_PHONE_ALLOWED_COUNTRIES: "DE,AT,DE" }, "has a country twice"],
  ["a code that lives for an hour", { STILE_PHONE_CODE_TTL: "1h" }, "STILE_PHONE_CODE_TTL "],
])("rejects %s", (_, settings, line) => {
  expect(rejection(settings)).toContain(line);
});

test("numbers without an allowed country are a setting without effect", () => {
  const lines = (settings: Record<string, string>) => uselessSettings(load(settings)).join();
  const enabled = { STILE_PHONE_ENABLED: "true" };
  expect(lines(enabled)).toContain("STILE_PHONE_ALLOWED_COUNTRIES is empty: no telephone number is accepted");
  expect(lines({ ...enabled, STILE_PHONE_ALLOWED_COUNTRIES: "DE" })).toBe("");
  expect(lines({})).toBe("");
});

test("accepts a service on the same machine without TLS", () => {
  const { sms_delivery } = load({ ...service, STILE_SMS_DELIVERY_URL: "http://127.0.0.1:4010" });
  expect(sms_delivery.url).toBe("http://127.0.0.1:4010");
});

test("a code by SMS is a way to sign in, once a country is allowed", () => {
  const alone = {
    STILE_PASSWORD_ENABLED: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
    STILE_PHONE_ENABLED: "true",
  };
  expect(rejection(alone)).toContain("no sign-in is possible");
  expect(load({ ...alone, STILE_PHONE_ALLOWED_COUNTRIES: "DE,AT" }).phone.allowed_countries).toEqual([
    "DE",
    "AT",
  ]);
});
