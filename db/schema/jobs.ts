import { integer, jsonb, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { createdAt, tenantId } from "./columns.ts";
import { declareTable } from "./table.ts";
import { tenants } from "./tenants.ts";

/**
 * Jobs of a distributed database that are not in its queue yet. The coordinator has the queue; a job is made at the node of
 * its tenant, by the transaction that it belongs to.
 */
export const newJobs = declareTable(
  "new_jobs",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    id: uuid("id").notNull(),
    /** Its kind. */
    name: text("name").notNull(),
    /** As the queue stores it. Secrets in it are sealed. */
    data: jsonb("data").notNull().$type<object>(),
    /** Seconds from `created_at` after which it is discarded. */
    lifetimeSeconds: integer("lifetime_seconds").notNull(),
    maxPauseSeconds: integer("max_pause_seconds").notNull(),
    createdAt: createdAt(),
  },
  {
    owner: "tenant",
    ends: "when the coordinator of a distributed database takes the job into its queue, within a second as a rule",
    exported: { because: "It is work that waits." },
    ofDeletedAccounts: "jobs that wait, such as the mail that tells of the deletion",
    grows: false,
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.id] })],
);
