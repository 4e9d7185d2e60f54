import type { Databases } from "#db/client";
import type { Sealing } from "../keys/vault.ts";
import type { PublishedMail } from "../mail/mail-outcome.ts";
import type { PublishMessage } from "../messages/outcome.ts";
import type { PublishedSms } from "../sms/send-sms.ts";
import { type EventContext, emitMessage } from "./emit.ts";
import type { EventData, MessageEventName } from "./events.ts";
import { mailEventData } from "./mail-event.ts";
import { smsEventData } from "./sms-event.ts";
import { hasSubscriber, subscribedConfigWebhooks } from "./subscriptions.ts";

type EventsRuntime = EventContext["runtime"] & Databases & Sealing;

/** Returns the function that emits `email.send`. */
export function mailEvents(runtime: EventsRuntime): PublishMessage<PublishedMail> {
  return messageEvents(runtime, "email.send", mailEventData);
}

/** Returns the function that emits `sms.send`. */
export function smsEvents(runtime: EventsRuntime): PublishMessage<PublishedSms> {
  return messageEvents(runtime, "sms.send", smsEventData);
}

/** Emits in a transaction of its own: the message was committed with the change that caused it, and is repeated until this has succeeded. */
function messageEvents<Name extends MessageEventName, Published>(
  runtime: EventsRuntime,
  name: Name,
  dataOf: (message: Published) => EventData<Name>,
): PublishMessage<Published> {
  const { database } = runtime;
  return async (tenant, id, message, { withoutWebhooks }) => {
    const subscribed = withoutWebhooks
      ? subscribedConfigWebhooks(tenant, name).length > 0
      : await hasSubscriber(database.read, tenant, name);
    if (!subscribed) return false;
    await database.write.transaction(emitMessage({ runtime, tenant }, name, id, dataOf(message())));
    return true;
  };
}
