import { text } from "drizzle-orm/pg-core";
import { moment } from "./columns.ts";
import { declareTable } from "./table.ts";

/**
 * Releases that have used this database, and the oldest one that may run beside each (decision 63). Kept: a server that
 * is older than one of these states stops, and does not start.
 */
export const releases = declareTable(
  "releases",
  {
    version: text("version").primaryKey(),
    oldestBeside: text("oldest_beside").notNull(),
    firstUsedAt: moment("first_used_at").notNull().defaultNow(),
  },
  {
    owner: "deployment",
    ends: "never",
    grows: false,
  },
);
