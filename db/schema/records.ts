import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { createdAt, tenantId } from "./columns.ts";

/** Security events for the operator. Details contain no secret and no credential. */
export const auditLogs = pgTable(
  "audit_logs",
  {
    tenantId: tenantId(),
    id: uuid("id").notNull(),
    type: text("type").notNull(),
    userId: uuid("user_id"),
    requestId: text("request_id"),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    details: jsonb("details").notNull().$type<Record<string, unknown>>(),
    createdAt: createdAt(),
  },
  (table) => [
    // Each filter of the log has an index in the order in which entries are listed, and so has the whole log. A key of
    // the id alone would be written at another place of it by each entry, and nothing looks an entry up by its id.
    primaryKey({ name: "audit_logs_pkey", columns: [table.tenantId, table.createdAt, table.id] }),
    index("audit_logs_type").on(table.tenantId, table.type, table.createdAt, table.id),
    index("audit_logs_ip_address").on(table.tenantId, table.ipAddress, table.createdAt, table.id),
    index("audit_logs_actor").on(
      table.tenantId,
      sql`coalesce(user_id::text, details ->> 'actor_user_id')`,
      table.createdAt,
      table.id,
    ),
  ],
);

/** The mailbox of development: mails that are stored instead of sent. */
export const mailbox = pgTable("mailbox", {
  id: uuid("id").primaryKey(),
  recipient: text("recipient").notNull(),
  subject: text("subject").notNull(),
  text: text("text").notNull(),
  html: text("html").notNull(),
  createdAt: createdAt(),
});
