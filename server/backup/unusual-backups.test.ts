import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { createTables, knownMigrations } from "../database/migrate.ts";
import { emptyDatabase, fillDatabase } from "../testing/filled-database.ts";
import { folderForTests, openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { runStile } from "../testing/stile.ts";
import { type Header, writeBackupFile } from "./backup-file.ts";
import { readRows } from "./copied-tables.ts";

const { adminUrl, ownerUrl } = inject("postgres");
const folder = folderForTests("backups of other versions");
const root = join(import.meta.dirname, "../..");
const tenantId = "00000000-0000-4000-8000-000000000001";
const source = await openForTests(testDatabase());
await fillDatabase(source);

const environmentOf = (url: string) => ({
  ...(process.env.PATH === undefined ? {} : { PATH: process.env.PATH }),
  NODE_ENV: "development" as const,
  DATABASE_URL: url,
  SECRET_KEYS: "a key for tests alone",
});

const stile = (url: string, words: string[]) => runStile(words, { cwd: folder, env: environmentOf(url) });

const newDatabase = () => emptyDatabase(adminUrl, ownerUrl);

const newest = knownMigrations().at(-1) ?? { name: "", time: 0 };

/** Writes a file as a version does whose header differs. The rows are read from a database. */
async function writeFileOf(changes: Partial<Header>, url: string): Promise<string> {
  const file = join(folder, randomBytes(6).toString("hex"));
  const parts: Buffer[] = [];
  const header = {
    stile: "0.3.7",
    migration: newest,
    created_at: new Date().toISOString(),
    tables: [],
    ...changes,
  };
  await withClient(url, async (client) => {
    const write = async (bytes: Buffer) => void parts.push(bytes);
    const backup = await writeBackupFile(write, header, undefined);
    for (const table of header.tables) await backup.table(readRows(client, table));
    await backup.close([]);
  });
  writeFileSync(file, Buffer.concat(parts));
  return file;
}

const tenants = { schema: "public", name: "tenants", columns: ["id", "name"] };

describe("a backup of another version", () => {
  test("is restored with the tables of its migration, and then migrated", async () => {
    const [former, url] = [await newDatabase(), await newDatabase()];
    const migration = knownMigrations()[10] ?? newest;
    await withClient(former, async (client) => {
      await client.query("begin");
      await createTables(client, migration.time);
      await client.query("insert into tenants (id, name) values ($1, 'Of long ago')", [tenantId]);
      await client.query(
        "insert into users (tenant_id, id) select $1, gen_random_uuid() from generate_series(1, 50)",
        [tenantId],
      );
      await client.query("commit");
    });
    const users = { schema: "public", name: "users", columns: ["tenant_id", "id", "created_at"] };
    const file = await writeFileOf({ migration, tables: [tenants, users] }, former);
    expect(await stile(url, ["restore", file])).toMatchObject({ code: 0, out: "51 rows restored\n" });
    const read = (at: string) =>
      withClient(
        at,
        async (client) => (await client.query("select id, created_at from users order by 1")).rows,
      );
    expect(await read(url)).toEqual(await read(former));
    expect(await stile(url, ["users", "list"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^(.+\n){50}$/),
    });
  });

  test.each([
    [
      "a later migration",
      { migration: { name: "0999_later", time: newest.time + 1 } },
      "of a later version, 0.3.7",
    ],
    ["a migration of its own", { migration: { name: "0000_own", time: 1 } }, "it has no migration 0000_own"],
    [
      "a column of its own",
      { tables: [{ ...tenants, columns: ["id", "name", "colour"] }] },
      "has no column colour of tenants: restore the backup with version 0.3.7",
    ],
    [
      "a name that is a statement",
      { tables: [{ ...tenants, name: 'tenants"; drop table "tenants' }] },
      "has no column id of tenants",
    ],
    [
      "a schema of its own",
      { tables: [{ ...tenants, schema: "pg_catalog", name: "pg_authid" }] },
      "is damaged",
    ],
  ] as const)("is refused with %s, and nothing is written", async (_, changes, reason) => {
    const url = await newDatabase();
    const parts: Buffer[] = [];
    const header = { stile: "0.3.7", migration: newest, created_at: new Date().toISOString(), tables: [] };
    const backup = await writeBackupFile(
      async (bytes) => void parts.push(bytes),
      { ...header, ...(changes as object) },
      undefined,
    );
    async function* noRows(): AsyncGenerator<Buffer> {}
    for (const _table of "tables" in changes ? changes.tables : []) await backup.table(noRows());
    await backup.close([]);
    const file = join(folder, randomBytes(6).toString("hex"));
    writeFileSync(file, Buffer.concat(parts));
    expect(await stile(url, ["restore", file])).toMatchObject({
      code: 1,
      err: expect.stringContaining(reason),
    });
    expect(await stile(url, ["restore", await emptyBackup()])).toMatchObject({ code: 0 });
  });

  test("is refused if the database stores its rows otherwise, and nothing is written", async () => {
    const url = await newDatabase();
    const parts: Buffer[] = [];
    const backup = await writeBackupFile(
      async (bytes) => void parts.push(bytes),
      { stile: "0.3.7", migration: newest, created_at: new Date().toISOString(), tables: [tenants] },
      undefined,
    );
    async function* inCapitals() {
      yield Buffer.from("00000000-0000-4000-8000-00000000000A\tAcme\n");
    }
    await backup.table(inCapitals());
    await backup.close([]);
    const file = join(folder, randomBytes(6).toString("hex"));
    writeFileSync(file, Buffer.concat(parts));
    expect(await stile(url, ["restore", "--check", file])).toMatchObject({ code: 0 });
    expect(await stile(url, ["restore", file])).toMatchObject({
      code: 1,
      err: "stile: the database has other rows in tenants than the backup\n",
    });
    expect(await stile(url, ["restore", await emptyBackup()])).toMatchObject({ code: 0 });
  });

  test("is refused in another format", async () => {
    const file = await emptyBackup();
    const bytes = readFileSync(file);
    bytes["STILE-BACKUP".length] = 2;
    writeFileSync(file, bytes);
    expect(await stile("", ["restore", "--check", file])).toMatchObject({
      code: 1,
      err: "stile: the backup has the format 2, and this version reads 1: restore it with a later version\n",
    });
  });

  test("is refused if a later release has used its database, beside which this one may not run", async () => {
    const url = await newDatabase();
    const later = await openForTests(testDatabase());
    await later.database.write.$client.query(
      "insert into releases (version, oldest_beside) values ('9.0.0', '8.0.0')",
    );
    const releases = {
      schema: "public",
      name: "releases",
      columns: ["version", "oldest_beside", "first_used_at"],
    };
    const file = await writeFileOf({ tables: [releases] }, later.url);
    expect(await stile(url, ["restore", file])).toMatchObject({ code: 3 });
    expect(await stile(url, ["restore", await emptyBackup()])).toMatchObject({ code: 0 });
  });
});

/** A backup without tables. It restores into an empty database alone. */
const emptyBackup = () => writeFileOf({}, source.url);

describe("a disk without room", () => {
  const program = join(root, "bin/stile.js");

  test("ends a backup with one line, and leaves no file", () => {
    const names = readdirSync(folder);
    const file = join(folder, "too-long.backup");
    // The same as a full disk, but for the code of the error.
    const limited = spawnSync(
      "sh",
      ["-c", 'ulimit -f 16 && exec "$@"', "sh", process.execPath, program, "backup", file],
      {
        cwd: folder,
        env: environmentOf(source.url),
        encoding: "utf8",
      },
    );
    expect([limited.status, limited.stdout, limited.stderr]).toEqual([
      1,
      "",
      `stile: ${file} cannot be written: EFBIG\n`,
    ]);
    expect(readdirSync(folder)).toEqual(names);
  });

  test.skipIf(process.platform !== "linux")("fails a backup that is written to standard output", () => {
    const full = spawnSync(process.execPath, [program, "backup", "-"], {
      cwd: folder,
      env: environmentOf(source.url),
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
      encoding: "utf8",
    });
    expect([full.status, full.stderr]).toEqual([1, "stile: the output cannot be written: ENOSPC\n"]);
  });

  test("or a reader that goes away fails it too", () => {
    const gone = spawnSync(
      "sh",
      ["-c", '{ "$@"; echo "ended with $?" >&2; } | true', "sh", process.execPath, program, "backup", "-"],
      {
        cwd: folder,
        env: environmentOf(source.url),
        encoding: "utf8",
      },
    );
    expect(gone.stderr).toBe("stile: the output cannot be written: EPIPE\nended with 1\n");
  });
});
