import { getTableColumns, type Table } from "drizzle-orm";

/** Rows of a table as `row_to_json` gives them. */
export type JsonRow = Record<string, unknown>;

/** Converts a row that PostgreSQL has converted to JSON: moments to `Date`, bytes to `Buffer`. */
export function rowOfJson<Of extends Table>(table: Of, json: JsonRow): Of["$inferSelect"] {
  const entries = Object.entries(getTableColumns(table)).map(([property, column]) => {
    const value = json[column.name];
    if (value === null || value === undefined) return [property, null];
    if (column.dataType === "date") return [property, new Date(value as string)];
    // PostgreSQL writes bytes as `\\x` and hexadecimal digits.
    if (column.dataType === "custom") return [property, Buffer.from((value as string).slice(2), "hex")];
    return [property, value];
  });
  return Object.fromEntries(entries);
}
