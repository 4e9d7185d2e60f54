import { isNotNull, sql } from "drizzle-orm";
import type { Logger } from "pino";
import { schema } from "#db/client";
import { hasSubscriber } from "../events/subscriptions.ts";
import type { Runtime } from "../runtime.ts";

/**
 * Warns of each tenant whose mails reach no one: the service does not send them, and no webhook, stored or of the
 * configuration, is subscribed to `email.send`. Looks at the default tenant and at those with a setting of their own.
 */
export async function warnOfMissingMailReceivers(
  { tenant, tenants, database }: Pick<Runtime, "tenant" | "tenants" | "database">,
  log: Pick<Logger, "warn">,
): Promise<void> {
  const deviating = await database.read
    .select({ id: schema.tenants.id })
    .from(schema.tenants)
    .where(isNotNull(sql`${schema.tenants.config} #> '{email_delivery,enabled}'`));
  for (const id of new Set([tenant.id, ...deviating.map((row) => row.id)])) {
    // Invalid settings of a tenant are reported when it is used.
    const found = await tenants.byId(id).catch(() => null);
    if (!found || found.config.email_delivery.enabled) continue;
    if (await hasSubscriber(database.read, found, "email.send")) continue;
    log.warn(
      { tenantId: id },
      "email_delivery.enabled is false and no webhook is subscribed to email.send: users receive no mail",
    );
  }
}
