/**
 * Returns SQL of a time as `Date.prototype.toISOString` writes it; null stays null.
 *
 * @param column SQL of a `timestamptz`
 */
export const isoTime = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
