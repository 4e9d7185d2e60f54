import type { SmsJob, SmsPurpose } from "../../sms/sms-job.ts";
import { smsCharges } from "../../sms/sms-limits.ts";
import { newPasscode } from "../passcode/new-passcode.ts";
import type { PasscodeChannel } from "../passcode/passcode-channel.ts";

/** Codes that are sent by SMS. */
export const bySms: PasscodeChannel<SmsPurpose, SmsJob> = {
  name: "sms",
  method: "sms",
  proofs: { sms_login: "first_factor", sms_second_factor: "second_factor", phone_verification: "recipient" },
  limitScope: "sms/",
  ttlSeconds: ({ phone }) => phone.code_ttl,
  newCode: (platform) => newPasscode(platform, "numeric"),
  link: () => null,
  charges: (number, { identifier, source, purpose, isReserved }) =>
    smsCharges({
      number,
      identifier,
      source,
      apart: isReserved ? "reserve" : purpose === "sms_second_factor" ? "second factor" : undefined,
    }),
  job(
    { tenant, client, hasStoredWebhooks },
    { recipient, identifier, decoy, purpose },
    { code, ttlSeconds, isWithheld },
  ) {
    const to = isWithheld || decoy ? null : recipient;
    const reason = isWithheld ? "limit_reached" : decoy ? "no_account" : "no_address";
    return {
      name: "send_sms",
      tenantId: tenant.id,
      to,
      language: client.language ?? "en",
      sms: { type: purpose, code, ttlSeconds, host: pageHost(client.origin) },
      ...(to === null ? { withheld: { reason, identifier: recipient ?? identifier } } : {}),
      withoutWebhooks: hasStoredWebhooks === false,
    };
  },
};

/** The host of the page that has the field for the code. Origins that are not allowed do not get here. */
function pageHost(origin: string | null): string | null {
  const url = origin === null ? null : URL.parse(origin);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url.hostname : null;
}
