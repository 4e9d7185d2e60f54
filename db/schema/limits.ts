import { sql } from "drizzle-orm";
import { bigint, index, integer, text } from "drizzle-orm/pg-core";
import { declareTable } from "./table.ts";

/** Counted events per window of a rate limit. */
export const rateLimits = declareTable(
  "rate_limits",
  {
    /** Name of the limit and length of its window, and digest of the tenant and of the value that it counts by. */
    key: text("key").primaryKey(),
    points: integer("points").notNull().default(0),
    /** Milliseconds since 1970. */
    expire: bigint("expire", { mode: "number" }),
  },
  {
    owner: "deployment",
    purge: {
      by: "expire",
      before: sql`(extract(epoch from now()) * 1000)::bigint`,
      when: "at `expire`, the end of the window",
    },
    ofDeletedAccounts: "counters under a digest",
  },
  (table) => [index("rate_limits_expire").on(table.expire)],
);
