import { expect, it } from "vitest";
import { loadConfig } from "../config/load.ts";
import { testClient } from "../testing/runtime.ts";
import { securityNotice } from "./security-notices.ts";

const scopeWith = (settings: Record<string, string> = {}) => {
  const config = loadConfig(settings, "/nowhere");
  return { tenant: { id: config.tenant.id, config }, client: { ...testClient, language: "de" as const } };
};

it("a notice is one mail, in the language of whoever made the change", () => {
  const scope = scopeWith();
  expect(securityNotice(scope, "email_create", "ada@example.com", { address: "new@example.com" })).toEqual([
    {
      name: "send_mail",
      tenantId: scope.tenant.id,
      to: "ada@example.com",
      language: "de",
      mail: { type: "email_create", address: "new@example.com" },
    },
  ]);
  expect(securityNotice(scope, "mfa_delete", "ada@example.com", { factor: "totp" })).toMatchObject([
    { mail: { type: "mfa_delete", factor: "totp" } },
  ]);
});

it("without an address there is nobody to tell", () => {
  expect(securityNotice(scopeWith(), "password_update", null)).toEqual([]);
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
] as const)("%s can be switched off by %s alone", (kind, setting) => {
  const to = "ada@example.com";
  expect(securityNotice(scopeWith(), kind, to)).toHaveLength(1);
  expect(securityNotice(scopeWith({ [setting]: "false" }), kind, to)).toEqual([]);
});

it.each([
  ["email_create", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_EMAIL_CREATE_ENABLED"],
  ["email_delete", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_EMAIL_DELETE_ENABLED"],
  ["primary_email_update", "STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_PRIMARY_EMAIL_UPDATE_ENABLED"],
] as const)("%s can be switched off by %s alone", (kind, setting) => {
  const details = { address: "new@example.com" };
  expect(securityNotice(scopeWith(), kind, "ada@example.com", details)).toHaveLength(1);
  expect(securityNotice(scopeWith({ [setting]: "false" }), kind, "ada@example.com", details)).toEqual([]);
});
