import type { Cli } from "./command.ts";
import { escapeControls } from "./escape-controls.ts";

/** Formats a table with aligned columns. Cells may come from others: control characters in them are escaped. */
export function table(heads: readonly string[], unescaped: readonly (readonly string[])[]): string[] {
  const rows = unescaped.map((row) => row.map(escapeControls));
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [heads, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The columns of a table by their heads: a member of each row, or a function that makes a text of it. */
export type Columns<Row> = Readonly<Record<string, keyof Row | ((row: Row) => string)>>;

/** Prints rows as a table. Of a member, times are shown in ISO 8601, and what is absent as "-". */
export async function printTable<Row extends object>(
  cli: Pick<Cli, "print">,
  rows: readonly Row[],
  columns: Columns<Row>,
): Promise<void> {
  const cells = rows.map((row) =>
    Object.values(columns).map((column) =>
      typeof column === "function" ? column(row) : textOf(row[column]),
    ),
  );
  for (const line of table(Object.keys(columns), cells)) await cli.print(line);
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value ?? "-");
}
