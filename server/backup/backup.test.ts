import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, inject, test } from "vitest";
import { contentOf, emptyDatabase, fillDatabase } from "../testing/filled-database.ts";
import { folderForTests, openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { runStile } from "../testing/stile.ts";
import { BackupError } from "./backup-error.ts";
import { checkBackup } from "./backup-file.ts";

const { adminUrl } = inject("postgres");
const source = await openForTests(testDatabase());
await fillDatabase(source);
const folder = folderForTests("backup");
const key = "a key of backups that only tests use";
const newFile = () => join(folder, randomBytes(6).toString("hex"));
const newDatabase = () => emptyDatabase(adminUrl, source.url);

const stile = (
  url: string,
  words: string[],
  { env = {}, input, ...live }: { env?: object; input?: Uint8Array } & Parameters<typeof runStile>[2] = {},
) =>
  runStile(
    words,
    {
      cwd: folder,
      env: { NODE_ENV: "development", DATABASE_URL: url, SECRET_KEYS: "a key for tests alone", ...env },
      input,
    },
    live,
  );

/** Writes a backup of the filled database. */
async function backUp(...options: string[]): Promise<string> {
  const file = newFile();
  expect(await stile(source.url, ["backup", file, ...options])).toMatchObject({ code: 0, err: "" });
  return file;
}

const isEmpty = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query(
      "select relname from pg_class where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'",
    );
    const { rows: schemas } = await client.query(
      "select nspname from pg_namespace where nspname !~ '^(pg_|information_schema|public)'",
    );
    return rows.length + schemas.length === 0;
  });

const aLine = (pattern: string) => expect.stringMatching(new RegExp(`^stile: [^\\n]*${pattern}[^\\n]*\\n$`));

describe("a backup", () => {
  test("restores every row of every table, the jobs that wait and the sequences", async () => {
    const file = await backUp();
    const url = await newDatabase();
    const expected = await contentOf(source.url);
    expect(Object.entries(expected).filter(([, rows]) => rows.length === 0)).toEqual([]);
    expect(await stile(url, ["restore", file])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+ rows restored\n$/),
      err: "",
    });
    expect(await contentOf(url)).toEqual(expected);
    const sequence = (at: string) =>
      withClient(at, async (client) => (await client.query("select nextval('events_sequence_seq')")).rows);
    expect(await sequence(url)).toEqual(await sequence(source.url));
  });

  test("leaves the schema as a migration makes it, foreign keys and triggers included", async () => {
    const file = await backUp();
    const url = await newDatabase();
    await stile(url, ["restore", file]);
    const rules = (at: string) =>
      withClient(at, async (client) => [
        (
          await client.query(
            "select conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated from pg_constraint order by 1, 2",
          )
        ).rows,
        (
          await client.query(
            "select tgrelid::regclass::text, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2",
          )
        ).rows,
        (await client.query("select indexdef from pg_indexes where schemaname = 'public' order by 1")).rows,
      ]);
    expect(await rules(url)).toEqual(await rules(source.url));
  });

  test("is a file that only its owner may read, and replaces none", async () => {
    const file = await backUp();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const before = readFileSync(file);
    expect(await stile(source.url, ["backup", file])).toMatchObject({ code: 1, err: aLine("EEXIST") });
    expect(readFileSync(file)).toEqual(before);
  });

  test("is written to standard output and restored from standard input", async () => {
    const parts: Uint8Array[] = [];
    await stile(source.url, ["backup", "-"], { write: (bytes) => parts.push(bytes) });
    const url = await newDatabase();
    const restored = await stile(url, ["restore", "-"], { input: Buffer.concat(parts) });
    expect(restored).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^stile: standard input is checked while/),
    });
    expect(await contentOf(url)).toEqual(await contentOf(source.url));
  });

  test("has the rows of the moment at which it began, whatever is committed meanwhile", async () => {
    const expected = await contentOf(source.url);
    const file = newFile();
    let changed: Promise<unknown> | undefined;
    const made = await stile(source.url, ["backup", file], {
      showsProgress: true,
      interruption: {
        // Asked before each write: the first one is after the snapshot was taken.
        get aborted() {
          changed ??= source.database.write.$client.query("update users set name = 'changed meanwhile'");
          return false;
        },
      } as AbortSignal,
    });
    await changed;
    const url = await newDatabase();
    await stile(url, ["restore", file]);
    expect(await contentOf(url)).toEqual(expected);
    expect(await contentOf(source.url)).not.toEqual(expected);
    expect(made.err).toMatch(/writing \d+\/\d+ users/);
  });

  test("leaves nothing when it is interrupted", async () => {
    const names = readdirSync(folder);
    const ended = await stile(source.url, ["backup", newFile()], { interruption: AbortSignal.abort() });
    expect(ended).toMatchObject({ code: 1, out: "", err: "stile: interrupted\n" });
    expect(readdirSync(folder)).toEqual(names);
  });

  test("is not made of a database without tables, or that a later version has migrated", async () => {
    const url = await newDatabase();
    expect(await stile(url, ["backup", newFile()])).toMatchObject({
      code: 1,
      err: aLine("has not the tables of this version"),
    });
    await stile(url, ["migrate"]);
    await withClient(url, (client) =>
      client.query("update drizzle.__drizzle_migrations set created_at = created_at + 1e12"),
    );
    expect(await stile(url, ["backup", newFile()])).toMatchObject({
      code: 1,
      err: aLine("a later version has migrated the database"),
    });
  });

  test("is compared with a database that was restored from it, of which nothing is left", async () => {
    const databases = () =>
      withClient(adminUrl, async (client) => {
        const { rows } = await client.query("select datname from pg_database where datname ~ 'verify'");
        return rows;
      });
    const asOwner = stile(source.url, ["backup", newFile(), "--verify"]);
    expect(await asOwner).toMatchObject({ code: 1, err: aLine("alter role stile createdb") });
    await withClient(adminUrl, (client) => client.query("alter role stile createdb"));
    try {
      const verified = await stile(source.url, ["backup", newFile(), "--verify"]);
      expect(verified).toMatchObject({ code: 0, out: expect.stringContaining("verified") });
    } finally {
      await withClient(adminUrl, (client) => client.query("alter role stile nocreatedb"));
    }
    expect(await databases()).toEqual([]);
  });
});

