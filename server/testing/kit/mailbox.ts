import { setTimeout as sleep } from "node:timers/promises";
import type { HostCalls, Mail } from "./host-calls.ts";

/** The mails and SMS that a server for tests has sent. */
export interface Mailbox {
  /**
   * Waits for the next code: that of the newest mail to this address, or SMS to this number (E.164), whose code was not
   * returned before.
   *
   * @throws Error that lists the mails to the address if none arrives within ten seconds
   */
  code(address: string): Promise<string>;
  /** All mails and SMS, or those to one address or number, oldest first. */
  mails(address?: string): Promise<Mail[]>;
}

/** Mails are written by a job right after the step that sends them. Reached by a mail that is not sent only. */
const MAIL_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** A line that consists of a code, in a mail, or the line for browsers of an SMS. */
const codeLine = /^(?:\s*|@\S+ #)([0-9]{6}|[0-9A-Z]{6})\s*$/m;

export function mailboxOf(calls: HostCalls): Mailbox {
  const given = new Set<string>();
  const mails = (address?: string) => calls.mails(address ?? null);
  return {
    mails,
    async code(address) {
      for (const deadline = Date.now() + MAIL_TIMEOUT_MS; ; await sleep(POLL_MS)) {
        const received = await mails(address);
        const mail = received.findLast(({ id, text }) => !given.has(id) && codeLine.test(text));
        if (mail) {
          // An earlier code that was not asked for is replaced by this one.
          for (const { id } of received) given.add(id);
          return codeLine.exec(mail.text)?.[1] ?? "";
        }
        if (Date.now() < deadline) continue;
        const list = received.map(({ subject, id }) => `"${subject}"${given.has(id) ? " (read)" : ""}`);
        throw new Error(
          `no mail with a new code to ${address} within ${MAIL_TIMEOUT_MS / 1000} s; mails to it: ${list.join(", ") || "none"}`,
        );
      }
    },
  };
}
