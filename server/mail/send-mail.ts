import type { Logger } from "pino";
import { z } from "zod";
import type { Database } from "#db/client";
import { commit } from "#db/commit";
import { languageTags } from "#words/language-tags";
import type { Tenant } from "../config/tenant.ts";
import { type JobKind, PermanentFailure } from "../jobs/job-kind.ts";
import type { Vault } from "../keys/vault.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { MailContent, MailJob } from "./mail-job.ts";
import type { MailRecords, PublishedMail, PublishMail } from "./mail-outcome.ts";
import { mailFactors, messagesOf } from "./messages.ts";
import { cleanAnswer } from "./server-answer.ts";
import type { TenantMail } from "./tenant-mail.ts";

/**
 * The mail as stored in the job's row. The code is sealed, and so is its link; the only other personal data is addresses
 * of its recipient.
 */
const storedMail = z.object({
  tenantId: z.uuid(),
  to: z.string().nullable(),
  language: z.enum(languageTags).catch("en"),
  withoutWebhooks: z.boolean().default(false),
  mail: z.discriminatedUnion("type", [
    z.object({
      type: z.enum(messagesOf("passcode")),
      sealedCode: z.base64(),
      // Release 0.2 ignores it, and sends the code alone.
      sealedLink: z.base64().exactOptional(),
      ttlSeconds: z.number(),
      validUntil: z.number().default(0),
    }),
    z.object({ type: z.enum(messagesOf("notice")) }),
    z.object({
      type: z.enum(messagesOf("address_change")),
      address: z.string(),
      previous: z.string().exactOptional(),
    }),
    z.object({
      type: z.enum(messagesOf("factor_change")),
      factor: z.enum(mailFactors).exactOptional(),
    }),
    z.object({ type: z.enum([...messagesOf("change"), ...messagesOf("deletion")]) }),
    z.object({
      type: z.enum(messagesOf("sign_in")),
      at: z.iso.datetime(),
      browser: z.string(),
      place: z.string().nullable(),
    }),
  ]),
});

type StoredMail = z.output<typeof storedMail>;

/** What a mail server may repeat of a mail, and no log may hold. */
function secretsOf(content: MailContent): string[] {
  if (!("code" in content)) return [];
  // The link first: its token may contain the characters of the code.
  return [...(content.link === undefined ? [] : [content.link]), content.code];
}

/** Whether a mail tells the owner of a change of the account. */
function isSecurityNotice({ type }: StoredMail["mail"]): boolean {
  const others: readonly string[] = [...messagesOf("passcode"), ...messagesOf("notice")];
  return !others.includes(type);
}

/** The lifetime of a mail without a code. */
const NOTICE_LIFETIME_SECONDS = 86_400;

/**
 * The job that sends one mail in the name of its tenant, and emits its `email.send` event: beside the mail, or with
 * `email_delivery.enabled` off instead of it. The limits of mails are those of their events, and a mail without a
 * recipient has none, which takes the same time for the visitor.
 */
