import { resealSecrets } from "../admin/reseal-job.ts";
import { messageRecords } from "../audit/message-records.ts";
import { pushAuthenticatorRequest } from "../authenticator/push.ts";
import { messageEvents } from "../events/message-events.ts";
import type { JobKinds } from "../jobs/jobs.ts";
import { sendMail } from "../mail/send-mail.ts";
import { createTenantMail } from "../mail/tenant-mail.ts";
import type { ChannelName } from "../messages/channels.ts";
import { countedRecords } from "../messages/counted-records.ts";
import { importUploaded } from "../moving/import-job.ts";
import type { Job, Runtime } from "../runtime.ts";
import { sendSms } from "../sms/send-sms.ts";
import type { Tenants } from "../tenants/tenants.ts";

/**
 * Creates the kind of every job.
 *
 * @returns `kinds`, and `close`, which closes the connections to mail servers; call it after the last job has ended
 * @throws ConfigError if the address of the mail server is invalid
 */
export function createJobKinds(
  options: Pick<
    Runtime,
    "tenant" | "database" | "vault" | "platform" | "auditOutput" | "rates" | "counters" | "log"
  > & {
    tenants: Pick<Tenants, "byId">;
    webhooks: Pick<Runtime["webhooks"], "wake">;
  },
): { kinds: JobKinds<Job>; close(): void } {
  const { tenant, database, log } = options;
  const mail = createTenantMail(tenant, database);
  const sendingOf = <Name extends ChannelName>(channel: Name) => ({
    ...options,
    publish: messageEvents(options, channel),
    records: countedRecords(options, channel, messageRecords(options, channel, log)),
  });
  const mails = sendMail({ ...sendingOf("mail"), mail });
  return {
    kinds: {
      send_mail: mails,
      send_newer_mail: mails,
      send_sms: sendSms(sendingOf("sms")),
      push_authenticator_request: pushAuthenticatorRequest(options),
      import_users: importUploaded(options),
      reseal_secrets: resealSecrets(options),
    },
    close: () => mail.close(),
  };
}
