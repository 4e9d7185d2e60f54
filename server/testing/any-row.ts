import type { Database } from "#db/client";

/** SQL expressions of values, by type. */
const anything: Record<string, string> = {
  uuid: "gen_random_uuid()",
  text: "md5(random()::text)",
  _text: "'{}'",
  bytea: "decode(md5(random()::text), 'hex')",
  int2: "0",
  int4: "0",
  int8: "0",
  float4: "0",
  bool: "false",
  jsonb: "'{}'",
  timestamptz: "now()",
};

/**
 * Inserts a row. Columns that need a value and are not given one get any of their type.
 *
 * @param given column → SQL expression
 */
export async function insertAnyRow(
  { write }: Pick<Database, "write">,
  table: string,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const { rows } = await write.$client.query<{ name: string; type: string }>(
    `select column_name as name, udt_name as type from information_schema.columns
    where table_schema = 'public' and table_name = $1 and column_name <> all ($2::text[])
      and is_nullable = 'NO' and column_default is null and is_identity = 'NO'`,
    [table, Object.keys(given)],
  );
  const needed = Object.fromEntries(rows.map(({ name, type }) => [name, anything[type] ?? "null"]));
  const row = { ...needed, ...given };
  await write.$client.query(
    `insert into ${table} (${Object.keys(row).join(", ")}) values (${Object.values(row).join(", ")})`,
  );
}
