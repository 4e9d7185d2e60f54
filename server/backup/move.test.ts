import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import pino from "pino";
import { expect, inject, test, vi } from "vitest";
import { commandsOf } from "../../docs/fenced-blocks.ts";
import { startEmbedded } from "../database/embedded.ts";
import { contentOf, emptyDatabase, fillDatabase } from "../testing/filled-database.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { run } from "../testing/program.ts";
import { runStile } from "../testing/stile.ts";

const { adminUrl } = inject("postgres");
const source = await openForTests(testDatabase());
await fillDatabase(source);
const other = await openForTests(testDatabase());

const environment = (url: string) =>
  ({ NODE_ENV: "development", DATABASE_URL: url, SECRET_KEYS: "a key for tests alone" }) as const;

const stile = (words: string[], url = source.url, live: Parameters<typeof runStile>[2] = {}) =>
  runStile(words, { cwd: import.meta.dirname, env: environment(url) }, live);

const newDatabase = () => emptyDatabase(adminUrl, source.url);
const aLine = (pattern: string) => expect.stringMatching(new RegExp(`^stile: [^\\n]*${pattern}[^\\n]*\\n$`));

test("moves every row of every table, the jobs that wait and the sequences, and shows each table", async () => {
  const url = await newDatabase();
  const expected = await contentOf(source.url);
  const moved = await stile(["move", "--to", url], source.url, { showsProgress: true });
  expect(moved).toMatchObject({ code: 0, err: expect.stringMatching(/moving \d+\/\d+ users/) });
  const { host, pathname } = new URL(url);
  expect(moved.out).toMatch(/^\d+ rows of \d+ tables moved and compared\n/);
  expect(moved.out).toContain(`set DATABASE_URL to the address of ${host}${pathname}, and start`);
  expect(await contentOf(url)).toEqual(expected);
  const keys = (at: string) =>
    withClient(at, async (client) => {
      const { rows } = await client.query(
        "select conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace order by 1",
      );
      const { rows: next } = await client.query("select nextval('events_sequence_seq')");
      return [rows, next];
    });
  expect(await keys(url)).toEqual(await keys(source.url));
  // The new one is used as any other, the former one no more, until that is undone.
  expect(await stile(["tenants", "list"], url)).toMatchObject({ code: 0 });
  expect(await stile(["tenants", "list"])).toMatchObject({
    code: 1,
    err: aLine("the database was moved to"),
  });
  expect(await stile(["move", "--undo"])).toMatchObject({ code: 0, out: "OK\n" });
  expect(await stile(["tenants", "list"])).toMatchObject({ code: 0 });
});

test.skipIf(spawnSync("createdb", ["--version"]).status !== 0)(
  "moves by the commands of the page",
  async () => {
    const { hostname, port, username, password } = new URL(adminUrl);
    const name = `moved_${randomUUID().replaceAll("-", "")}`;
    const commands = commandsOf("docs/operating/backups.md", "createdb", {
      "--owner stile stile": `--owner stile ${name}`,
      "db.internal:5432/stile": `${hostname}:${port}/${name}`,
    });
    const { code, out, err } = await run("sh", ["-e", "-c", commands], {
      cwd: join(import.meta.dirname, "../.."),
      env: {
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        ...environment(source.url),
        ...{ PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password },
      },
    });
    expect({ code, said: code === 0 ? "" : out + err }).toEqual({ code: 0, said: "" });
    expect(await contentOf(source.url.replace(/[^/]+$/, name))).toEqual(await contentOf(source.url));
    await stile(["move", "--undo"]);
  },
);

test("goes on between two tables where it was interrupted", async () => {
  const url = await newDatabase();
  let asked = 0;
  const interruption = {
    get aborted() {
      asked += 1;
      return asked > 12;
    },
  } as AbortSignal;
  expect(await stile(["move", "--to", url], source.url, { interruption })).toMatchObject({
    code: 1,
    err: aLine("interrupted: the same command goes on"),
  });
  expect(await stile(["move", "--to", url], other.url)).toMatchObject({
    code: 1,
    err: aLine("another database was moved, or is being moved, into this one"),
  });
  const again = await stile(["move", "--to", url], source.url, { showsProgress: true });
  expect(again.code).toBe(0);
  expect(again.err).toContain("moving 13/");
  expect(again.err).not.toContain("moving 12/");
  expect(await contentOf(url)).toEqual(await contentOf(source.url));
  await stile(["move", "--undo"]);
});

test("changes nothing if the target is unfit, and says why", async () => {
  const filled = await newDatabase();
  await withClient(filled, (client) => client.query("create table notes (text text)"));
  const foreign = await newDatabase();
  await withClient(adminUrl.replace(/[^/]+$/, new URL(foreign).pathname.slice(1)), (client) =>
    client.query(`alter database ${new URL(foreign).pathname.slice(1)} owner to postgres`),
  );
  for (const [to, reason, code] of [
    [filled, "is not empty: it has public.notes", 1],
    [foreign, "may create no schema or table", 1],
    [source.url, "is not empty", 1],
    ["postgres://stile:secret@127.0.0.1:1/stile", "cannot be reached", 1],
    ["mysql://127.0.0.1/stile", "is not a postgres:// address", 2],
  ] as const) {
    const refused = await stile(["move", "--to", to]);
    expect(refused).toMatchObject({ code, out: "", err: aLine(reason) });
    expect(refused.err).not.toContain("secret");
  }
  expect(await stile(["move"])).toMatchObject({ code: 2 });
  expect(await stile(["tenants", "list"])).toMatchObject({ code: 0 });
});

test("takes the password of the target from PGPASSWORD, and tells of a wrong one without it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "stile target "));
  // The embedded PostgreSQL asks for a password.
  const { port, url, stop } = await startEmbedded(join(folder, "data"), 20, pino({ level: "silent" }));
  try {
    const to = `postgres://stile@127.0.0.1:${port}/stile`;
    vi.stubEnv("PGPASSWORD", "wrong-secret");
    const refused = await stile(["move", "--to", to]);
    expect(refused).toMatchObject({ code: 1, out: "", err: aLine("password authentication failed") });
    expect(refused.err).not.toContain("wrong-secret");
    vi.stubEnv("PGPASSWORD", new URL(url).password);
    expect(await stile(["move", "--to", to])).toMatchObject({ code: 0 });
    expect(await contentOf(url)).toEqual(await contentOf(source.url));
  } finally {
    vi.unstubAllEnvs();
    await stile(["move", "--undo"]);
    await stop();
    rmSync(folder, { recursive: true });
  }
});
