import type { Config } from "../config/schema.ts";
import type { SecurityMail } from "../mail/messages.ts";
import type { Job, RequestContext } from "../runtime.ts";

/** What the owner of an account is told of. */
export type NoticeKind = SecurityMail["type"];

type AddressKind = Extract<SecurityMail, { address: string }>["type"];

/** The setting that governs each kind: what is told when it is set up is told when it is removed or used up. */
const switches: Record<NoticeKind, keyof Config["security_notifications"]["notifications"]> = {
  email_create: "email_create",
  email_delete: "email_delete",
  primary_email_update: "primary_email_update",
  password_update: "password_update",
  password_delete: "password_update",
  passkey_create: "passkey_create",
  passkey_delete: "passkey_create",
  identity_create: "passkey_create",
  recovery_code_use: "mfa_delete",
  mfa_create: "mfa_create",
  mfa_delete: "mfa_delete",
};

/**
 * The mail that tells the owner of an account of a change, so that they notice one that was not theirs (OWASP ASVS
 * 5.0, 6.3.7). It commits with the change.
 *
 * @param to canonical address as it was before the change, so that whoever takes an account over cannot send the
 *   notice to themselves; null where the account has none
 * @param details `address`: the one that was added, removed or made the primary one; `factor`: which second factor
 * @returns no job where the kind is switched off or there is nobody to write to
 */
export function securityNotice(
  context: Pick<RequestContext, "tenant" | "client">,
  kind: AddressKind,
  to: string | null,
  details: { address: string },
): Job[];
export function securityNotice(
  context: Pick<RequestContext, "tenant" | "client">,
  kind: Exclude<NoticeKind, AddressKind>,
  to: string | null,
  details?: Pick<Extract<SecurityMail, { factor?: unknown }>, "factor">,
): Job[];
export function securityNotice(
  { tenant, client }: Pick<RequestContext, "tenant" | "client">,
  kind: NoticeKind,
  to: string | null,
  details: object = {},
): Job[] {
  if (to === null || !tenant.config.security_notifications.notifications[switches[kind]].enabled) return [];
  const mail = { type: kind, ...details } as SecurityMail;
  return [{ name: "send_mail", tenantId: tenant.id, to, language: client.language, mail }];
}
