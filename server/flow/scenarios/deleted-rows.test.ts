import { getTableColumns, getTableName } from "drizzle-orm";
import pg from "pg";
import { expect, test } from "vitest";
import { rulesOf } from "#db/schema/table";
import { type RuledTable, tables } from "#db/tables";
import { revokeAccess } from "../../account/access-revocation.ts";
import { deleteAccount } from "../../account/deletion.ts";
import { createTenant, deleteTenant } from "../../tenants/manage-tenants.ts";
import { insertAnyRow } from "../../testing/any-row.ts";
import { grow } from "../../testing/growth.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { type UserIds, userWithEverything } from "../../testing/user-with-everything.ts";
import { commitWrites } from "../../testing/writes.ts";

/** What tables declare of their rows, on a database that has rows in all of them. */

const runtime = await runtimeForTests();

const tablesOfAccounts = tables.filter((table) => rulesOf(table).owner === "account");
const tablesOfTenants = tables.filter((table) => rulesOf(table).owner !== "deployment");

type Counts = Record<string, number>;

async function countRows(
  of: readonly RuledTable[],
  condition: (table: RuledTable) => string,
): Promise<Counts> {
  const counts: Counts = {};
  for (const table of of) {
    const name = getTableName(table);
    const { rows } = await runtime.database.write.$client.query<{ count: number }>(
      `select count(*)::int as count from ${name} where ${condition(table)}`,
    );
    counts[name] = rows[0]?.count ?? -1;
  }
  return counts;
}

const ofUser = ({ id, session_id }: UserIds) =>
  countRows(tablesOfAccounts, (table) => {
    const columns = getTableColumns(table);
    if ("userId" in columns) return `user_id::text = '${id}'`;
    return "sessionId" in columns ? `session_id = '${session_id}'` : `id = '${id}'`;
  });

const ofTenant = (id: string) =>
  countRows(tablesOfTenants, (table) =>
    "tenantId" in getTableColumns(table) ? `tenant_id = '${id}'` : `id = '${id}'`,
  );

/** The same tables, all with one number of rows. */
const each = (counts: Counts, count: number): Counts =>
  Object.fromEntries(Object.keys(counts).map((name) => [name, count]));

const emptyTables = (counts: Counts) => Object.keys(counts).filter((name) => counts[name] === 0);

test("A user with everything has a row in every table of accounts", async () => {
  const counts = await ofUser(await userWithEverything(runtime));
  expect(Object.keys(counts).length).toBeGreaterThan(15);
  expect(emptyTables(counts)).toEqual([]);
});

test("the deletion of an account leaves no row in any table of accounts, and those of another account", async () => {
  const [owner, other] = [await userWithEverything(runtime), await userWithEverything(runtime)];
  const before = await ofUser(other);
  await commitWrites(runtime, deleteAccount({ runtime, tenant: runtime.tenant }, owner.id, null));
  const after = await ofUser(owner);
  expect(after).toEqual(each(after, 0));
  expect(await ofUser(other)).toEqual(before);
});

test("a revocation of access empties the tables that say so, and no other", async () => {
  const owner = await userWithEverything(runtime);
  await runtime.database.write.transaction((tx) =>
    revokeAccess(tx, { runtime, tenant: runtime.tenant }, owner.id, null),
  );
  const revoked = tablesOfAccounts.filter((table) => {
    const rules = rulesOf(table);
    return rules.owner === "account" && (rules.revoked === "access" || rules.revoked === "event");
  });
  // With its session.
  expect(emptyTables(await ofUser(owner))).toEqual(
    [...revoked.map(getTableName), "console_sessions", "handover_codes", "provider_sessions"].toSorted(),
  );
});

test("the deletion of a tenant leaves no row in any table of tenants, and those of another tenant", async () => {
  const made = () => createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
  const [acme, other] = [await made(), await made()];
  await fill(acme.id);
  const before = await ofTenant(acme.id);
  expect(emptyTables(before)).toEqual([]);
  await userWithEverything({ ...runtime, tenant: other });
  const others = await ofTenant(other.id);
  await deleteTenant(runtime, acme.id, { withUsers: true });
  const after = await ofTenant(acme.id);
  expect(after).toEqual(each(after, 0));
  expect(await ofTenant(other.id)).toEqual(others);
});

/** Inserts rows of a tenant into every table of tenants. */
async function fill(tenantId: string): Promise<void> {
  const { connectionString } = runtime.database.write.$client.options;
  const client = new pg.Client({ connectionString });
  await client.connect();
  await grow(client, tenantId, { users: 30, flows: 30, sessions: 30, auditEntries: 30, others: 30 });
  await client.end();
  for (const name of emptyTables(await ofTenant(tenantId)))
    await insertAnyRow(runtime.database, name, { tenant_id: `'${tenantId}'` });
}
