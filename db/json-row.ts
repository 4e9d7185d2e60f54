import { getTableColumns, getTableName, type Table } from "drizzle-orm";
import pg from "pg";

/** Rows of a table as `row_to_json` gives them. */
export type JsonRow = Record<string, unknown>;

/** Converts bytes that PostgreSQL has written as text, in either form of its setting `bytea_output`. */
export const bytesOf: (text: string) => Buffer = pg.types.getTypeParser(pg.types.builtins.BYTEA);

/** Converts a row that PostgreSQL has converted to JSON: moments to `Date`, bytes to `Buffer`. */
export function rowOfJson<Of extends Table>(table: Of, json: JsonRow): Of["$inferSelect"] {
  const entries = Object.entries(getTableColumns(table)).map(([property, column]) => {
    const value = json[column.name];
    if (value === null || value === undefined) return [property, null];
    if (column.dataType === "date") return [property, new Date(value as string)];
    if (column.dataType === "custom") return [property, bytesOf(value as string)];
    return [property, value];
  });
  return Object.fromEntries(entries);
}

/** Converts a whole row to the JSON that the statement of `insertOfJson` takes: the inverse of `rowOfJson`. */
export function jsonOfRow<Of extends Table>(table: Of, row: Of["$inferSelect"]): string {
  const entries = Object.entries(getTableColumns(table)).map(([property, column]) => {
    const value = (row as Record<string, unknown>)[property];
    return [column.name, value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/** SQL that inserts a row; its only parameter, $1, is JSON of all columns (`jsonOfRow`). */
export function insertOfJson(table: Table): string {
  const name = getTableName(table);
  const columns = Object.values(getTableColumns(table)).map((column) => column.name);
  return `insert into ${name} (${columns.join(", ")})
    select ${columns.join(", ")} from jsonb_populate_record(null::${name}, $1::jsonb)`;
}
