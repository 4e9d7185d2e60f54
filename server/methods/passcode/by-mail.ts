import type { MailJob } from "../../mail/mail-job.ts";
import type { PasscodeMail } from "../../mail/messages.ts";
import { mailedLink } from "../mailed-link/mailed-link.ts";
import { newPasscode } from "./new-passcode.ts";
import type { PasscodeChannel } from "./passcode-channel.ts";

/** Codes that are mailed. */
export const byMail: PasscodeChannel<PasscodeMail, MailJob> = {
  name: "mail",
  method: "passcode",
  proofs: { login: "first_factor", recovery: "first_factor", email_verification: "recipient" },
  limitScope: "",
  ttlSeconds: ({ email }) => email.passcode_ttl,
  newCode: (platform, { email }) => newPasscode(platform, email.passcode_charset),
  link: (runtime, tenant, of) => (tenant.config.email.links ? mailedLink(runtime, tenant, of) : null),
  charges: () => [],
  job(
    { tenant, client, hasStoredWebhooks },
    { recipient, identifier, decoy, purpose, notice },
    { code, link, ttlSeconds, isWithheld },
  ) {
    const mail = decoy
      ? { type: notice ?? ("email_login_attempted" as const) }
      : { type: purpose, code, ttlSeconds, ...(link === null ? {} : { link }) };
    const isNobody = decoy && !notice;
    const to = isWithheld || isNobody ? null : recipient;
    const reason = isWithheld ? "limit_reached" : isNobody ? "no_account" : "no_address";
    return {
      name: "send_mail",
      tenantId: tenant.id,
      to,
      language: client.language ?? "en",
      mail,
      ...(to === null ? { withheld: { reason, identifier: recipient ?? identifier } } : {}),
      withoutWebhooks: hasStoredWebhooks === false,
    };
  },
};
