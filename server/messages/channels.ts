import { mailOutages, smsOutages } from "#db/schema/records";
import type { emittedEventNames } from "../config/event-names.ts";
import type { Config } from "../config/schema.ts";

/** What differs between the ways by which messages reach their recipients, beside how they are written and sent. */
interface ChannelFacts {
  /** The event by which webhooks get messages. */
  event: (typeof emittedEventNames)[number];
  /** The section of the settings by which the service sends messages itself. */
  delivery: "email_delivery" | "sms_delivery";
  /** Messages in lines of the log: one, several, and after "no". */
  called: { one: string; many: string; some: string };
  /** The servers that take no messages now. */
  outages: typeof mailOutages | typeof smsOutages;
  /** Names the server that the settings have; undefined if they have none. */
  server(config: Config): string | undefined;
  /** Whether any message is sent. */
  isUsed(config: Config): boolean;
}

/** The channels. Each has a room of its own, which writes and sends its messages. */
export const channels = {
  mail: {
    event: "email.send",
    delivery: "email_delivery",
    called: { one: "a mail", many: "mails", some: "mail" },
    outages: mailOutages,
    server: ({ smtp_url }) => smtp_url,
    isUsed: () => true,
  },
  sms: {
    event: "sms.send",
    delivery: "sms_delivery",
    called: { one: "an SMS", many: "SMS", some: "SMS" },
    outages: smsOutages,
    server: ({ sms_delivery: { url, account_sid } }) => account_sid && `${url} ${account_sid}`,
    isUsed: ({ phone }) => phone.enabled,
  },
} as const satisfies Record<string, ChannelFacts>;

export type ChannelName = keyof typeof channels;

export const channelNames = Object.keys(channels) as ChannelName[];

/** Whether the service sends the messages of a channel itself. If not, webhooks have to. */
export function delivers(channel: ChannelName, config: Config): boolean {
  return config[channels[channel].delivery].enabled;
}
