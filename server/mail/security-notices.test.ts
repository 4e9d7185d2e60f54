import { expect, it } from "vitest";
import { loadConfig } from "../config/load.ts";
import { testClient } from "../testing/runtime.ts";
import { securityNotice } from "./security-notices.ts";

const contextWith = (settings: Record<string, string> = {}) => {
  const config = loadConfig(settings, "/nowhere");
  return { tenant: { id: config.tenant.id, config }, client: { ...testClient, language: "de" as const } };
};

it("creates one mail, in the language of the client that made the change", () => {
  const context = contextWith();
  expect(securityNotice(context, "email_create", "ada@example.com", { address: "new@example.com" })).toEqual([
    {
      name: "send_mail",
      tenantId: context.tenant.id,
      to: "ada@example.com",
      language: "de",
      mail: { type: "email_create", address: "new@example.com" },
    },
  ]);
  expect(securityNotice(context, "mfa_delete", "ada@example.com", { factor: "totp" })).toMatchObject([
    { mail: { type: "mfa_delete", factor: "totp" } },
  ]);
});

it("creates no mail for an account without an address", () => {
  expect(securityNotice(contextWith(), "password_update", null)).toEqual([]);
});

it.each([
  ["password_update", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_PASSWORD_UPDATE_ENABLED"],
  ["password_delete", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_PASSWORD_UPDATE_ENABLED"],
  ["passkey_create", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_PASSKEY_CREATE_ENABLED"],
  ["passkey_delete", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_PASSKEY_CREATE_ENABLED"],
  ["identity_create", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_PASSKEY_CREATE_ENABLED"],
  ["recovery_code_use", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_MFA_DELETE_ENABLED"],
  ["mfa_create", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_MFA_CREATE_ENABLED"],
  ["mfa_delete", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_MFA_DELETE_ENABLED"],
  ["account_delete", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_ACCOUNT_DELETE_ENABLED"],
] as const)("creates no %s mail if %s is false", (kind, setting) => {
  const to = "ada@example.com";
  expect(securityNotice(contextWith(), kind, to)).toHaveLength(1);
  expect(securityNotice(contextWith({ [setting]: "false" }), kind, to)).toEqual([]);
});

it.each([
  ["email_create", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_EMAIL_CREATE_ENABLED"],
  ["email_delete", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_EMAIL_DELETE_ENABLED"],
  ["primary_email_update", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_PRIMARY_EMAIL_UPDATE_ENABLED"],
] as const)("creates no %s mail if %s is false", (kind, setting) => {
  const details = { address: "new@example.com" };
  expect(securityNotice(contextWith(), kind, "ada@example.com", details)).toHaveLength(1);
  expect(securityNotice(contextWith({ [setting]: "false" }), kind, "ada@example.com", details)).toEqual([]);
});
