import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { beforeEach, expect, inject, test } from "vitest";
import { openDatabase } from "#db/client";
import { eventually } from "../testing/eventually.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { type PostgresProxy, postgresProxy } from "../testing/postgres-proxy.ts";
import { countStatements } from "../testing/statement-counter.ts";
import { createReadiness } from "./readiness.ts";
import { createStanding } from "./standing.ts";

const standing = createStanding({ version: "0.3.0" }, pino({ level: "silent" }));

let instanceId: string;

const stored = await openForTests(testDatabase());
const counter = await openForTests(countStatements(stored.url));
const database = await openForTests(openDatabase(counter.url, 5, () => {}));

beforeEach(() => {
  instanceId = randomUUID();
});

const rows = async (text: string) => (await stored.database.read.$client.query(text)).rows;

test("a check leaves one row of its server, whatever the number of checks", async () => {
  for (const _ of [1, 2, 3])
    expect(await createReadiness(database, instanceId, standing).check()).toEqual({ ok: true });
  expect(await rows("select id, leased_until > now() as leased from instances")).toEqual([
    { id: instanceId, leased: true },
  ]);
});

test("a check fails if PostgreSQL has no room for a file", async () => {
  const { adminUrl } = inject("postgres");
  const limit = (setting: string) =>
    withClient(adminUrl, (client) =>
      client.query(`alter database "${new URL(stored.url).pathname.slice(1)}" ${setting}`),
    );
  await limit("set temp_file_limit = '64kB'");
  const own = openDatabase(stored.url, 1, () => {});
  expect(await createReadiness(own, instanceId, standing).check()).toMatchObject({ ok: false });
  await own.close();
  await limit("reset temp_file_limit");
});

test("A125 a hundred checks at once cost one write, and a flood of them little more", async () => {
  const readiness = createReadiness(database, instanceId, standing);
  const before = counter.sent.length;
  const checks = await Promise.all(Array.from({ length: 100 }, () => readiness.check()));
  expect(new Set(checks.map(({ ok }) => ok))).toEqual(new Set([true]));
  await readiness.check();
  expect(counter.sent.slice(before).map(({ statement }) => statement.split(";")[0])).toEqual(["begin"]);
});

test("a database that does not answer is unreachable, and ready again as soon as another connection works", async () => {
  let silent = false;
  const proxy: PostgresProxy = await postgresProxy(stored.url, (client, server) => {
    client.on("data", (data) => void (silent || server.write(data)));
    server.on("data", (data) => void (client.destroyed || client.write(data)));
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
  });
  const quiet = openDatabase(proxy.url, 1, () => {});
  const readiness = createReadiness(quiet, instanceId, standing);
  await quiet.write.execute("select 1");
  silent = true;
  const checks = await Promise.all([readiness.check(), readiness.check()]);
  expect(checks).toMatchObject([
    { ok: false, reason: "database_unreachable" },
    { ok: false, reason: "database_unreachable" },
  ]);
  silent = false;
  await eventually(async () => expect(await readiness.check()).toEqual({ ok: true }));
  await quiet.close();
  await proxy.close();
});
