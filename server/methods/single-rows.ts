import { getTableConfig } from "drizzle-orm/pg-core";
import { schema } from "#db/client";
import { singleMethods } from "./index.ts";

/** The primary keys that a second row of an account would violate, in the tables of methods of which it has at most one. */
export const singleRowConstraints: ReadonlySet<string> = new Set(
  singleMethods.flatMap(({ tables: [table] }) =>
    getTableConfig(schema[table]).primaryKeys.map((key) => key.getName()),
  ),
);
