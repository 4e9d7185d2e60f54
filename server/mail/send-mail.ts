import type { Logger } from "pino";
import { z } from "zod";
import { type JobKind, PermanentFailure } from "../jobs/job-kind.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { type SendingOptions, sendMessage } from "../messages/send-message.ts";
import { sealedCode } from "../messages/stored-content.ts";
import type { MailContent, MailJob } from "./mail-job.ts";
import { mailFactors, messagesOf } from "./messages.ts";
import { NO_CONNECTION, noConnection } from "./smtp-transport.ts";
import type { TenantMail } from "./tenant-mail.ts";
import type { RenderedMail } from "./transport.ts";

/** A mail as stored in the job's row. The only personal data in the clear is addresses of its recipient. */
const storedMail = z.discriminatedUnion("type", [
  z.object({ type: z.enum(messagesOf("passcode")), ...sealedCode }),
  z.object({ type: z.enum(messagesOf("notice")) }),
  z.object({
    type: z.enum(messagesOf("address_change")),
    address: z.string(),
    previous: z.string().exactOptional(),
  }),
  z.object({ type: z.enum(messagesOf("factor_change")), factor: z.enum(mailFactors).exactOptional() }),
  z.object({ type: z.enum([...messagesOf("change"), ...messagesOf("deletion")]) }),
  z.object({
    type: z.enum(messagesOf("sign_in")),
    at: z.iso.datetime(),
    browser: z.string(),
    place: z.string().nullable(),
  }),
  z.object({
    type: z.enum(messagesOf("impersonation")),
    at: z.iso.datetime(),
    minutes: z.int(),
    reason: z.string(),
  }),
]);

/** Mails that no change of an account causes. */
const unlimitedHere: readonly string[] = [...messagesOf("passcode"), ...messagesOf("notice")];

/** The job that sends mails. */
export function sendMail(
  options: SendingOptions<"mail", MailContent, RenderedMail> & {
    mail: TenantMail;
    rates: Pick<RateLimits, "consume">;
    log: Pick<Logger, "warn">;
  },
): JobKind<MailJob> {
  const { mail, rates, log } = options;
  return sendMessage(
    {
      name: "mail",
      // Also of codes in the other queue.
      queue: "send_mail",
      // More than the connections to one mail server: one that does not answer leaves others their turn.
      concurrency: 20,
      stored: storedMail,

      // A code and its notice are limited before they are enqueued (`server/methods/passcode/passcodes.ts`).
      async admits({ tenantId, to, type }, attempt) {
        if (!attempt.isFirst || unlimitedHere.includes(type)) return true;
        if ((await rates.consume(tenantId, "notice", to)).ok) return true;
        log.warn(
          { mail: type, tenantId, ...attempt.cause },
          "a recipient has received too many notices; one is not sent",
        );
        return false;
      },

      render: (tenant, { content, language }) => mail.of(tenant).write(content, language),

      async send(tenant, rendered, { to }, { id, signal }) {
        const end = await mail.takePlace(tenant);
        if (!end) throw noConnection();
        try {
          // Fetched only now: a transport that is not in use may be closed while others are opened.
          const { from, transport } = mail.of(tenant);
          return await transport.send({ id, from, to, ...rendered }, signal);
        } finally {
          end();
        }
      },

      isAboutServer: isAboutMailServer,
    },
    options,
  );
}

/**
 * Whether a failure concerns all mails: not the rejection of one mail, not a mailbox that is busy or greylists (450,
 * RFC 5321, 4.2.2), and not the want of a connection while others are in use.
 */
function isAboutMailServer(error: unknown): boolean {
  if (error instanceof PermanentFailure) return false;
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return code !== NO_CONNECTION && !(code === "EENVELOPE" && responseCode === 450);
}
