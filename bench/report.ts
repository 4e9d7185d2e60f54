import type { Result } from "./load.ts";

/** One line of the table. */
export interface Row {
  what: string;
  perSecond: number;
  p50: number;
  p99: number;
  /** Milliseconds of processor time of the server's process per request. */
  cpu: number;
  /** Name of the row with the same work by hand, if there is one. */
  sameWork?: string;
}

/**
 * Summarises the measurement.
 *
 * @param cpuMs processor time of the server's process in that time
 */
export function toRow(what: string, result: Result, cpuMs: number, sameWork?: string): Row {
  const sorted = result.latencies.toSorted((a, b) => a - b);
  const percentile = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return {
    what,
    perSecond: sorted.length / result.seconds,
    p50: percentile(0.5),
    p99: percentile(0.99),
    cpu: cpuMs / sorted.length,
    ...(sameWork ? { sameWork } : {}),
  };
}

/** Formats the rows as a table of fixed width. The first row, the bare answer, is the reference. */
export function formatTable(rows: Row[]): string {
  const ratio = (row: Row, other: Row | undefined) =>
    other && other !== row ? (row.perSecond / other.perSecond).toFixed(2) : "";
  const cells = rows.map((row) => [
    row.what,
    row.perSecond.toFixed(0),
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    row.cpu.toFixed(3),
    ratio(row, rows[0]),
    ratio(
      row,
      rows.find((other) => other.what === row.sameWork),
    ),
  ]);
  const lines = [
    ["", "requests/s", "p50 ms", "p99 ms", "CPU ms/request", "of bare", "of the same work by hand"],
    ...cells,
  ];
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}
