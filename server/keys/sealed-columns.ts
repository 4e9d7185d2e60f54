import { type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { StartError } from "../config/errors.ts";
import { keyIdOf, type Vault } from "./vault.ts";

/**
 * A column whose values stay sealed for as long as their row lives. What is sealed for minutes alone, such as codes
 * in jobs and material of flows, is not among them: it is gone before its key may go.
 */
export interface SealedColumn {
  /** What lies there, for the operator. */
  holds: string;
  table: string;
  column: string;
  /** The primary key, in order. */
  key: readonly string[];
  /** A column that repeats the name of the key that sealed, in hexadecimal. */
  sealedBy?: string;
  /** Further columns that the context is made of. */
  reads?: readonly string[];
  /** What a value is sealed for. */
  context(row: Record<string, string>): string;
}

/** Whether a row's value was sealed by another key than these. An erased value was sealed by none. */
export function sealedByOther({ column }: SealedColumn, keyIds: readonly string[]): SQL {
  const value = sql.identifier(column);
  const known = sql.param(keyIds.map((id) => Buffer.from(id, "hex")));
  return sql`length(${value}) > 0 and substring(${value} from ${keyIdOf.start}::int for ${keyIdOf.length}::int) <> all (${known}::bytea[])`;
}

/**
 * Checks that every value sealed in the database can be unsealed with the configured keys.
 *
 * @throws StartError that names a key which is not configured, and what it sealed
 */
export async function checkSealingKeys(
  { read }: Pick<Database, "read">,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<void> {
  for (const sealed of columns) {
    const value = sql.identifier(sealed.column);
    const { rows } = await read.execute<{ name: string }>(sql`
      select encode(substring(${value} from ${keyIdOf.start}::int for ${keyIdOf.length}::int), 'hex') as name
      from ${sql.identifier(sealed.table)} where ${sealedByOther(sealed, vault.keyIds)} limit 1`);
    const [found] = rows;
    if (found) {
      throw new StartError(
        `SECRET_KEYS lacks the key that sealed ${sealed.holds} in the database (its name is ${found.name})`,
      );
    }
  }
}
