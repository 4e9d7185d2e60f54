import { getTableColumns, getTableName, is } from "drizzle-orm";
import { getTableConfig, type PgColumn, PgTable } from "drizzle-orm/pg-core";
import * as schema from "./schema/index.ts";
import type { TableRules, WithRules } from "./schema/table.ts";

/** A table with what becomes of its rows. */
export type RuledTable = PgTable & WithRules<TableRules>;

type TableKeys<Schema> = { [Key in keyof Schema]: Schema[Key] extends PgTable ? Key : never }[keyof Schema];

/** The tables of a schema. Only a schema whose tables all have rules is assignable. */
export type Ruled<Schema> = Record<TableKeys<Schema>, RuledTable>;

const everyTableHasRules: Ruled<typeof schema> = schema;

/** Every table of the database, by name. */
export const tables: readonly RuledTable[] = Object.values(everyTableHasRules)
  .filter((value) => is(value, PgTable))
  // Bundles and modules list what they export in different orders.
  .toSorted((one, other) => (getTableName(one) < getTableName(other) ? -1 : 1));

type Tables = { [Key in TableKeys<typeof schema>]: (typeof schema)[Key] };

/** The names, in the database, of the tables whose rules are of a type. */
export type TableName<Rules = TableRules> = {
  [Key in keyof Tables]: Tables[Key] extends WithRules<Rules> ? Tables[Key]["_"]["name"] : never;
}[keyof Tables];

type RulesOfTables = {
  [Key in keyof Tables]: Tables[Key] extends WithRules<infer Rules> ? Rules : never;
}[keyof Tables];

/** The members of the record of a user that tables are exported as. */
export type ExportedMember = Extract<
  RulesOfTables,
  { exported: { as: readonly string[] } }
>["exported"]["as"][number];

/** A column of a table, by its name in the schema. */
export function columnOf(table: PgTable, name: string): PgColumn {
  const column = (getTableColumns(table) as Record<string, PgColumn>)[name];
  if (!column) throw new Error(`${getTableConfig(table).name} has no column ${name}`);
  return column;
}

/** The columns of a table's primary key, in order. */
export function primaryKeyOf(table: PgTable): PgColumn[] {
  const { primaryKeys, columns } = getTableConfig(table);
  return primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
}

/** How rows are deleted with the row of their owner: by foreign keys, or by a statement of their own. */
export type Deletion = "itself" | "cascade" | "statement";

/**
 * Returns how the rows of a table are deleted with the row that they belong to.
 *
 * @param owner the table of accounts, or of tenants
 */
export function deletionWith(owner: PgTable, table: PgTable): Deletion {
  if (table === owner) return "itself";
  const cascades = getTableConfig(table).foreignKeys.some(
    (key) => key.onDelete === "cascade" && deletionWith(owner, key.reference().foreignTable) !== "statement",
  );
  return cascades ? "cascade" : "statement";
}
