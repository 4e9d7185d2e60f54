import { SpanKind } from "@opentelemetry/api";
import { z } from "zod";
import { languageTags } from "#words/language-tags";
import type { Tenant } from "../config/tenant.ts";
import { type Attempt, type JobKind, PermanentFailure } from "../jobs/job-kind.ts";
import type { Vault } from "../keys/vault.ts";
import { spanning } from "../observability/spans.ts";
import { type ChannelName, channels, delivers } from "./channels.ts";
import type { Message, MessageContent, MessageJob, PublishedMessage } from "./message.ts";
import type { MessageRecords, PublishMessage, RecordedMessage } from "./outcome.ts";
import { cleanAnswer } from "./server-answer.ts";
import { contentSeals, type StoredContent } from "./stored-content.ts";

/** How the messages of one channel are written and sent. */
export interface Channel<Name extends ChannelName, Content extends MessageContent, Rendered> {
  name: Name;
  /** Seals of codes are bound to it: a queue of the channel. */
  queue: string;
  /** Messages that one process sends concurrently. */
  concurrency: number;
  /** Reads the content of a stored job. */
  stored: z.ZodType<StoredContent<Content>>;
  /** Whether the recipient may get the message; false ends the job. Default: it may. */
  admits?(message: RecordedMessage, attempt: Attempt): Promise<boolean>;
  render(tenant: Tenant, message: Message<Content>): Rendered;
  /** Hands the message to its server. Returns the server's answer. */
  send(tenant: Tenant, rendered: Rendered, message: Message<Content>, attempt: Attempt): Promise<string>;
  /** What no record of the answer may hold, beside code and link. Default: nothing. */
  secretsOf?(message: Message<Content>): string[];
  /** Whether a failure concerns all messages of the server, and not this one alone. */
  isAboutServer(error: unknown): boolean;
}

/** What messages are sent with, whatever their channel. */
export interface SendingOptions<Name extends ChannelName, Content extends MessageContent, Rendered> {
  tenants: { byId(id: string): Promise<Tenant | null> };
  vault: Vault;
  publish: PublishMessage<PublishedMessage<Content, Rendered>>;
  records: MessageRecords<Name>;
}

/** What the rows of all messages have, beside their content. */
const envelope = z.object({
  tenantId: z.uuid(),
  to: z.string().nullable(),
  language: z.enum(languageTags).catch("en"),
  withoutWebhooks: z.boolean().default(false),
});

/** The lifetime of a message without a code. */
const NOTICE_LIFETIME_SECONDS = 86_400;

/**
 * The job that sends one message of a channel in the name of its tenant, and emits its event: beside the message, or
 * where the service does not deliver instead of it. The limits of messages are those of their events, and a message
 * without a recipient has none, which takes the same time for the visitor.
 */
export function sendMessage<Name extends ChannelName, Content extends MessageContent, Rendered>(
  channel: Channel<Name, Content, Rendered>,
  { tenants, vault, publish, records }: SendingOptions<Name, Content, Rendered>,
): JobKind<MessageJob<Name, string, Content>> {
  const { name, isAboutServer } = channel;
  const { event } = channels[name];
  const seals = contentSeals<Content>(vault, channel.queue);

  function read(row: unknown) {
    const message = envelope.safeParse(row).data;
    const content = channel.stored.safeParse((Object(row) as Record<string, unknown>)[name]).data;
    return message && content && { ...message, content };
  }

  /** Makes what the records and the sending of a message take; null if it has no recipient. */
  function addressed({
    to,
    tenantId,
    content,
  }: NonNullable<ReturnType<typeof read>>): RecordedMessage | null {
    return to === null ? null : { to, tenantId, type: content.type };
  }

  return {
    concurrency: channel.concurrency,
    lifetimeSeconds: ({ [name]: content }) => codeLifetime(content) ?? NOTICE_LIFETIME_SECONDS,
    maxPauseSeconds: ({ [name]: content }) => (codeLifetime(content) === undefined ? 300 : 30),

    store({ tenantId, to, language, withoutWebhooks = false, [name]: content }, id) {
      return { tenantId, to, language, withoutWebhooks, [name]: seals.seal(content, tenantId, id) };
    },

    describe(row) {
      const message = read(row);
      if (!message) return {};
      return { [name]: message.content.type, language: message.language, tenantId: message.tenantId };
    },

    records: records.queued,

    recordsEnd(row, end) {
      const message = read(row);
      const recorded = message && addressed(message);
      return recorded ? records.givenUp(recorded, end) : async () => {};
    },

    recipient: (row) => read(row)?.to ?? undefined,

    async run(row, attempt) {
      const { id, isFirst, signal } = attempt;
      const stored = read(row);
      if (!stored) throw unreadable(name);
      const recorded = addressed(stored);
      if (!recorded) return [];
      const { tenantId, to } = recorded;
      const tenant = await tenants.byId(tenantId);
      if (!tenant) throw new PermanentFailure("the tenant is gone");
      if (channel.admits && !(await channel.admits(recorded, attempt)))
        return [records.tooMany(recorded, attempt)];
      const content = seals.unseal(stored.content, tenantId, id);
      const validUntil = "validUntil" in stored.content ? Number(stored.content.validUntil) : 0;
      const message = { tenantId, to, language: stored.language, content, validUntil };
      const rendered = channel.render(tenant, message);
      const delivered = delivers(name, tenant.config);
      const service = tenant.config.service.name;
      const published = () => ({ ...message, rendered, service, delivered });
      const withoutWebhooks = stored.withoutWebhooks && isFirst;
      const isPublished = await publish(tenant, id, published, { withoutWebhooks });
      const secrets = [...codesOf(content), ...(channel.secretsOf?.(message) ?? [])];
      const answered = async () => {
        if (!delivered && isPublished) return `given to the webhooks that are subscribed to ${event}`;
        try {
          // Tried again like a message that no server takes: the operator may subscribe a webhook in time.
          if (!delivered) throw noReceiver(name);
          const sent = await spanning(channel.name, SpanKind.CLIENT, {}, () =>
            channel.send(tenant, rendered, message, attempt),
          );
          return cleanAnswer(sent, secrets);
        } catch (error) {
          const failure = signal.aborted ? signal.reason : error;
          if (!isShutdown(failure) && isAboutServer(failure)) await records.failing(tenant, failure, attempt);
          throw error;
        }
      };
      return records.accepted(recorded, tenant, await answered(), attempt);
    },
  };
}

function codeLifetime(content: MessageContent): number | undefined {
  return "ttlSeconds" in content ? Number(content.ttlSeconds) : undefined;
}

/** What a server may repeat of a message. The link first: its token may contain the characters of the code. */
function codesOf(content: { link?: string; code?: string } & MessageContent): string[] {
  return [content.link, content.code].filter((text) => text !== undefined);
}

/** Whether the process ended the attempt because it stops; a timeout has another name. */
function isShutdown(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Not permanent: a later version that runs beside may have stored the message, and sends it. */
function unreadable(channel: ChannelName): Error {
  const code = `UNREADABLE_${channel.toUpperCase()}`;
  return Object.assign(new Error(`the stored ${channel} cannot be read`), { code });
}

/** With a code, so that the log states the message. */
function noReceiver(channel: ChannelName): Error {
  const { delivery, event } = channels[channel];
  const message = `${delivery}.enabled is off, and no webhook is subscribed to ${event}`;
  return Object.assign(new Error(message), { code: `NO_${channel.toUpperCase()}_RECEIVER` });
}
