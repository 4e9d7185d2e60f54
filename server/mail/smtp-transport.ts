import { createTransport } from "nodemailer";
import { ConfigError } from "../config/errors.ts";
import { PermanentFailure } from "../jobs/job-kind.ts";
import { isLoopback } from "../lib/is-loopback.ts";
import { createWaitingLine } from "../lib/waiting-line.ts";
import { oneLine } from "./one-line.ts";
import type { MailTransport } from "./transport.ts";

/** Connections to a mail server, of one process. */
export const MAX_CONNECTIONS = 5;

/** Mails of one connection, which is then replaced. */
const MAX_MAILS_OF_CONNECTION = 100;

/**
 * Time after which an unused connection is closed. Less than the time limit of an answer, after which it would be cut off
 * without a word.
 */
const IDLE_MS = 15_000;

/** Time limit of an answer. */
const ANSWER_TIMEOUT_MS = 20_000;

/**
 * How long a mail waits for a connection. With the time limit of an answer, it is no longer than an attempt: the time does
 * not end while a server that has just begun to take a mail is at work, which would then get it twice.
 */
const MAX_WAIT_MS = 10_000;

/**
 * Limits after a mail has failed for want of an answer, until one gets an answer: mails that such a server holds keep
 * mails for other servers from being sent.
 */
const limitsOfSilentServer = { running: 1, waiting: 0, maxWaitMs: null };

/** Code of the error of a mail that has not got a connection in time. It was not sent. */
export const NO_CONNECTION = "NO_FREE_MAIL_CONNECTION";

/** The error of such a mail. */
export const noConnection = () =>
  Object.assign(new Error("all connections are in use"), { code: NO_CONNECTION });

/**
 * Sends through a mail server, over a pool of connections that are used again. A server that offers PIPELINING (RFC 2920)
 * gets envelope and DATA at once.
 *
 * TLS is used if the server offers it, and its certificate is verified. Credentials are never sent in the clear,
 * except to the same machine. The address can override this with nodemailer's parameters:
 * `?tls.rejectUnauthorized=false`, `?requireTLS=false`, `?ignoreTLS=true`.
 *
 * @param url smtp:// (STARTTLS) or smtps:// (TLS from the first byte), with user and password where needed
 * @param maxWaiting mails that wait for a connection; more fail at once, without having been sent
 * @throws ConfigError if the address cannot be parsed
 */
export function createSmtpTransport(url: string, maxWaiting = Number.POSITIVE_INFINITY): MailTransport {
  const { username, hostname } = parseAddress(url);
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    maxMessages: MAX_MAILS_OF_CONNECTION,
    idleTimeout: IDLE_MS,
    // One retry for a server that has dropped an idle connection; further retries are the job's.
    maxRequeues: 1,
    requireTLS: username !== "" && !isLoopback(hostname),
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2" },
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: ANSWER_TIMEOUT_MS,
    dnsTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const line = createWaitingLine();
  const usual = { running: MAX_CONNECTIONS, waiting: maxWaiting, maxWaitMs: MAX_WAIT_MS };
  let isSilent = false;

  return {
    async send({ id, from, to, language, subject, text, html }, signal) {
      if (!isPlainAddress(to)) throw new PermanentFailure("the recipient is not a plain address");
      const release = await line.take(isSilent ? limitsOfSilentServer : usual, signal);
      if (!release) throw noConnection();
      try {
        const { response } = await transport.sendMail({
          from: { name: oneLine(from.name), address: from.address },
          to: { name: "", address: to },
          // Set explicitly, so that no header determines the recipient.
          envelope: { from: from.address, to: [to] },
          subject,
          text,
          html,
          messageId: `<${id}@${from.address.split("@").at(-1)}>`,
          headers: {
            "Content-Language": language,
            // RFC 3834 5: keeps automatic responders from answering.
            "Auto-Submitted": "auto-generated",
            "X-Auto-Response-Suppress": "All",
          },
          signal,
        });
        isSilent = false;
        return response;
      } catch (error) {
        isSilent = signal.aborted || (error as { code?: unknown }).code === "ETIMEDOUT";
        const rejection = permanentRejection(error);
        if (rejection) throw new PermanentFailure(rejection);
        throw error;
      } finally {
        release();
      }
    },
    close() {
      transport.close();
    },
  };
}

function parseAddress(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed?.hostname) return parsed;
  throw new ConfigError("SMTP_URL cannot be read; special characters of a password must be percent-encoded");
}

/**
 * Returns the message of a permanent rejection, or undefined if a retry may succeed. A 5yz reply to this mail
 * (RFC 5321 4.2.1) will be the same next time. A reply to the login or the greeting, and 530, which requires a login or
 * TLS (RFC 4954 6, RFC 3207 4), concern the configuration and may be fixed within the lifetime of the mail.
 */
function permanentRejection(error: unknown): string | undefined {
  const { code, responseCode, command, response } = error as Record<string, unknown>;
  const aboutThisMail = code === "EENVELOPE" || code === "EMESSAGE";
  if (!aboutThisMail || typeof responseCode !== "number" || responseCode < 500 || responseCode === 530)
    return undefined;
  // The enhanced status code (RFC 3463) says why, and is no text of the server.
  const [, enhanced] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
  const reply = enhanced === undefined ? responseCode : `${responseCode} ${enhanced}`;
  return `the mail server rejected it: ${reply}${typeof command === "string" ? ` to ${command}` : ""}`;
}

/** One address that no parser reads as two or as a header. Addresses that users may enter are narrower. */
function isPlainAddress(value: string): boolean {
  return value.length <= 254 && /^[^\s\p{Cc}"(),:;<>@[\\\]]+@[^\s\p{Cc}"(),:;<>@[\\\]]+$/u.test(value);
}
