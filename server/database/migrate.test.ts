import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished, test } from "vitest";
import { StartError } from "../config/errors.ts";
import { eventually } from "../testing/eventually.ts";
import { migrateFirst } from "../testing/first-migrations.ts";
import { freePort } from "../testing/free-port.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { runStile } from "../testing/stile.ts";
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

/** A database with the first migrations alone. */
async function databaseAfter(name: string, count: number): Promise<string> {
  const url = await emptyDatabase(name);
  await migrateFirst(url, count);
  return url;
}

/** A database as release 0.2.0 left it, with an account and a flow. */
async function databaseOf02(name: string): Promise<string> {
  const url = await databaseAfter(name, 3);
  await withClient(url, (client) =>
    client.query(`insert into users (tenant_id, id) values ('${tenant.id}', '${tenant.id}');
      insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload,
          user_id, expires_at)
        values ('${tenant.id}', '${tenant.id}', 'login', 'success', 1, '', '', '{}', '[]', '{}', '${tenant.id}',
          now() + interval '1 hour')`),
  );
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
  const lines: { migration?: string; reason?: string; index?: string; table?: string; phase?: string }[] = [];
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

describe("a server of release 0.2", () => {
  it("A163 is waited for, and takes no lease afterwards", async () => {
    const url = await databaseOf02("migrate_beside_02");
    const lease = `insert into instances (id, leased_until) values (gen_random_uuid(), now() + interval '1 second')`;
    await withClient(url, (client) => client.query(lease));
    const { log, lines } = recorded();
    await migrateDatabase(url, tenant, { log });
    expect(lines[0]).toEqual({ reason: "a server of release 0.2 runs, or was killed a minute ago" });
    await expect(withClient(url, (client) => client.query(lease))).rejects.toThrow("not-null constraint");
  });
});

test("the command line tells what a migration waits for", async () => {
  const url = await databaseOf02("migrate_told");
  await withClient(url, (client) =>
    client.query("insert into instances values (gen_random_uuid(), now() + interval '1 second')"),
  );
  const { code, out, err } = await runStile(["migrate"], {
    cwd: import.meta.dirname,
    // Keys of its own, because a service without any leaves new ones in a folder beside its sources.
    env: { NODE_ENV: "development", DATABASE_URL: url, SECRET_KEYS: "a key for tests alone" },
  });
  expect({ code, out }).toEqual({ code: 0, out: "OK\n" });
  expect(err).toContain(
    "stile: the migration waits (reason a server of release 0.2 runs, or was killed a minute ago)\n",
  );
});

describe("an index of a long table", () => {
  const names = ["emails_beginning", "users_name", "users_family_name"];

  const states = (url: string) =>
    withClient(url, async (client) => {
      const { rows } = await client.query<{ name: string; isValid: boolean }>(
        `select indexrelid::regclass::text as name, indisvalid as "isValid" from pg_index
        where indexrelid::regclass::text = any ($1)`,
        [names],
      );
      return Object.fromEntries(rows.map(({ name, isValid }) => [name, isValid]));
    });
  const allValid = Object.fromEntries(names.map((name) => [name, true]));

  /** A database before migration 0042, with more users than are indexed under a lock, one of whom is written by a transaction. */
  async function longDatabase(name: string) {
    const url = await databaseAfter(name, 42);
    const writer = await connected(url);
    await writer.query(`insert into users (tenant_id, id, name)
      select '${tenant.id}', gen_random_uuid(), repeat('name', 10) from generate_series(1, 100000)`);
    await writer.query(`insert into emails (tenant_id, id, user_id, address, is_primary)
      select tenant_id, gen_random_uuid(), id, id || '@example.com', true from users`);
    const [one, other] = (await writer.query<{ id: string }>("select id from emails limit 2")).rows;
    const verify = "update emails set verified_at = now() where id = $1";
    return {
      url,
      begin: async () => {
        await writer.query("begin");
        await writer.query(verify, [one?.id]);
      },
      end: () => writer.query("commit"),
      writeMeanwhile: () => withClient(url, (client) => client.query(verify, [other?.id])),
    };
  }

  /** Waits until builds wait for the transaction, and returns their processes. */
  const waitingBuilds = (url: string, count = 1) =>
    withClient(url, (client) =>
      eventually(async () => {
        const { rows } = await client.query<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
            and query like '%INDEX CONCURRENTLY%' and pid <> pg_backend_pid()`,
        );
        if (rows.length < count) throw new Error(`${rows.length} builds wait`);
        return rows.map(({ pid }) => pid);
      }),
    );

  it("A366 is built while others write, and waits for those who wrote before", async () => {
    const { url, begin, end, writeMeanwhile } = await longDatabase("migrate_index");
    const { log, lines } = recorded();
    await begin();
    const migration = migrateDatabase(url, tenant, { log });
    await waitingBuilds(url);
    await writeMeanwhile();
    await end();
    await migration;
    expect(await states(url)).toEqual(allValid);
    expect(lines).toContainEqual({ index: "emails_beginning", table: "emails" });
  });

  it("A366 is built again after the migration was killed", async () => {
    const { url, begin, end } = await longDatabase("migrate_index_killed");
    await begin();
    const killed = migrateDatabase(url, tenant);
    const failure = expect(killed).rejects.toThrow();
    const [pid] = await waitingBuilds(url);
    await withClient(url, (client) => client.query("select pg_terminate_backend($1)", [pid]));
    await failure;
    // It is not there yet where a vacuum had the lock of the table.
    expect((await states(url)).emails_beginning).not.toBe(true);
    await end();
    await withClient(url, (client) =>
      client.query("update drizzle.__stile_index_builds set claimed_until = now()"),
    );
    await migrateDatabase(url, tenant);
    expect(await states(url)).toEqual(allValid);
  });

  /** Migrates by several servers, while a transaction writes and an analysis takes the lock of builds. */
  async function migrateAtOnce(name: string, { begin, end, url }: Awaited<ReturnType<typeof longDatabase>>) {
    const { log, lines } = recorded();
    const analysis = await connected(url);
    await analysis.query("begin");
    await analysis.query("lock table emails in share update exclusive mode");
    await begin();
    const migrations = [1, 2, 3].map(() => migrateDatabase(url, tenant, { log }));
    await waitingBuilds(url);
    await pause(1_500);
    await analysis.query("commit");
    await end();
    await Promise.all(migrations);
    expect(await states(url)).toEqual(allValid);
    const { logFile } = inject("postgres");
    const deadlocks = readFileSync(logFile, "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${name} `) && line.includes("deadlock"));
    expect(deadlocks).toEqual([]);
    return lines.flatMap(({ index, phase }) => (index && !phase ? [index] : []));
  }

  it("A366 is built once by servers that start at once", async () => {
    const built = await migrateAtOnce("migrate_index_at_once", await longDatabase("migrate_index_at_once"));
    expect(built.toSorted()).toEqual(names.toSorted());
  });

  it("A366 is built once by servers that start at once after one was killed", async () => {
    const database = await longDatabase("migrate_index_anew");
    await database.begin();
    const killed = expect(migrateDatabase(database.url, tenant)).rejects.toThrow();
    const [pid] = await waitingBuilds(database.url);
    await withClient(database.url, (client) => client.query("select pg_terminate_backend($1)", [pid]));
    await killed;
    await database.end();
    await withClient(database.url, (client) =>
      client.query("update drizzle.__stile_index_builds set claimed_until = now()"),
    );
    const built = await migrateAtOnce("migrate_index_anew", database);
    expect(built.toSorted()).toEqual(names.toSorted());
  });

  it("A366 is built where statements of the role have limits of time", async () => {
    const database = await longDatabase("migrate_index_limited");
    for (const name of ["lock_timeout", "statement_timeout"])
      await withClient(database.url, (client) =>
        client.query(`alter database migrate_index_limited set ${name} = '400ms'`),
      );
    const { log, lines } = recorded();
    await database.begin();
    const migration = migrateDatabase(database.url, tenant, { log });
    await waitingBuilds(database.url);
    await pause(1_000);
    await database.end();
    await migration;
    expect(await states(database.url)).toEqual(allValid);
    expect(lines.filter(({ index }) => index === "emails_beginning")).toHaveLength(1);
  });

  it("whose name something else has ends the migration with the error of the database", async () => {
    const { url } = await longDatabase("migrate_index_name");
    await withClient(url, (client) => client.query("create view users_name as select 1 as one"));
    await expect(migrateDatabase(url, tenant)).rejects.toThrow('relation "users_name" already exists');
  });
});
