import { bigint, index, integer, pgTable, text } from "drizzle-orm/pg-core";

/** Counted events per window of a rate limit. */
export const rateLimits = pgTable(
  "rate_limits",
  {
    /** Name of the limit and length of its window, and digest of the tenant and of the value that it counts by. */
    key: text("key").primaryKey(),
    points: integer("points").notNull().default(0),
    /** Milliseconds since 1970. */
    expire: bigint("expire", { mode: "number" }),
  },
  (table) => [index("rate_limits_expire").on(table.expire)],
);
