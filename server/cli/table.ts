/** Control characters, line breaks and direction marks, with which a name would move the cursor or forge a row. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const escaped = (cell: string) =>
  cell.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Formats a table with aligned columns. Cells may come from others: control characters in them are escaped. */
export function table(heads: readonly string[], unescaped: readonly (readonly string[])[]): string[] {
  const rows = unescaped.map((row) => row.map(escaped));
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
