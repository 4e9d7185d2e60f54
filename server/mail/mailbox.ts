import { desc, eq, inArray, sql } from "drizzle-orm";
import { type Database, type ReadOnly, schema } from "#db/client";
import type { MailTransport } from "./transport.ts";

const { mailbox } = schema;

/** How many mails the local mailbox keeps; the oldest give way. */
export const MAILBOX_SIZE = 200;

export type MailboxEntry = typeof mailbox.$inferSelect;

/** Two mails of one millisecond would have no order, and a person would be shown the older code. */
const afterNewest = sql`greatest(clock_timestamp(), (select max(created_at) + interval '1 ms' from ${mailbox}))`;

/** Keeps mails in the database, where the mailbox page shows them. For development: it stores codes in the clear. */
export function createMailboxTransport(database: Database): MailTransport {
  return {
    async send({ id, to, subject, text, html }) {
      await database.write.transaction(async (tx) => {
        await tx
          .insert(mailbox)
          .values({ id, recipient: to, subject, text, html, createdAt: afterNewest })
          .onConflictDoNothing();
        const superfluous = tx
          .select({ id: mailbox.id })
          .from(mailbox)
          .orderBy(desc(mailbox.createdAt), desc(mailbox.id))
          .offset(MAILBOX_SIZE);
        await tx.delete(mailbox).where(inArray(mailbox.id, superfluous));
      });
    },
    close() {},
  };
}

/**
 * The newest mails of the local mailbox, newest first.
 *
 * @param filter recipient, in any letter case, and how many at most
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
