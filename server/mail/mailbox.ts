import { desc, eq, inArray, sql } from "drizzle-orm";
import { type Database, type ReadOnly, schema } from "#db/client";
import type { Transport } from "../messages/transport.ts";
import type { OutgoingMail } from "./transport.ts";

const { mailbox } = schema;

/** The number of mails that the local mailbox keeps; older ones are deleted. */
export const MAILBOX_SIZE = 200;

export type MailboxEntry = typeof mailbox.$inferSelect;

/** Stores mails in the database for the mailbox page. For development: it stores codes in the clear. */
export function createMailboxTransport(database: Database): Transport<Omit<OutgoingMail, "from">> {
  return {
    async send({ id, to, subject, text, html }) {
      await database.write.transaction(async (tx) => {
        // Two mails in the same millisecond would have no order, and the mailbox might show the older code first.
        await tx.execute(sql`
          insert into mailbox (id, recipient, subject, text, html, created_at)
          select ${id}::uuid, ${to}, ${subject}, ${text}, ${html},
            greatest(statement_timestamp(), max(created_at) + interval '1 ms')
          from mailbox on conflict do nothing`);
        const excess = tx
          .select({ id: mailbox.id })
          .from(mailbox)
          .orderBy(desc(mailbox.createdAt), desc(mailbox.id))
          .offset(MAILBOX_SIZE);
        await tx.delete(mailbox).where(inArray(mailbox.id, excess));
      });
      return "stored in the mailbox of development";
    },
    close() {},
  };
}

/**
 * The newest mails of the local mailbox, newest first.
 *
 * @param filter recipient, case-insensitive, and maximum count
 */
export function newestMails(
  database: ReadOnly,
  filter: { to?: string; limit?: number },
): Promise<MailboxEntry[]> {
  const { to, limit = MAILBOX_SIZE } = filter;
  return database
    .select()
    .from(mailbox)
    .where(to === undefined ? undefined : eq(sql`lower(${mailbox.recipient})`, to.toLowerCase()))
    .orderBy(desc(mailbox.createdAt), desc(mailbox.id))
    .limit(limit);
}