describe("an encrypted backup", () => {
  test("restores with its key, from a file or from the environment", async () => {
    const keyFile = newFile();
    writeFileSync(keyFile, `${key}\n`);
    const file = await backUp("--key-file", keyFile);
    const expected = await contentOf(source.url);
    for (const [words, env] of [
      [["--key-file", keyFile], {}],
      [[], { STILE_BACKUP_KEY: key }],
    ] as const) {
      const url = await newDatabase();
      expect(await stile(url, ["restore", file, ...words], { env })).toMatchObject({ code: 0, err: "" });
      expect(await contentOf(url)).toEqual(expected);
    }
  });

  test("A363 shows nothing of the rows, is refused under another key, and differs from one of the same rows", async () => {
    const [env, file, again] = [{ STILE_BACKUP_KEY: key }, newFile(), newFile()];
    for (const one of [file, again]) await stile(source.url, ["backup", one], { env });
    const url = await newDatabase();
    const other = { STILE_BACKUP_KEY: key.toUpperCase() };
    expect(await stile(url, ["restore", file], { env: other })).toMatchObject({
      code: 1,
      err: aLine("the key is not that of the backup"),
    });
    expect(await stile(url, ["restore", file])).toMatchObject({ code: 1, err: aLine("is encrypted") });
    const short = { STILE_BACKUP_KEY: "short" };
    expect(await stile(url, ["restore", file], { env: short })).toMatchObject({
      code: 1,
      err: aLine("at least 32"),
    });
    expect(await isEmpty(url)).toBe(true);
    const framesOf = (path: string) => readFileSync(path).subarray(-4096).toString("base64");
    expect(framesOf(file)).not.toBe(framesOf(again));
  });

  test("A364 is not replaced by one that is not encrypted", async () => {
    const file = await backUp();
    const url = await newDatabase();
    expect(await stile(url, ["restore", file], { env: { STILE_BACKUP_KEY: key } })).toMatchObject({
      code: 1,
      err: aLine("is not encrypted, although a key is given"),
    });
    expect(await isEmpty(url)).toBe(true);
  });
});

