import { or, sql } from "drizzle-orm";
import type { Logger } from "pino";
import { schema } from "#db/client";
import { hasSubscriber } from "../events/subscriptions.ts";
import { channelNames, channels, delivers } from "../messages/channels.ts";
import type { Runtime } from "../runtime.ts";

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
    .where(
      or(
        ...Object.values(channels).map(({ delivery }) => isSet(`{${delivery},enabled}`)),
        isSet("{phone,enabled}"),
      ),
    );
  for (const id of new Set([tenant.id, ...deviating.map((row) => row.id)])) {
    // Invalid settings of a tenant are reported when it is used.
    const found = await tenants.byId(id).catch(() => null);
    if (!found) continue;
    for (const name of channelNames) {
      const { event, delivery, called, isUsed } = channels[name];
      if (delivers(name, found.config) || !isUsed(found.config)) continue;
      if (await hasSubscriber(database.read, found, event)) continue;
      log.warn(
        { tenantId: id },
        `${delivery}.enabled is false and no webhook is subscribed to ${event}: users receive no ${called.some}`,
      );
    }
  }
}
