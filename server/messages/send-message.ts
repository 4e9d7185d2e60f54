import type { Language } from "#words/language-tags";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { type Attempt, type JobKind, PermanentFailure } from "../jobs/job-kind.ts";
import type { ChannelName } from "./outages.ts";
import type { MessageRecords, PublishMessage, RecordedMessage } from "./outcome.ts";
import { cleanAnswer } from "./server-answer.ts";

/** What the rows of all messages have. */
export interface StoredMessage {
  tenantId: string;
  /** null if there is no recipient: the job does nothing. */
  to: string | null;
  language: Language;
  withoutWebhooks: boolean;
}

/** A message that has a recipient. */
export type Addressed<Stored extends StoredMessage> = Stored & { to: string };

/** A message that is ready to be sent. */
export interface PreparedMessage<Published> {
  /** What the event of the message tells. */
  published(): Published;
  /** Hands the message to its server. Returns the server's answer. */
  send(signal: AbortSignal): Promise<string>;
  /** What no record of the answer may hold. */
  secrets: readonly string[];
}

/** How the messages of one channel are stored and sent. */
export interface Channel<Job, Stored extends StoredMessage, Published>
  extends Pick<JobKind<Job>, "lifetimeSeconds" | "maxPauseSeconds" | "store"> {
  name: ChannelName;
  /** The event by which webhooks get messages, and whether the service sends them too. */
  event: "email.send" | "sms.send";
  delivers(config: Config): boolean;
  /** Reads the message of a stored job; undefined if it cannot be read. */
  read(stored: unknown): Stored | undefined;
  typeOf(stored: Stored): string;
  /** Whether the recipient may get the message; false ends the job. Default: it may. */
  admits?(message: Addressed<Stored>, recorded: RecordedMessage, attempt: Attempt): Promise<boolean>;
  prepare(tenant: Tenant, message: Addressed<Stored>, attempt: Attempt): PreparedMessage<Published>;
  /** Whether a failure concerns all messages of the server, and not this one alone. */
  isAboutServer(error: unknown): boolean;
}

/**
 * The job that sends one message of a channel in the name of its tenant, and emits its event: beside the message, or
 * where the service does not deliver instead of it. The limits of messages are those of their events, and a message
 * without a recipient has none, which takes the same time for the visitor.
 */
export function sendMessage<Job, Stored extends StoredMessage, Published>(
  channel: Channel<Job, Stored, Published>,
  options: {
    tenants: { byId(id: string): Promise<Tenant | null> };
    publish: PublishMessage<Published>;
    records: MessageRecords<Job>;
  },
): JobKind<Job> {
  const { name, event, delivers, read, typeOf, isAboutServer } = channel;
  const { tenants, publish, records } = options;

  return {
    // The number of connections of a mail transport.
    concurrency: 5,
    lifetimeSeconds: channel.lifetimeSeconds,
    maxPauseSeconds: channel.maxPauseSeconds,
    store: channel.store,

    describe(stored) {
      const message = read(stored);
      if (!message) return {};
      return { [name]: typeOf(message), language: message.language, tenantId: message.tenantId };
    },

    records: records.queued,

    recordsEnd(stored, end) {
      const message = read(stored);
      return message && isAddressed(message) ? records.givenUp(recordedOf(message), end) : async () => {};
    },

    recipient: (stored) => read(stored)?.to ?? undefined,

    async run(stored, attempt) {
      const { id, isFirst, signal } = attempt;
      const message = read(stored);
      if (!message) throw unreadable(name);
      if (!isAddressed(message)) return;
      const recorded = recordedOf(message);
      const tenant = await tenants.byId(message.tenantId);
      if (!tenant) throw new PermanentFailure("the tenant is gone");
      if (channel.admits && !(await channel.admits(message, recorded, attempt))) return;
      const { published, send, secrets } = channel.prepare(tenant, message, attempt);
      const delivered = delivers(tenant.config);
      const withoutWebhooks = message.withoutWebhooks && isFirst;
      const isPublished = await publish(tenant, id, published, { withoutWebhooks });
      const answered = async () => {
        if (!delivered && isPublished) return `given to the webhooks that are subscribed to ${event}`;
        try {
          // Tried again like a message that no server takes: the operator may subscribe a webhook in time.
          if (!delivered) throw noReceiver(channel);
          return cleanAnswer(await send(signal), secrets);
        } catch (error) {
          const failure = signal.aborted ? signal.reason : error;
          if (!isShutdown(failure) && isAboutServer(failure)) await records.failing(tenant, failure, attempt);
          throw error;
        }
      };
      await records.accepted(recorded, tenant, await answered(), attempt);
    },
  };

  function recordedOf(message: Addressed<Stored>): RecordedMessage {
    return { tenantId: message.tenantId, type: typeOf(message), to: message.to };
  }
}

function isAddressed<Stored extends StoredMessage>(message: Stored): message is Addressed<Stored> {
  return message.to !== null;
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
function noReceiver({ name, event }: { name: ChannelName; event: string }): Error {
  const setting = { mail: "email_delivery.enabled", sms: "sms_delivery.enabled" }[name];
  const message = `${setting} is off, and no webhook is subscribed to ${event}`;
  return Object.assign(new Error(message), { code: `NO_${name.toUpperCase()}_RECEIVER` });
}