export function sendMail(options: {
  tenants: { byId(id: string): Promise<Tenant | null> };
  vault: Vault;
  mail: TenantMail;
  rates: Pick<RateLimits, "consume">;
  publish: PublishMail;
  records: MailRecords;
  database: Pick<Database, "write" | "claim" | "prepares">;
  log: Pick<Logger, "warn">;
}): JobKind<MailJob> {
  const { tenants, vault, mail: tenantMail, rates, publish, records, database, log } = options;
  // Bound to its row: a sealed code cannot be unsealed in another row. The same in both queues.
  const sealContext = (tenantId: string, jobId: string) => `job/send_mail/${tenantId}/${jobId}`;

  function unsealed(mail: StoredMail["mail"], context: string): MailContent {
    if (!("sealedCode" in mail)) return mail;
    const { type, sealedCode, sealedLink, ttlSeconds } = mail;
    const open = (sealed: string) => vault.unseal(Buffer.from(sealed, "base64"), context).toString();
    const link = sealedLink === undefined ? {} : { link: open(sealedLink) };
    return { type, code: open(sealedCode), ttlSeconds, ...link };
  }

  return {
    // The number of connections of a transport.
    concurrency: 5,
    lifetimeSeconds: ({ mail }) => ("code" in mail ? mail.ttlSeconds : NOTICE_LIFETIME_SECONDS),
    maxPauseSeconds: ({ mail }) => ("code" in mail ? 30 : 300),

    store({ tenantId, to, language, mail, withoutWebhooks = false }, id): StoredMail {
      if (!("code" in mail)) return { tenantId, to, language, mail, withoutWebhooks };
      const { type, code, link, ttlSeconds } = mail;
      const seal = (text: string) =>
        vault.seal(Buffer.from(text), sealContext(tenantId, id)).toString("base64");
      const sealed = {
        sealedCode: seal(code),
        ...(link === undefined ? {} : { sealedLink: seal(link) }),
      };
      const validUntil = Math.floor(Date.now() / 1000) + ttlSeconds;
      return { tenantId, to, language, withoutWebhooks, mail: { type, ...sealed, ttlSeconds, validUntil } };
    },

    describe(stored) {
      const { data } = storedMail.safeParse(stored);
      return data ? { mail: data.mail.type, language: data.language, tenantId: data.tenantId } : {};
    },

    records: records.queued,

    recordsEnd(stored, end) {
      const recorded = recordedMail(stored);
      return recorded ? records.givenUp(recorded, end) : async () => {};
    },

    recipient: (stored) => storedMail.safeParse(stored).data?.to ?? undefined,

    async run(stored, attempt) {
      const { id, isFirst, signal } = attempt;
      const parsed = storedMail.safeParse(stored);
      if (!parsed.success) throw unreadable();
      const { tenantId, to, language, mail, withoutWebhooks } = parsed.data;
      if (to === null) return;
      const recorded = { tenantId, mail: mail.type, to };
      const tenant = await tenants.byId(tenantId);
      if (!tenant) throw new PermanentFailure("the tenant is gone");
      // A code and its notice are limited before they are enqueued (`server/methods/passcode/passcodes.ts`).
      if (isFirst && isSecurityNotice(mail) && !(await rates.consume(tenantId, "notice", to)).ok) {
        log.warn(
          { mail: mail.type, tenantId, ...attempt.cause },
          "a recipient has received too many notices; one is not sent",
        );
        await commit(database, [records.tooMany(recorded, attempt)]);
        return;
      }
      const { write } = tenantMail.of(tenant);
      const content = unsealed(mail, sealContext(tenantId, id));
      const rendered = write(content, language);
      const delivered = tenant.config.email_delivery.enabled;
      const toPublish = (): PublishedMail => ({
        to,
        language,
        content,
        rendered,
        delivered,
        validUntil: "validUntil" in mail ? mail.validUntil : 0,
        service: tenant.config.service.name,
      });
      const published = await publish(tenant, id, toPublish, { withoutWebhooks: withoutWebhooks && isFirst });
      const send = async () => {
        if (!delivered && published) return "given to the webhooks that are subscribed to email.send";
        try {
          // Tried again like a mail that no server takes: the operator may subscribe a webhook in time.
          if (!delivered) throw noReceiver();
          // Fetched only now: a transport that is not in use may be closed while others are opened.
          const { transport } = tenantMail.of(tenant);
          const answer = await transport.send({ id, to, ...rendered }, signal);
          return cleanAnswer(answer, secretsOf(content));
        } catch (error) {
          const failure = signal.aborted ? signal.reason : error;
          if (isAboutMailServer(failure)) await records.failing(tenant, failure, attempt);
          throw error;
        }
      };
      await records.accepted(recorded, tenant, await send(), attempt);
    },
  };
}

/**
 * Whether a failure concerns all mails: not the rejection of one mail, and not a mailbox that is busy or greylists (450,
 * RFC 5321, 4.2.2).
 */
function isAboutMailServer(error: unknown): boolean {
  if (error instanceof PermanentFailure || isShutdown(error)) return false;
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return !(code === "EENVELOPE" && responseCode === 450);
}

/** Whether the process ended the attempt because it stops; a timeout has another name. */
function isShutdown(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** The mail of a stored job; null if it cannot be read or has no recipient. */
function recordedMail(stored: unknown) {
  const { data } = storedMail.safeParse(stored);
  return data && data.to !== null ? { tenantId: data.tenantId, mail: data.mail.type, to: data.to } : null;
}

/** Not permanent: a later version that runs beside may have stored the mail, and sends it. */
function unreadable(): Error {
  return Object.assign(new Error("the stored mail cannot be read"), { code: "UNREADABLE_MAIL" });
}

/** With a code, so that the log states the message. */
function noReceiver(): Error {
  const message = "email_delivery.enabled is off, and no webhook is subscribed to email.send";
  return Object.assign(new Error(message), { code: "NO_MAIL_RECEIVER" });
}
