import { getTableColumns, getTableName, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";

/** What the deletion of an account takes, and what it leaves. */
export interface DeletionPreview {
  /** Rows that go, by table. Tables without one are absent. */
  rows: Record<string, number>;
  /** What is left of the account, by table. */
  remains: Record<string, string>;
}

const taken = tables.filter((table) => rulesOf(table).owner === "account");

const remains = Object.fromEntries(
  tables.flatMap((table) => {
    const rules = rulesOf(table);
    const left = "ofDeletedAccounts" in rules ? rules.ofDeletedAccounts : undefined;
    return left === undefined ? [] : [[getTableName(table), left]];
  }),
);

/** Counts the rows that the deletion of an account takes, by what tables say of their rows. */
export async function previewDeletion(
  read: Database["read"],
  tenantId: string,
  userId: string,
): Promise<DeletionPreview> {
  const counts = taken.map((table) => {
    const name = getTableName(table);
    const columns = getTableColumns(table);
    const ofUser =
      name === "users"
        ? sql`t.id = ${userId}::uuid`
        : "userId" in columns
          ? sql`t.user_id = ${userId}`
          : sql`t.session_id in (select s.id from sessions s where s.tenant_id = ${tenantId} and s.user_id = ${userId})`;
    return sql`select ${name}::text as name, count(*)::int as rows from ${sql.identifier(name)} t
      where t.tenant_id = ${tenantId} and ${ofUser}`;
  });
  const { rows } = await read.execute<{ name: string; rows: number }>(
    sql`select name, rows from (${sql.join(counts, sql` union all `)}) as counted where rows > 0`,
  );
  return { rows: Object.fromEntries(rows.map(({ name, rows: count }) => [name, count])), remains };
}
