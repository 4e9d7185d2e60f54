import type { Language } from "#words/language-tags";
import type { Withheld } from "../failures/messages.ts";
import type { ChannelName } from "./channels.ts";

/** What a message says. */
export interface MessageContent {
  /** What it is for, for instance `login`. */
  type: string;
}

/** The members of a content that carries a code. */
export interface CodeContent {
  code: string;
  /** Address of the page that uses the code at the press of a button, if the message has it. */
  link?: string;
  ttlSeconds: number;
}

/** A job that sends one message. Its name is a queue of the channel, and the channel's name that of its content. */
export type MessageJob<Name extends ChannelName, Queue extends string, Content extends MessageContent> = {
  name: Queue;
  tenantId: string;
  /**
   * Canonical address or number. null if there is no recipient: the job is enqueued all the same and does nothing, so that
   * its absence does not reveal that there is no account.
   */
  to: string | null;
  language: Language;
  /** Why there is no recipient, for the audit log alone; it is not stored with the job. */
  withheld?: Withheld;
  /** The tenant had no stored webhook when the message was caused, so that its first attempt need not look for one. */
  withoutWebhooks?: boolean;
} & Record<Name, Content>;

/** A message with its recipient and all that it says. */
export interface Message<Content extends MessageContent> {
  tenantId: string;
  /** Canonical address or number. */
  to: string;
  /** The language asked for. */
  language: Language;
  content: Content;
  /** Seconds since 1970 until which its code is valid; 0 if it has none. */
  validUntil: number;
}

/** A message for the webhooks that are subscribed to the event of its channel. */
export interface PublishedMessage<Content extends MessageContent, Rendered> extends Message<Content> {
  rendered: Rendered;
  /** Display name of the service. */
  service: string;
  /** Whether the service sends it too. */
  delivered: boolean;
}
