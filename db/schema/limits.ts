import { sql } from "drizzle-orm";
import { bigint, index, integer, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { declareTable } from "./table.ts";

const columns = {
  /** Name of the limit and length of its window, and digest of the tenant and of the value that it counts by. */
  key: text("key").notNull(),
  points: integer("points").notNull().default(0),
  /** Milliseconds since 1970. */
  expire: bigint("expire", { mode: "number" }),
};

const rules = {
  purge: {
    by: "expire",
    before: sql`(extract(epoch from now()) * 1000)::bigint`,
    when: "at `expire`, the end of the window",
  },
  ofDeletedAccounts: "counters under a digest",
} as const;

/** The tenant of limits that all tenants share (RFC 9562, 5.9). */
export const SHARED_LIMITS = "00000000-0000-0000-0000-000000000000";

/** Counted events per window of a rate limit. A tenant's are where its flows are, because a step counts and claims at once. */
export const rateCounters = declareTable(
  "rate_counters",
  {
    /** Or `SHARED_LIMITS`. */
    tenantId: uuid("tenant_id").notNull(),
    ...columns,
  },
  { ...rules, owner: "tenant", exported: { because: "Nothing is limited elsewhere by what was done here." } },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.key] }),
    index("rate_counters_expire").on(table.expire),
  ],
);

/** The counters of releases 0.2 and 0.3, the latter of which may run beside this version. */
export const rateLimits = declareTable(
  "rate_limits",
  { ...columns, key: text("key").primaryKey() },
  { ...rules, owner: "deployment" },
  (table) => [index("rate_limits_expire").on(table.expire)],
);
