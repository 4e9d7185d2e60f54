import type { Databases } from "#db/client";
import type { Sealing } from "../keys/vault.ts";
import type { PublishMail } from "../mail/mail-outcome.ts";
import { type EventContext, emitMail } from "./emit.ts";
import { mailEventData } from "./mail-event.ts";
import { hasSubscriber, subscribedConfigWebhooks } from "./subscriptions.ts";

/**
 * Returns the function that emits `email.send`, in a transaction of its own: the mail was committed with the change that
 * caused it, and is repeated until this has succeeded.
 */
export function mailEvents(runtime: EventContext["runtime"] & Databases & Sealing): PublishMail {
  const { database } = runtime;
  return async (tenant, id, mail, { withoutWebhooks }) => {
    const subscribed = withoutWebhooks
      ? subscribedConfigWebhooks(tenant, "email.send").length > 0
      : await hasSubscriber(database.read, tenant, "email.send");
    if (!subscribed) return false;
    await database.write.transaction(emitMail({ runtime, tenant }, id, mailEventData(mail())));
    return true;
  };
}
