import { getTableName, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { filledContext, partsOf, rulesOf } from "#db/schema/table";
import { columnOf, primaryKeyOf, tables } from "#db/tables";
import { StartError } from "../config/errors.ts";
import { keyIdOf, type Vault } from "./vault.ts";

/** A column whose values are sealed for as long as their row exists. Columns have their names in the database. */
export interface SealedColumn {
  /** The kind of the values, for messages to the operator. */
  holds: string;
  table: string;
  column: string;
  /** The primary key, in order. */
  key: readonly string[];
  /** A column that repeats the id of the sealing key, in hexadecimal. */
  sealedBy: string | undefined;
  /** The columns that `context` reads. */
  reads: readonly string[];
  /** The context that a value is sealed for. */
  context(row: Readonly<Record<string, string>>): string;
}

/**
 * Every such column. Values that are sealed for minutes, such as codes in jobs and flow data, are not among them: they
 * expire before their key is removed.
 */
export const sealedColumns: readonly SealedColumn[] = tables.flatMap((table) => {
  const nameOf = (column: string) => columnOf(table, column).name;
  return Object.entries(rulesOf(table).keyed ?? {}).flatMap(([column, rule]) => {
    if (rule?.kind !== "sealed" || rule.after !== "reseal") return [];
    return {
      holds: rule.holds,
      table: getTableName(table),
      column: nameOf(column),
      key: primaryKeyOf(table).map(({ name }) => name),
      sealedBy: rule.sealedBy === undefined ? undefined : nameOf(rule.sealedBy),
      reads: partsOf(rule.context).map(nameOf),
      context: (row) => filledContext(rule.context, (part) => row[nameOf(part)] ?? ""),
    };
  });
});

/** SQL: the id of the key that a value was sealed by. */
const sealingKeyOf = (value: SQLWrapper) =>
  sql`substring(${value} from ${keyIdOf.sealed.start}::int for ${keyIdOf.sealed.length}::int)`;

/** SQL condition: the value was sealed by one of these keys. */
export function isSealedByOneOf(value: SQLWrapper, keyIds: readonly string[]): SQL {
  return sql`${sealingKeyOf(value)} = any (${idBytes(keyIds)}::bytea[])`;
}

const idBytes = (keyIds: readonly string[]) => sql.param(keyIds.map((id) => Buffer.from(id, "hex")));

/** SQL condition: the value was sealed by none of these keys and is not erased. */
export function sealedByOther({ column }: SealedColumn, keyIds: readonly string[]): SQL {
  const value = sql.identifier(column);
  return sql`length(${value}) > 0 and ${sealingKeyOf(value)} <> all (${idBytes(keyIds)}::bytea[])`;
}

/**
 * Checks that every value sealed in the database can be unsealed with the configured keys.
 *
 * @throws StartError naming a key that is not configured and the kind of its values
 */
export async function checkSealingKeys({ read }: Pick<Database, "read">, vault: Vault): Promise<void> {
  for (const sealed of sealedColumns) {
    const value = sql.identifier(sealed.column);
    const { rows } = await read.execute<{ name: string }>(sql`
      select encode(${sealingKeyOf(value)}, 'hex') as name
      from ${sql.identifier(sealed.table)} where ${sealedByOther(sealed, vault.keyIds)} limit 1`);
    const [found] = rows;
    if (found) {
      throw new StartError(
        `SECRET_KEYS lacks the key that sealed ${sealed.holds} in the database (its name is ${found.name})`,
      );
    }
  }
}
