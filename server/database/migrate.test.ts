import { describe, expect, inject, it } from "vitest";
import { StartError } from "../config/errors.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { freePort } from "./cluster.ts";
import { migrateDatabase } from "./migrate.ts";

const tenant = { id: "00000000-0000-4000-8000-000000000001", name: "Stile" };

describe("the migration", () => {
  const emptyDatabase = async (name: string) => {
    const { adminUrl, ownerUrl } = inject("postgres");
    await withClient(adminUrl, (client) => client.query(`create database ${name} owner stile`));
    return ownerUrl.replace(/[^/]+$/, name);
  };
  const tenants = (url: string) =>
    withClient(url, async (client) => (await client.query("select id, name from tenants")).rows);

  it("runs once for servers that start concurrently on an empty database", async () => {
    const url = await emptyDatabase("migrate_at_once");
    await Promise.all(Array.from({ length: 8 }, () => migrateDatabase(url, tenant)));
    expect(await tenants(url)).toEqual([tenant]);
    const { rowCount } = await withClient(url, (client) =>
      client.query(
        `select from pg_locks l join pg_database d on d.oid = l.database
         where locktype = 'advisory' and datname = current_database()`,
      ),
    );
    expect(rowCount).toBe(0);
  });

  it("renames the default tenant to its configured name", async () => {
    const url = await emptyDatabase("migrate_name");
    await migrateDatabase(url, tenant);
    await migrateDatabase(url, { ...tenant, name: "Turnstile" });
    expect(await tenants(url)).toEqual([{ ...tenant, name: "Turnstile" }]);
  });

  it("A125 reports an unreachable database in one line without its password", async () => {
    const url = `postgres://stile:secret@127.0.0.1:${await freePort()}/stile`;
    const failure = await migrateDatabase(url, tenant).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartError);
    expect((failure as Error).message).toMatch(/^the database cannot be reached: .*ECONNREFUSED/);
    expect((failure as Error).message).not.toMatch(/secret|\n/);
  });
});
