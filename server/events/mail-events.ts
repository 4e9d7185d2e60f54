import type { Tenant } from "../config/tenant.ts";
import type { Runtime } from "../runtime.ts";
import { type EventContext, emitMail } from "./emit.ts";
import type { EventData } from "./events.ts";
import { hasSubscriber, subscribedConfigWebhooks } from "./subscriptions.ts";

/**
 * Emits `email.send`, once for an id.
 *
 * @param data of the event; not called if no webhook is subscribed
 * @param options `unheard`: the tenant had no stored webhook when the mail was caused, so that none is looked for
 * @returns whether a webhook is subscribed
 */
export type MailEvents = (
  tenant: Tenant,
  id: string,
  data: () => EventData<"email.send">,
  options: { unheard: boolean },
) => Promise<boolean>;

/**
 * Returns the function that emits `email.send`, in a transaction of its own: the mail was committed with the change that
 * caused it, and is repeated until this has succeeded.
 */
export function mailEvents(
  runtime: EventContext["runtime"] & Pick<Runtime, "database" | "vault">,
): MailEvents {
  const { database } = runtime;
  return async (tenant, id, data, { unheard }) => {
    const subscribed = unheard
      ? subscribedConfigWebhooks(tenant, "email.send").length > 0
      : await hasSubscriber(database.read, tenant, "email.send");
    if (!subscribed) return false;
    await database.write.transaction(emitMail({ runtime, tenant }, id, data()));
    return true;
  };
}
