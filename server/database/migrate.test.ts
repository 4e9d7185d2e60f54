import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { StartError } from "../config/errors.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";
import { migrateDatabase } from "./migrate.ts";

const tenant = { id: "00000000-0000-4000-8000-000000000001", name: "Stile" };

const emptyDatabase = async (name: string) => {
  const { adminUrl, ownerUrl } = inject("postgres");
  await withClient(adminUrl, (client) => client.query(`create database ${name} owner stile`));
  return ownerUrl.replace(/[^/]+$/, name);
};

describe("the migration", () => {
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

/** A database as release 0.2.0 left it, with an account and a flow. */
async function databaseOf02(name: string): Promise<string> {
  const url = await emptyDatabase(name);
  const folder = join(import.meta.dirname, "../../db/migrations");
  const { entries } = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8"));
  await withClient(url, async (client) => {
    await client.query(`create schema drizzle;
      create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`);
    for (const { tag, when } of entries.slice(0, 3)) {
      await client.query(readFileSync(join(folder, `${tag}.sql`), "utf8"));
      await client.query("insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)", [
        tag,
        when,
      ]);
    }
    await client.query(`insert into tenants (id, name) values ('${tenant.id}', 'Stile');
      insert into users (tenant_id, id) values ('${tenant.id}', '${tenant.id}');
      insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload,
          user_id, expires_at)
        values ('${tenant.id}', '${tenant.id}', 'login', 'success', 1, '', '', '{}', '[]', '{}', '${tenant.id}',
          now() + interval '1 hour')`);
  });
  return url;
}

/** Statements of a login in the order in which a step takes their locks, and in the other one. */
const ofAFlow = "update flows set version = version + 1";
const ofAnAccount = "update users set updated_at = now()";
const ofFacts = "select * from flows left join user_facts using (tenant_id, user_id)";

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Records what a migration logs. */
function recorded() {
  const lines: { migration: string; reason?: string }[] = [];
  const add = (line: unknown) => void lines.push(line as (typeof lines)[number]);
  return {
    lines,
    refused: () => lines.filter(({ reason }) => reason),
    log: { info: add, warn: add } as never,
  };
}

describe("the migration of a database in use", () => {
  it("A162 lets logins through while it waits behind a long transaction", async () => {
    const url = await databaseOf02("migrate_long");
    const [long, login] = [await connected(url), await connected(url)];
    await long.query("begin");
    await long.query(ofAnAccount);
    const { log, refused } = recorded();
    const migration = migrateDatabase(url, tenant, { log });
    await eventually(() => expect(refused().length).toBeGreaterThan(0));
    await login.query(ofFacts);
    await login.query(ofAFlow);
    await login.query(ofFacts);
    await long.query("commit");
    await migration;
    expect(refused()[0]).toMatchObject({ reason: "canceling statement due to lock timeout" });
  });

  it("A162 closes no circle with a transaction that holds the account and reads the facts", async () => {
    const url = await databaseOf02("migrate_circle");
    const login = await connected(url);
    await login.query("begin");
    await login.query(ofAnAccount);
    const migration = migrateDatabase(url, tenant);
    await withClient(url, waitsForLock);
    expect((await login.query(ofFacts)).rowCount).toBe(1);
    await login.query(ofAFlow);
    await login.query("commit");
    await migration;
  });

  it("A162 ends no login with a deadlock", async () => {
    const url = await databaseOf02("migrate_logins");
    let isOver = false;
    let logins = 0;
    const logIn = async (statements: string[]) => {
      const client = await connected(url);
      while (!isOver) {
        await client.query("begin");
        for (const statement of statements) await client.query(statement);
        await client.query("commit");
        logins += 1;
      }
    };
    const orders = [
      [ofFacts, ofAnAccount, ofAFlow, ofFacts],
      [ofAnAccount, ofFacts, ofAFlow],
      [ofFacts, ofAnAccount],
    ];
    const running = orders.map(logIn);
    await eventually(() => expect(logins).toBeGreaterThan(10));
    await migrateDatabase(url, tenant);
    const before = logins;
    await eventually(() => expect(logins).toBeGreaterThan(before + 10));
    isOver = true;
    await Promise.all(running);
  });

  it("gives up with one line that names the migration, and goes on where it stopped", async () => {
    const url = await databaseOf02("migrate_resumed");
    const long = await connected(url);
    await long.query("begin");
    await long.query(ofAnAccount);
    const first = recorded();
    await expect(migrateDatabase(url, tenant, { log: first.log, giveUpMs: 0 })).rejects.toThrow(
      /^the migration 00\d\d_\w+ .*got no lock in 0 s: end the transaction that holds it \(pg_stat_activity\)$/,
    );
    await long.query("commit");
    const second = recorded();
    await migrateDatabase(url, tenant, second);
    const steps = [...first.lines, ...second.lines].map(({ migration }) => migration);
    expect(new Set(steps).size).toBe(steps.length);
    const units = await withClient(url, (client) => client.query("table drizzle.__stile_migration_units"));
    expect(units.rows).toEqual([]);
  });
});
