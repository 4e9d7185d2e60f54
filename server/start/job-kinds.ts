import type { Logger } from "pino";
import type { Database } from "#db/client";
import { mailRecords, smsRecords } from "../audit/message-records.ts";
import { pushAuthenticatorRequest } from "../authenticator/push.ts";
import type { Tenant } from "../config/tenant.ts";
import { mailEvents, smsEvents } from "../events/message-events.ts";
import type { JobKinds } from "../jobs/jobs.ts";
import type { Vault } from "../keys/vault.ts";
import type { Platform } from "../lib/platform.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { sendMail } from "../mail/send-mail.ts";
import { createTenantMail } from "../mail/tenant-mail.ts";
import type { Job, Runtime } from "../runtime.ts";
import { sendSms } from "../sms/send-sms.ts";
import type { Tenants } from "../tenants/tenants.ts";

/**
 * Creates the kind of every job.
 *
 * @returns `kinds`, and `close`, which closes the connections to mail servers; call it after the last job has ended
 * @throws ConfigError if the address of the mail server is invalid
 */
export function createJobKinds(options: {
  tenant: Tenant;
  tenants: Pick<Tenants, "byId">;
  database: Database;
  vault: Vault;
  platform: Platform;
  auditOutput: Runtime["auditOutput"];
  webhooks: Pick<Runtime["webhooks"], "wake">;
  rates: RateLimits;
  log: Logger;
}): { kinds: JobKinds<Job>; close(): void } {
  const { tenant, tenants, database, vault, rates, log } = options;
  const mail = createTenantMail(tenant, database);
  const sending = sendMail({
    tenants,
    vault,
    mail,
    rates,
    publish: mailEvents(options),
    records: mailRecords(options, log),
    database,
    log,
  });
  return {
    kinds: {
      send_mail: sending,
      send_newer_mail: sending,
      send_sms: sendSms({
        tenants,
        vault,
        publish: smsEvents(options),
        records: smsRecords(options, log),
        database,
      }),
      push_authenticator_request: pushAuthenticatorRequest({ tenants, vault }),
    },
    close: () => mail.close(),
  };
}
