import type { Databases } from "#db/client";
import type { Sealing } from "../keys/vault.ts";
import { type ChannelName, channels } from "../messages/channels.ts";
import type { PublishMessage } from "../messages/outcome.ts";
import { type EventContext, emitMessage } from "./emit.ts";
import type { EventData } from "./events.ts";
import { mailEventData, type PublishedMail } from "./mail-event.ts";
import { type PublishedSms, smsEventData } from "./sms-event.ts";
import { hasSubscriber, subscribedConfigWebhooks } from "./subscriptions.ts";

interface Published {
  mail: PublishedMail;
  sms: PublishedSms;
}

type EventOf<Name extends ChannelName> = (typeof channels)[Name]["event"];

/** Describes a message as the data of the event of its channel. */
const dataOf: { [Name in ChannelName]: (message: Published[Name]) => EventData<EventOf<Name>> } = {
  mail: mailEventData,
  sms: smsEventData,
};

/**
 * Returns the function that emits the event of a channel, in a transaction of its own: the message was committed with the
 * change that caused it, and is repeated until this has succeeded.
 */
export function messageEvents<Name extends ChannelName>(
  runtime: EventContext["runtime"] & Databases & Sealing,
  channel: Name,
): PublishMessage<Published[Name]> {
  const { database } = runtime;
  const event: EventOf<Name> = channels[channel].event;
  return async (tenant, id, message, { withoutWebhooks }) => {
    const subscribed = withoutWebhooks
      ? subscribedConfigWebhooks(tenant, event).length > 0
      : await hasSubscriber(database.read, tenant, event);
    if (!subscribed) return false;
    const data = dataOf[channel](message());
    await database.write.transaction(emitMessage({ runtime, tenant }, event, id, data));
    return true;
  };
}
