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
    primaryKey({ columns: [table.tenantId, table.id] }),
    index("audit_logs_created_at").on(table.tenantId, table.createdAt),
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
