import { sql } from "drizzle-orm";
import { index, jsonb, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { createdAt, moment, tenantId } from "./columns.ts";
import { declareTable } from "./table.ts";
import { tenants } from "./tenants.ts";

/** Security events for the operator. Details contain no secret and no credential. */
export const auditLogs = declareTable(
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
  {
    owner: "tenant",
    purge: { by: "createdAt", after: "audit_log.retention", under: ["tenantId"] },
    exported: { because: "`stile audit` lists the entries." },
    ofDeletedAccounts: "entries with the account's id",
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
    // Entries about an identifier: failures of unknown ones, and mails.
    index("audit_logs_identifier")
      .on(table.tenantId, sql`(details ->> 'identifier_digest')`, table.createdAt, table.id)
      .where(sql`(details ->> 'identifier_digest') is not null`),
  ],
);

/**
 * Declares the outages of what sends the messages of tenants: a mail server, or a service that sends SMS. Those of tenants
 * that have none of their own are the default tenant's.
 */
const outagesTable = <Name extends string>(name: Name, ends: string, because: string) =>
  declareTable(
    name,
    {
      tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
      since: moment("since").notNull(),
      lastFailedAt: moment("last_failed_at").notNull(),
      /** What the last attempt failed with: a code, no text of another server. */
      failure: text("failure").notNull(),
    },
    { owner: "tenant", atCoordinator: true, ends, exported: { because }, grows: false },
    (table) => [primaryKey({ columns: [table.tenantId] })],
  );

/** Mail servers that take no mails now. */
export const mailOutages = outagesTable(
  "mail_outages",
  "when the mail server accepts a mail",
  "It is about a mail server.",
);

/** Services that take no SMS now. */
export const smsOutages = outagesTable(
  "sms_outages",
  "when the service accepts an SMS",
  "It is about a service that sends SMS.",
);

/** The mailbox of development: mails and SMS that are stored instead of sent. */
export const mailbox = declareTable(
  "mailbox",
  {
    id: uuid("id").primaryKey(),
    recipient: text("recipient").notNull(),
    subject: text("subject").notNull(),
    text: text("text").notNull(),
    html: text("html").notNull(),
    createdAt: createdAt(),
  },
  {
    owner: "deployment",
    ends: "when 200 newer mails are stored",
    purge: { by: "createdAt", after: "7 days" },
    ofDeletedAccounts: "mails, in development",
    grows: false,
  },
);
