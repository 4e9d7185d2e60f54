import { type SQL, sql } from "drizzle-orm";

/**
 * Binds the values of a text, for a query of Drizzle.
 *
 * @param text SQL with `{name}` where a value is
 * @param values the values, or placeholders of them
 */
export function withValues(text: string, values: Readonly<Record<string, unknown>>): SQL {
  const pieces = text.split(/\{(\w+)\}/);
  return sql.join(pieces.map((piece, index) => (index % 2 === 0 ? sql.raw(piece) : sql`${values[piece]}`)));
}
