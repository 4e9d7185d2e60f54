import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** A mail server in this process that records every mail. */
export interface SmtpCatcher {
  /** smtp:// address for `SMTP_URL`. */
  url: string;
  /** Received mails, oldest first. */
  messages: ParsedMail[];
  /**
   * Waits for a mail to an address; returns the newest one.
   *
   * @param after how many of `messages` to ignore: those that were there before
   * @throws Error if none arrives within two minutes
   */
  waitFor(to: string, after?: number): Promise<ParsedMail>;
  /** Waits for a mail with a code to an address; returns the newest code. Notices may arrive at any time. */
  codeFor(to: string, after?: number): Promise<string>;
  close(): Promise<void>;
}

interface SmtpBehaviour {
  /** Fixed port, for a server that restarts at the same address. Default: any free port. */
  port?: number;
  /**
   * Decides on a mail by its recipient: an SMTP reply code of 400 or more rejects it, and a pending promise delays the
   * reply.
   */
  reply?: (to: string) => number | undefined | Promise<number | undefined>;
  /** The text of the answer to an accepted mail. */
  acceptance?: string;
  options?: SMTPServerOptions;
}

/** Reached by a hang only. */
const MAIL_TIMEOUT_MS = 120_000;

export async function startSmtp({
  port = 0,
  reply,
  acceptance,
  options,
}: SmtpBehaviour = {}): Promise<SmtpCatcher> {
  const arrivals = new EventEmitter().setMaxListeners(100);
  const messages: ParsedMail[] = [];
  const recipients = new WeakMap<ParsedMail, string[]>();

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 100,
    ...options,
    async onData(stream, session, callback) {
      const to = session.envelope.rcptTo.map(({ address }) => address.toLowerCase());
      const mail = await simpleParser(stream).catch(() => null);
      // The client has left in the middle of it.
      if (!mail) return;
      const code = await reply?.(to.join());
      if (code !== undefined && code >= 400) {
        // Like real servers, it quotes the rejected mail.
        const rejection = Object.assign(new Error(`rejected: ${mail.subject}`), { responseCode: code });
        callback(rejection);
        return;
      }
      recipients.set(mail, to);
      messages.push(mail);
      arrivals.emit("mail");
      callback(null, acceptance);
    },
  });
  // Tests include clients that disconnect early.
  server.on("error", () => {});
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  const address = server.server.address() as AddressInfo;

  async function waitFor(
    to: string,
    after = 0,
    fits: (mail: ParsedMail) => boolean = () => true,
  ): Promise<ParsedMail> {
    const signal = AbortSignal.timeout(MAIL_TIMEOUT_MS);
    for (;;) {
      const found = messages.findLast(
        (mail, index) => index >= after && recipients.get(mail)?.includes(to.toLowerCase()) && fits(mail),
      );
      if (found) return found;
      await once(arrivals, "mail", { signal }).catch(() => {
        throw new Error(`no mail to ${to} within ${MAIL_TIMEOUT_MS / 1000} s`);
      });
    }
  }

  return {
    url: `smtp://127.0.0.1:${address.port}`,
    messages,
    waitFor: (to, after) => waitFor(to, after),
    async codeFor(to, after) {
      return codeIn(await waitFor(to, after, (mail) => codeIn(mail) !== ""));
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** @returns the code of a mail; empty if it carries none */
function codeIn({ text }: ParsedMail): string {
  return /^\s*(\d{6})\s*$/m.exec(text ?? "")?.[1] ?? "";
}
