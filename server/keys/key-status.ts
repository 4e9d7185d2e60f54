import { getTableName, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { columnOf, tables } from "#db/tables";
import { DIGEST_BYTES, keyIdOf, type Vault } from "./vault.ts";

/** A kind of values that are stored under a secret key. */
export interface KeyedValues {
  /** For the operator. */
  holds: string;
  table: string;
  column: string;
  kind: "sealed" | "digest";
  /** The column with the id of the key, if the value itself does not begin with it. */
  keyColumn?: string;
  /** What happens to them when the key changes: moved by `secrets reseal`, gone by themselves, or replaced by users. */
  after: "reseal" | "expiry" | "replacement";
}

/** In this order: what the operator can do something about comes first. */
const order: KeyedValues["after"][] = ["reseal", "replacement", "expiry"];

/** Every kind of values that the database holds under a secret key. */
export const keyedValues: readonly KeyedValues[] = tables
  .flatMap((table) =>
    Object.entries(rulesOf(table).keyed ?? {}).flatMap(([column, rule]) => {
      if (!rule) return [];
      const { holds, kind, after } = rule;
      const values = { holds, kind, after, table: getTableName(table), column: columnOf(table, column).name };
      return kind === "digest" ? { ...values, keyColumn: columnOf(table, rule.keyColumn).name } : values;
    }),
  )
  .toSorted((one, other) => order.indexOf(one.after) - order.indexOf(other.after));

/** How many values of one kind are stored under one key. */
export interface KeyCount extends Pick<KeyedValues, "holds" | "after"> {
  /** Id of the key; null for a digest of an earlier version, which names no key. */
  key: string | null;
  /** The key's place in `SECRET_KEYS`, from 1; null if it is not configured, or not named. */
  place: number | null;
  count: number;
}

/** Counts the stored values by kind and key: in the order of `keyedValues`, configured keys first. */
export async function countByKey(
  { read }: Pick<Database, "read">,
  { keyIds }: Pick<Vault, "keyIds">,
): Promise<KeyCount[]> {
  const counts: KeyCount[] = [];
  for (const { holds, after, table, column, kind, keyColumn } of keyedValues) {
    const value = sql.identifier(column);
    const key = keyColumn ? sql`encode(${sql.identifier(keyColumn)}, 'hex')` : keyOf(value, kind);
    const { rows } = await read.execute<{ key: string | null; count: number }>(sql`
      select ${key} as key, count(*)::int as count
      from ${sql.identifier(table)} where length(${value}) > 0 group by 1 order by 1`);
    const found = rows.map(({ key, count }): KeyCount => {
      const index = key === null ? -1 : keyIds.indexOf(key);
      return { holds, after, key, place: index < 0 ? null : index + 1, count };
    });
    counts.push(...found.toSorted((one, other) => (one.place ?? Infinity) - (other.place ?? Infinity)));
  }
  return counts;
}

function keyOf(value: SQLWrapper, kind: KeyedValues["kind"]): SQL {
  const { start, length } = keyIdOf[kind];
  const id = sql`encode(substring(${value} from ${start}::int for ${length}::int), 'hex')`;
  return kind === "sealed" ? id : sql`case when length(${value}) = ${DIGEST_BYTES}::int then ${id} end`;
}
