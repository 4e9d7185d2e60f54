import { eventually } from "../server/testing/eventually.ts";
import { type SmtpCatcher, startSmtp } from "../server/testing/smtp.ts";
import { startReceiver, type WebhookReceiver } from "../server/testing/webhook-receiver.ts";
import type { Findings } from "./drill.ts";

/**
 * Mails and events of logins. Each login of a visitor is one in a new browser, so that one mail tells the owner of it,
 * and emits the event `user.login`.
 */
export interface Messages {
  /** Settings of the server. */
  env: Record<string, string>;
  /**
   * Waits until nothing is left to send, and compares what the database has committed with what has arrived.
   *
   * @param query runs SQL on the database of the servers
   * @param succeeded logins that visitors were told of
   */
  review(query: Query, succeeded: number): Promise<Findings>;
  close(): Promise<void>;
}

type Query = (text: string) => Promise<Record<string, unknown>[]>;

export async function startMessages(): Promise<Messages> {
  const receiver = await startReceiver();
  const smtp = await startSmtp();
  const hooks = [{ callback: receiver.url, events: ["user", "session"] }];
  return {
    env: {
      SMTP_URL: smtp.url,
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks),
    },
    review: (query, succeeded) => review({ receiver, smtp }, query, succeeded),
    async close() {
      await receiver.close();
      await smtp.close();
    },
  };
}

const waiting = `
  select (select count(*) from webhook_deliveries where state = 'waiting')
    + (select count(*) from pgboss.job where name in ('send_mail', 'send_newer_mail')) as count`;

async function review(
  { receiver, smtp }: { receiver: WebhookReceiver; smtp: SmtpCatcher },
  query: Query,
  succeeded: number,
): Promise<Findings> {
  const count = async (text: string) => Number((await query(text))[0]?.count);
  await eventually(async () => {
    const left = await count(waiting);
    if (left > 0) throw new Error(`${left} messages wait`);
  });
  const committed = new Set((await query("select id from events")).map(({ id }) => String(id)));
  const delivered = receiver.received.map(({ id }) => id);
  const logins = await count("select count(*) from audit_logs where type = 'login_success'");
  const told = await count("select count(*) from events where name = 'user.login'");
  // An entry of the audit log commits with the job of its mail.
  const mails = await count("select count(*) from audit_logs where type = 'mail_queued'");
  const sent = smtp.messages.map(({ messageId = "" }) => messageId);
  const [events, ids] = [new Set(delivered), new Set(sent)];
  const lost = [...committed].filter((id) => !events.has(id)).length;
  const invented = [...events].filter((id) => !committed.has(id)).length;
  return {
    notes: [
      `events: ${committed.size} committed, ${events.size} arrived, ${delivered.length - events.size} of them twice`,
      `mails: ${mails} committed, ${ids.size} arrived, ${sent.length - ids.size} of them twice`,
    ],
    faults: [
      ...(lost > 0 ? [`${lost} events never arrived`] : []),
      ...(invented > 0 ? [`${invented} events arrived that were not committed`] : []),
      ...(ids.size === mails ? [] : [`${mails} mails were committed, and ${ids.size} arrived`]),
      ...(told === logins && mails === logins
        ? []
        : [`${logins} logins are recorded, with ${told} events and ${mails} mails`]),
      ...(logins < succeeded ? [`${succeeded} logins succeeded, and ${logins} are recorded`] : []),
    ],
  };
}
