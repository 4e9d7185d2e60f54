import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import {
  copyTemplate,
  type StartedCluster,
  startTestCluster,
  withClient,
} from "../testing/postgres-cluster.ts";
import { runStile } from "../testing/stile.ts";
import { commands } from "./commands/index.ts";

/** The commands on a PostgreSQL that takes no writes. */

const tenantId = "00000000-0000-4000-8000-000000000001";
const userId = randomUUID();

let postgres: StartedCluster;
let url: string;
let old: string;

beforeAll(async () => {
  postgres = await startTestCluster();
  ({ url } = await copyTemplate(postgres.cluster));
  ({ url: old } = await copyTemplate(postgres.cluster));
  await withClient(old, (client) =>
    client.query(`delete from drizzle.__drizzle_migrations
      where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`),
  );
  await withClient(url, (client) =>
    client.query(`insert into users (tenant_id, id) values ('${tenantId}', '${userId}');
      insert into sessions (tenant_id, id, user_id, factors, amr, authenticated_at, created_at, last_used_at, expires_at)
        values ('${tenantId}', '${randomUUID()}', '${userId}', '[]', '{pwd}', now(), now(), now(), now() + interval '1 hour');
      insert into audit_logs (tenant_id, id, type, user_id, details, created_at)
        values ('${tenantId}', '${randomUUID()}', 'login_success', '${userId}', '{}', now())`),
  );
});
afterAll(() => postgres?.stop());

const stile = (words: readonly string[], env: Record<string, string> = {}) =>
  runStile(words, {
    cwd: process.cwd(),
    env: { NODE_ENV: "development", DATABASE_URL: url, SECRET_KEYS: "a key for tests alone", ...env },
    input: '{"emails":[{"address":"anna@example.com"}]}\n',
  });

/** What reads, by the names of commands: their arguments, and a part of what they print. */
const reading: Record<string, [words: string[], printed: string]> = {
  "tenants list": [[], tenantId],
  "keys list": [[], "id"],
  "users list": [[], userId],
  "users search": [["nobody"], "id"],
  "users show": [[userId], userId],
  "sessions list": [[userId], "user"],
  "audit list": [["--user", userId], "login_success"],
  "webhooks list": [[], "id"],
  "secrets status": [[], ""],
  migrate: [[], "OK"],
};

/** What writes, likewise. */
const writing: Record<string, string[]> = {
  "tenants create": ["--name", "Another"],
  "keys create": ["--interface", "admin"],
  "users block": [userId],
  "users sign-out": [userId],
  "users import": [],
  "users export": [],
  "webhooks create": ["--callback", "https://example.com/events", "--event", "user"],
  "webhooks listen": [],
};

describe.each([
  [
    "a database that is set read-only",
    async () => {
      for (const statement of [
        "alter system set default_transaction_read_only = on",
        "select pg_reload_conf()",
      ])
        await withClient(postgres.cluster.adminUrl, (client) => client.query(statement));
      await eventually(() =>
        withClient(url, async (client) => {
          const { rows } = await client.query("show default_transaction_read_only");
          expect(rows).toEqual([{ default_transaction_read_only: "on" }]);
        }),
      );
    },
  ],
  ["a standby", () => postgres.becomeStandby()],
])("on %s", (_, set) => {
  beforeAll(() => set());

  test.each(Object.entries(reading))("stile %s reads", async (name, [words, printed]) => {
    const { code, out, err } = await stile([...name.split(" "), ...words]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(printed);
  });

  test.each(Object.entries(writing))(
    "stile %s says in one line that the database is read-only",
    async (name, words) => {
      const { code, err } = await stile([...name.split(" "), ...words]);
      expect(code).toBe(1);
      expect(err.split("\n").slice(-2)).toEqual([
        "stile: the database is read-only: this needs one that takes writes",
        "",
      ]);
    },
  );

  test("a database that keeps the former name of the default tenant is read", async () => {
    const { code, out } = await stile(["tenants", "list"], { STILE_SERVICE_NAME: "Turnstile" });
    expect([code, out]).toEqual([0, expect.stringContaining("Stile")]);
  });

  test("a database that has to be migrated is refused in one line", async () => {
    for (const words of [["users", "list"], ["migrate"]])
      expect(await stile(words, { DATABASE_URL: old })).toEqual({
        code: 1,
        out: "",
        err: "stile: the database is read-only: migrate it where it takes writes, with stile migrate of this version\n",
      });
  });
});

test("the commands of these tests exist", () => {
  const names = commands.map(({ name }) => name);
  for (const name of Object.keys({ ...reading, ...writing })) expect(names).toContain(name);
});
