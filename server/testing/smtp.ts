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
   * @param after ignores mails received up to this time (milliseconds since 1970, or a Date)
   * @throws Error if none arrives within two minutes
   */
  waitFor(to: string, after?: Date | number): Promise<ParsedMail>;
  /** The code in the mail that `waitFor` returns. */
  codeFor(to: string, after?: Date | number): Promise<string>;
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
  options?: SMTPServerOptions;
}

/** Reached by a hang only. */
const MAIL_TIMEOUT_MS = 120_000;

export async function startSmtp({ port = 0, reply, options }: SmtpBehaviour = {}): Promise<SmtpCatcher> {
  const arrivals = new EventEmitter().setMaxListeners(100);
  const messages: ParsedMail[] = [];
  const envelopes = new WeakMap<ParsedMail, { to: string[]; at: number }>();

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 100,
    ...options,
    async onData(stream, session, callback) {
      const to = session.envelope.rcptTo.map(({ address }) => address.toLowerCase());
      const mail = await simpleParser(stream);
      const code = await reply?.(to.join());
      if (code !== undefined && code >= 400) {
        // Like real servers, it quotes the rejected mail.
        const rejection = Object.assign(new Error(`rejected: ${mail.subject}`), { responseCode: code });
        callback(rejection);
        return;
      }
      envelopes.set(mail, { to, at: Date.now() });
      messages.push(mail);
      arrivals.emit("mail");
      callback();
    },
  });
  // Tests include clients that disconnect early.
  server.on("error", () => {});
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  const address = server.server.address() as AddressInfo;

  async function waitFor(to: string, after: Date | number = 0): Promise<ParsedMail> {
    const signal = AbortSignal.timeout(MAIL_TIMEOUT_MS);
    for (;;) {
      const found = messages.findLast((mail) => {
        const envelope = envelopes.get(mail);
        return envelope?.to.includes(to.toLowerCase()) && envelope.at > Number(after);
      });
      if (found) return found;
      await once(arrivals, "mail", { signal }).catch(() => {
        throw new Error(`no mail to ${to} within ${MAIL_TIMEOUT_MS / 1000} s`);
      });
    }
  }

  return {
    url: `smtp://127.0.0.1:${address.port}`,
    messages,
    waitFor,
    async codeFor(to, after) {
      const mail = await waitFor(to, after);
      const code = /^\s*(\d{6})\s*$/m.exec(mail.text ?? "")?.[1];
      if (!code) throw new Error(`the newest mail to ${to} carries no code: ${mail.subject}`);
      return code;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
