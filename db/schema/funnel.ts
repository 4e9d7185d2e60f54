import { bigint, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { moment, tenantId } from "./columns.ts";
import { declareTable } from "./table.ts";
import { tenants } from "./tenants.ts";

/**
 * What happened in an hour, as counts: the funnel of flows, and the numbers of the overview. A row has names of closed
 * lists and nothing of a user. How many rows an hour of a tenant gets is bounded (`server/funnel/write-counts.ts`).
 */
export const funnelCounts = declareTable(
  "funnel_counts",
  {
    tenantId: tenantId().references(() => tenants.id, { onDelete: "cascade" }),
    /** What is counted, and what `name` and `target` are: `server/funnel/measures.ts`. */
    measure: text("measure").notNull(),
    /** `none` for what is counted outside flows, as in each column below that does not apply. */
    flowType: text("flow_type").notNull(),
    state: text("state").notNull(),
    /** The start of the hour, in UTC. */
    hour: moment("hour").notNull(),
    name: text("name").notNull(),
    target: text("target").notNull(),
    method: text("method").notNull(),
    platform: text("platform").notNull(),
    browser: text("browser").notNull(),
    embedding: text("embedding").notNull(),
    count: bigint("count", { mode: "number" }).notNull(),
    /** How many of them took how long, by the buckets of `server/funnel/durations.ts`; null where no time is counted. */
    durations: integer("durations").array(),
  },
  {
    owner: "tenant",
    purge: { by: "hour", after: "funnel.retention", under: ["tenantId"] },
    exported: { because: "They are counts, of no user." },
    ofDeletedAccounts: "counts of flows by hour, of no account",
    grows: false,
  },
  (table) => [
    // What is counted of a state over many hours is one range of this key.
    primaryKey({
      name: "funnel_counts_pkey",
      columns: [
        table.tenantId,
        table.measure,
        table.flowType,
        table.state,
        table.hour,
        table.name,
        table.target,
        table.method,
        table.platform,
        table.browser,
        table.embedding,
      ],
    }),
    // For the rows of an hour, which are bounded, and for the purge.
    index("funnel_counts_hour").on(table.tenantId, table.hour),
  ],
);
