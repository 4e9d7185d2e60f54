import { getTableColumns, getTableName } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { schema } from "./client.ts";
import { partsOf, rulesOf } from "./schema/table.ts";
import { columnOf, deletionWith, primaryKeyOf, tables } from "./tables.ts";

const database = await openForTests(testDatabase());

const query = async <Row extends object>(text: string): Promise<Row[]> =>
  (await database.database.read.$client.query<Row>(text)).rows;

/** The tables whose rows PostgreSQL deletes with a row of a table, directly or by others in between. */
async function cascadesFrom(table: string): Promise<string[]> {
  const keys = await query<{ from: string; to: string }>(
    `select conrelid::regclass::text as from, confrelid::regclass::text as to
    from pg_constraint where contype = 'f' and confdeltype = 'c'`,
  );
  const reached = new Set([table]);
  for (let size = 0; size < reached.size; ) {
    size = reached.size;
    for (const { from, to } of keys) if (reached.has(to)) reached.add(from);
  }
  reached.delete(table);
  return [...reached].toSorted();
}

describe("the rules of tables", () => {
  test("are those of every table of the migrated database", async () => {
    const found = await query<{ name: string }>(
      `select format('%I.%I', relnamespace::regnamespace::text, relname) as name from pg_catalog.pg_class
      where relkind in ('r', 'p') and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')`,
    );
    // The migrator's own record.
    const ours = found.map(({ name }) => name).filter((name) => !name.startsWith("drizzle."));
    expect(ours.toSorted()).toEqual(tables.map((table) => `public.${getTableName(table)}`));
  });

  test("name columns that the database has", async () => {
    const found = await query<{ name: string; type: string }>(
      "select table_name || '.' || column_name as name, udt_name as type from information_schema.columns where table_schema = 'public'",
    );
    const types = new Map(found.map(({ name, type }) => [name, type]));
    for (const table of tables) {
      const typeOf = (name: string) => types.get(`${getTableName(table)}.${columnOf(table, name).name}`);
      const { keyed = {}, purge, erase } = rulesOf(table);
      for (const rule of [purge, erase]) {
        const named = [rule?.by, ...(rule?.under ?? []), ...Object.keys(erase?.columns ?? {})];
        for (const name of named)
          if (typeof name === "string") expect([name, typeOf(name)]).not.toContain(undefined);
      }
      for (const [name, rule] of Object.entries(keyed)) {
        expect([name, typeOf(name)]).toEqual([name, "bytea"]);
        if (rule?.kind === "digest") expect(typeOf(rule.keyColumn)).toBe("bytea");
        if (rule?.kind !== "sealed") continue;
        const parts = partsOf(rule.context);
        // Resealing reads the values of the context as text.
        const allowed = rule.after === "reseal" ? ["uuid", "text"] : ["uuid", "text", "bytea", "int4"];
        expect(parts.filter((part) => !allowed.includes(typeOf(part) ?? ""))).toEqual([]);
        const keys = primaryKeyOf(table).map((column) => column.name);
        expect(parts.map((part) => columnOf(table, part).name)).toEqual(expect.arrayContaining(keys));
      }
    }
  });

  test("give every sealed value a context that no other kind of values can have", () => {
    const contexts = tables.flatMap((table) =>
      Object.values(rulesOf(table).keyed ?? {}).flatMap((rule) =>
        rule?.kind === "sealed" ? rule.context : [],
      ),
    );
    const shapes = contexts.map((context) => context.replace(/\{\w+\}/g, "{}"));
    expect(shapes.length).toBeGreaterThan(10);
    expect([...new Set(shapes)]).toEqual(shapes);
  });

  test.each(["tenant", "account"] as const)(
    "derive `cascade` where foreign keys of the database delete the rows of a deleted %s, and `statement` where none does",
    async (kind) => {
      const owner = kind === "tenant" ? schema.tenants : schema.users;
      const owned = tables.filter((table) => {
        const rules = rulesOf(table);
        return rules.owner === "account" || (kind === "tenant" && rules.owner === "tenant");
      });
      const cascading = owned.filter((table) => deletionWith(owner, table) === "cascade");
      expect(cascading.length).toBeGreaterThan(8);
      expect(cascading.map(getTableName)).toEqual(await cascadesFrom(getTableName(owner)));
      const remaining = owned.filter((table) => !cascading.includes(table));
      expect(new Set(remaining.map((table) => deletionWith(owner, table)))).toEqual(
        new Set(["itself", "statement"]),
      );
    },
  );

  test("say that a table is of tenants if its rows have a tenant, and of accounts if they are deleted by their user", () => {
    for (const table of tables) {
      const rules = rulesOf(table);
      const isOf = (name: string) => name in getTableColumns(table);
      const isDeletedByUser = deletionWith(schema.users, table) === "statement" || "revoked" in rules;
      const needed = [
        ...(rules.owner !== "deployment" && table !== schema.tenants ? ["tenantId"] : []),
        ...(rules.owner === "account" && isDeletedByUser ? ["userId"] : []),
      ];
      expect([getTableName(table), needed.filter((name) => !isOf(name))]).toEqual([getTableName(table), []]);
      if (rules.owner === "deployment") expect([getTableName(table), isOf("tenantId")]).toContain(false);
    }
  });
});
