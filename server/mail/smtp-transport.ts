import { createTransport } from "nodemailer";
import { ConfigError } from "../config/errors.ts";
import { PermanentFailure } from "../jobs/job-kind.ts";
import { isLoopback } from "../lib/is-loopback.ts";
import { oneLine } from "./one-line.ts";
import type { MailTransport } from "./transport.ts";

/**
 * Sends through a mail server, over a pool of connections.
 *
 * TLS is used if the server offers it, and its certificate is verified. Credentials are never sent in the clear,
 * except to the same machine. The address can override this with nodemailer's parameters:
 * `?tls.rejectUnauthorized=false`, `?requireTLS=false`, `?ignoreTLS=true`.
 *
 * @param url smtp:// (STARTTLS) or smtps:// (TLS from the first byte), with user and password where needed
 * @param from sender of every mail
 * @throws ConfigError if the address cannot be parsed
 */
export function createSmtpTransport(url: string, from: { name: string; address: string }): MailTransport {
  const { username, hostname } = parseAddress(url);
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 5,
    // One retry for a server that has dropped an idle connection; further retries are the job's.
    maxRequeues: 1,
    requireTLS: username !== "" && !isLoopback(hostname),
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.2" },
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    dnsTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const sender = { name: oneLine(from.name), address: from.address };
  const domain = from.address.split("@").at(-1);

  return {
    async send({ id, to, language, subject, text, html }, signal) {
      if (!isPlainAddress(to)) throw new PermanentFailure("the recipient is not a plain address");
      try {
        const { response } = await transport.sendMail({
          from: sender,
          to: { name: "", address: to },
          // Set explicitly, so that no header determines the recipient.
          envelope: { from: from.address, to: [to] },
          subject,
          text,
          html,
          messageId: `<${id}@${domain}>`,
          headers: {
            "Content-Language": language,
            // RFC 3834 5: keeps automatic responders from answering.
            "Auto-Submitted": "auto-generated",
            "X-Auto-Response-Suppress": "All",
          },
          signal,
        });
        return response;
      } catch (error) {
        const rejection = permanentRejection(error);
        if (rejection) throw new PermanentFailure(rejection);
        throw error;
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
