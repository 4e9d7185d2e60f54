import type { Logger } from "pino";
import { z } from "zod";
import type { Database } from "#db/client";
import { commit } from "#db/commit";
import { languageTags } from "#words/language-tags";
import type { Tenant } from "../config/tenant.ts";
import { type JobKind, PermanentFailure } from "../jobs/job-kind.ts";
import type { Vault } from "../keys/vault.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { PublishMessage } from "../messages/outcome.ts";
import { sealedCodes } from "../messages/sealed-codes.ts";
import { type Channel, sendMessage } from "../messages/send-message.ts";
import type { MailContent, MailJob } from "./mail-job.ts";
import type { MailRecords, PublishedMail } from "./mail-outcome.ts";
import { mailFactors, messagesOf } from "./messages.ts";
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
 * `email_delivery.enabled` off instead of it.
 */
export function sendMail(options: {
  tenants: { byId(id: string): Promise<Tenant | null> };
  vault: Vault;
  mail: TenantMail;
  rates: Pick<RateLimits, "consume">;
  publish: PublishMessage<PublishedMail>;
  records: MailRecords;
  database: Pick<Database, "write" | "claim" | "prepares">;
  log: Pick<Logger, "warn">;
}): JobKind<MailJob> {
  const { vault, mail: tenantMail, rates, records, database, log } = options;
  // The same in both queues.
  const codes = sealedCodes(vault, "send_mail");

  function unsealed({ tenantId, mail }: StoredMail, jobId: string): MailContent {
    if (!("sealedCode" in mail)) return mail;
    const { type, sealedCode, sealedLink, ttlSeconds } = mail;
    const open = (sealed: string) => codes.unseal(sealed, tenantId, jobId);
    const link = sealedLink === undefined ? {} : { link: open(sealedLink) };
    return { type, code: open(sealedCode), ttlSeconds, ...link };
  }

  const channel: Channel<MailJob, StoredMail, PublishedMail> = {
    name: "mail",
    event: "email.send",
    delivers: (config) => config.email_delivery.enabled,
    lifetimeSeconds: ({ mail }) => ("code" in mail ? mail.ttlSeconds : NOTICE_LIFETIME_SECONDS),
    maxPauseSeconds: ({ mail }) => ("code" in mail ? 30 : 300),

    store({ tenantId, to, language, mail, withoutWebhooks = false }, id): StoredMail {
      if (!("code" in mail)) return { tenantId, to, language, mail, withoutWebhooks };
      const { type, code, link, ttlSeconds } = mail;
      const seal = (text: string) => codes.seal(text, tenantId, id);
      const sealed = {
        sealedCode: seal(code),
        ...(link === undefined ? {} : { sealedLink: seal(link) }),
      };
      const validUntil = Math.floor(Date.now() / 1000) + ttlSeconds;
      return { tenantId, to, language, withoutWebhooks, mail: { type, ...sealed, ttlSeconds, validUntil } };
    },

    read: (stored) => storedMail.safeParse(stored).data,
    typeOf: ({ mail }) => mail.type,

    // A code and its notice are limited before they are enqueued (`server/methods/passcode/passcodes.ts`).
    async admits({ tenantId, to, mail }, recorded, attempt) {
      if (!attempt.isFirst || !isSecurityNotice(mail)) return true;
      if ((await rates.consume(tenantId, "notice", to)).ok) return true;
      log.warn(
        { mail: mail.type, tenantId, ...attempt.cause },
        "a recipient has received too many notices; one is not sent",
      );
      await commit(database, [records.tooMany(recorded, attempt)]);
      return false;
    },

    prepare(tenant, stored, { id }) {
      const { to, language, mail } = stored;
      const content = unsealed(stored, id);
      const rendered = tenantMail.of(tenant).write(content, language);
      return {
        published: () => ({
          to,
          language,
          content,
          rendered,
          delivered: tenant.config.email_delivery.enabled,
          validUntil: "validUntil" in mail ? mail.validUntil : 0,
          service: tenant.config.service.name,
        }),
        // Fetched only then: a transport that is not in use may be closed while others are opened.
        send: (signal) => tenantMail.of(tenant).transport.send({ id, to, ...rendered }, signal),
        secrets: secretsOf(content),
      };
    },

    isAboutServer: isAboutMailServer,
  };
  return sendMessage(channel, options);
}

/**
 * Whether a failure concerns all mails: not the rejection of one mail, and not a mailbox that is busy or greylists (450,
 * RFC 5321, 4.2.2).
 */
function isAboutMailServer(error: unknown): boolean {
  if (error instanceof PermanentFailure) return false;
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return !(code === "EENVELOPE" && responseCode === 450);
}