describe.each([
  ["a backup", { STILE_BACKUP_KEY: undefined }],
  ["an encrypted backup", { STILE_BACKUP_KEY: key }],
])("A365 %s", (_, env) => {
  test("is refused wherever it is cut off, changed or made longer, and nothing is written", async () => {
    const [file, broken] = [newFile(), newFile()];
    await stile(source.url, ["backup", file], { env });
    const whole = readFileSync(file);
    expect(await stile("", ["restore", "--check", file], { env })).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^intact: \d+ rows of \d+ tables/),
    });
    const refusal = (bytes: Buffer) =>
      checkBackup(Readable.from([bytes]), env.STILE_BACKUP_KEY).then(
        () => false,
        (error: unknown) => error instanceof BackupError,
      );
    const accepted: string[] = [];
    const everywhere = Array.from({ length: 500 }, (_, part) => Math.floor((part * whole.length) / 500));
    const positions = new Set([...Array(64).keys(), ...everywhere, ...lastOf(whole.length, 64)]);
    for (const position of positions) {
      if (!(await refusal(whole.subarray(0, position)))) accepted.push(`cut off at ${position}`);
      const flipped = Buffer.from(whole);
      flipped[position] = (flipped[position] ?? 0) ^ (1 << (position % 8));
      if (!(await refusal(flipped))) accepted.push(`changed at ${position}`);
    }
    if (!(await refusal(Buffer.concat([whole, Buffer.of(0)])))) accepted.push("a byte more");
    expect(accepted).toEqual([]);

    const url = await newDatabase();
    for (const bytes of [whole.subarray(0, -1), whole.subarray(0, whole.length / 2)]) {
      writeFileSync(broken, bytes);
      expect(await stile(url, ["restore", broken], { env })).toMatchObject({
        code: 1,
        err: aLine("cut off"),
      });
      // A stream is not checked before it is restored.
      expect(await stile(url, ["restore", "-"], { env, input: bytes })).toMatchObject({ code: 1 });
      expect(await isEmpty(url)).toBe(true);
    }
    expect(await stile(url, ["restore", file], { env })).toMatchObject({ code: 0 });
  });
});

const lastOf = (length: number, count: number) =>
  Array.from({ length: count }, (_, index) => length - 1 - index);

describe("a restore", () => {
  test("refuses a database that has tables, and changes nothing in it", async () => {
    const file = await backUp();
    const url = await newDatabase();
    await withClient(url, (client) => client.query("create table notes (text text)"));
    expect(await stile(url, ["restore", file])).toMatchObject({
      code: 1,
      err: aLine("the database is not empty: it has public.notes"),
    });
    const before = await contentOf(source.url);
    expect(await stile(source.url, ["restore", file])).toMatchObject({ code: 1, err: aLine("is not empty") });
    expect(await contentOf(source.url)).toEqual(before);
  });

  test("refuses a file that is none, or is missing", async () => {
    const file = newFile();
    writeFileSync(file, randomBytes(100_000));
    const url = await newDatabase();
    expect(await stile(url, ["restore", file])).toMatchObject({ code: 1, err: aLine("this is no backup") });
    expect(await stile(url, ["restore", newFile()])).toMatchObject({ code: 1, err: aLine("ENOENT") });
    expect(await stile(url, ["restore", folder])).toMatchObject({ code: 1, err: aLine("is not a file") });
    expect(await isEmpty(url)).toBe(true);
  });

  test("leaves the database empty if the rows do not fit together", async () => {
    const file = newFile();
    const broken = await openForTests(testDatabase());
    await fillDatabase(broken);
    await withClient(adminUrl.replace(/[^/]+$/, new URL(broken.url).pathname.slice(1)), async (admin) => {
      await admin.query("set session_replication_role = replica");
      await admin.query("delete from users");
    });
    await stile(broken.url, ["backup", file]);
    const url = await newDatabase();
    expect(await stile(url, ["restore", file])).toMatchObject({ code: 1, err: aLine("foreign key") });
    expect(await isEmpty(url)).toBe(true);
  });

  test("is waited for by a server that starts", async () => {
    const url = await newDatabase();
    const file = await backUp();
    const restoring = stile(url, ["restore", file]);
    const migrating = stile(url, ["migrate"]);
    const [restored, migrated] = await Promise.all([restoring, migrating]);
    expect(migrated.code).toBe(0);
    // Whichever was first; the other one finds its work.
    if (restored.code === 0) expect(await contentOf(url)).toEqual(await contentOf(source.url));
    else expect(restored.err).toMatch(/not empty|another process migrates/);
  });
});
