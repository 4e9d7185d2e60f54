import { bigint, index, integer, pgTable, text } from "drizzle-orm/pg-core";

/** Counted events per window; written by rate-limiter-flexible alone, whose statements rely on this order of columns. */
export const rateLimits = pgTable(
  "rate_limits",
  {
    /** Name of the limit and digest of what it counts by, the tenant included. */
    key: text("key").primaryKey(),
    points: integer("points").notNull().default(0),
    /** Milliseconds since 1970. */
    expire: bigint("expire", { mode: "number" }),
  },
  (table) => [index("rate_limits_expire").on(table.expire)],
);
