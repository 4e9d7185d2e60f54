import type { Config } from "../config/schema.ts";
import type { Client } from "../context/client.ts";
import type { TenantContext } from "../context/context.ts";
import type { MailJob } from "./mail-job.ts";
import type { ImpersonationDetails, MessageOf, SecurityMail, SignInDetails } from "./messages.ts";

/** Changes that the account owner is notified of. */
export type NoticeKind = SecurityMail["type"];

/** What the notice of a kind tells, beside its kind. */
type NoticeDetails<Kind extends NoticeKind> =
  Kind extends MessageOf<"address_change">
    ? [details: Pick<Extract<SecurityMail, { address: string }>, "address" | "previous">]
    : Kind extends MessageOf<"sign_in">
      ? [details: SignInDetails]
      : Kind extends MessageOf<"impersonation">
        ? [details: ImpersonationDetails]
        : [details?: Pick<Extract<SecurityMail, { factor?: unknown }>, "factor">];

/** The tenant, and the language of the account owner. */
interface NoticeContext extends Pick<TenantContext<unknown>, "tenant"> {
  client: Pick<Client, "language">;
}

/** The setting that enables each kind of a change. Removal and use share the setting of their kind of credential. */
const settingByKind: Record<
  Exclude<NoticeKind, "impersonation">,
  keyof Config["security_notifications"]["notifications"]
> = {
  email_create: "email_create",
  email_delete: "email_delete",
  primary_email_update: "primary_email_update",
  phone_create: "email_create",
  phone_delete: "email_delete",
  password_update: "password_update",
  password_delete: "password_update",
  passkey_create: "passkey_create",
  passkey_delete: "passkey_create",
  identity_create: "passkey_create",
  recovery_code_use: "mfa_delete",
  mfa_create: "mfa_create",
  mfa_delete: "mfa_delete",
  account_delete: "account_delete",
  new_browser: "new_browser",
};

/**
 * Creates the mail that notifies the account owner of a change, so that they notice a change by an attacker (OWASP ASVS
 * 5.0, 6.3.7). It commits with the change.
 *
 * @param to canonical primary address before the change, so that an attacker cannot divert the notice; null if the
 *   account has no address
 * @param details `address`: the address that was added, removed or made primary; `previous`: the primary one before;
 *   `factor`: the second factor; of a sign-in, when, where and with which browser
 * @returns an empty list if the kind is disabled or the account has no address
 */
export function securityNotice<Kind extends NoticeKind>(
  { tenant, client }: NoticeContext,
  kind: Kind,
  to: string | null,
  ...[details = {}]: NoticeDetails<Kind>
): MailJob[] {
  if (to === null || !isEnabled(tenant.config, kind)) return [];
  const mail = { type: kind, ...details } as SecurityMail;
  return [{ name: "send_mail", tenantId: tenant.id, to, language: client.language ?? "en", mail }];
}

/** Whether owners are told of a kind. What operators do is told by a setting of the server. */
function isEnabled(
  { security_notifications, console: { impersonation } }: Config,
  kind: NoticeKind,
): boolean {
  return kind === "impersonation"
    ? impersonation.notify
    : security_notifications.notifications[settingByKind[kind]].enabled;
}
