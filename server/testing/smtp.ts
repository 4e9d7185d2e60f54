import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** A mail server in this process that takes every mail and hands it to the test. */
export interface SmtpCatcher {
  /** smtp:// address for `SMTP_URL`. */
  url: string;
  /** Everything that came, oldest first. */
  messages: ParsedMail[];
  /**
   * The newest mail to an address, as soon as there is one.
   *
   * @param after count only mails that came later than this moment (milliseconds since 1970, or a Date)
   * @throws Error when none comes within two minutes
   */
  waitFor(to: string, after?: Date | number): Promise<ParsedMail>;
  /** The code in the newest mail to an address, as `waitFor` finds it. */
  codeFor(to: string, after?: Date | number): Promise<string>;
  close(): Promise<void>;
}

interface SmtpBehaviour {
  /** Fixed port, for a server that comes back where it was; any free one otherwise. */
  port?: number;
  /**
   * Judges a mail by recipient before taking it: an SMTP reply code of 400 or more refuses it, and a promise
   * keeps the client waiting.
   */
  reply?: (to: string) => number | undefined | Promise<number | undefined>;
  options?: SMTPServerOptions;
}

/** Only a hang takes as long. */
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
        // As real servers do, it quotes what it refuses.
        const refusal = Object.assign(new Error(`refused: ${mail.subject}`), { responseCode: code });
        callback(refusal);
        return;
      }
      envelopes.set(mail, { to, at: Date.now() });
      messages.push(mail);
      arrivals.emit("mail");
      callback();
    },
  });
  // Clients that leave in the middle are part of the tests.
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
