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
