import { or, sql } from "drizzle-orm";
import type { Logger } from "pino";
import { schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { MessageEventName } from "../events/events.ts";
import { hasSubscriber } from "../events/subscriptions.ts";
import type { Runtime } from "../runtime.ts";

/** The messages that webhooks have to send, by the setting of a tenant. */
const channels: readonly {
  event: MessageEventName;
  isLeftToWebhooks(config: Config): boolean;
  line: string;
}[] = [
  {
    event: "email.send",
    isLeftToWebhooks: ({ email_delivery }) => !email_delivery.enabled,
    line: "email_delivery.enabled is false and no webhook is subscribed to email.send: users receive no mail",
  },
  {
    event: "sms.send",
    isLeftToWebhooks: ({ phone, sms_delivery }) => phone.enabled && !sms_delivery.enabled,
    line: "sms_delivery.enabled is false and no webhook is subscribed to sms.send: users receive no SMS",
  },
];

/**
 * Warns of each tenant whose mails or SMS reach no one: the service does not send them, and no webhook, stored or of the
 * configuration, is subscribed to their event. Looks at the default tenant and at those with a setting of their own.
 */
export async function warnOfMissingReceivers(
  { tenant, tenants, database }: Pick<Runtime, "tenant" | "tenants" | "database">,
  log: Pick<Logger, "warn">,
): Promise<void> {
  const isSet = (path: string) => sql`${schema.tenants.config} #> ${path}::text[] is not null`;
  const deviating = await database.read
    .select({ id: schema.tenants.id })
    .from(schema.tenants)
    .where(or(isSet("{email_delivery,enabled}"), isSet("{sms_delivery,enabled}"), isSet("{phone,enabled}")));
  for (const id of new Set([tenant.id, ...deviating.map((row) => row.id)])) {
    // Invalid settings of a tenant are reported when it is used.
    const found = await tenants.byId(id).catch(() => null);
    if (!found) continue;
    for (const { event, isLeftToWebhooks, line } of channels) {
      if (!isLeftToWebhooks(found.config) || (await hasSubscriber(database.read, found, event))) continue;
      log.warn({ tenantId: id }, line);
    }
  }
}
