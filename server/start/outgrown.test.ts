import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { thisRelease } from "../database/releases.ts";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import { outgrow } from "../testing/later-release.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { type Service, startService } from "../testing/service.ts";
import { runStile } from "../testing/stile.ts";

/** Servers that run while a later release begins to use their database. They need `npm run build`. */

let service: Service;
let workers: Service;
let underNext: { server: RunningServer; database: TestDatabase };

beforeAll(async () => {
  [service, workers] = await Promise.all([startService(), startService({ STILE_SERVER_WORKERS: "2" })]);
  const database = await testDatabase();
  const env = { DATABASE_URL: database.url, SECRET_KEYS: "a key for this test alone" };
  underNext = { database, server: await startServer({ under: "next", env }) };
});

afterAll(async () => {
  await service?.close();
  await workers?.close();
  await underNext?.server.stop();
  await underNext?.database.close();
});

/** Starts the server again, and returns how it ends. */
async function startAgain({ server }: Service): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../dist/bundle/main.js")], {
    env: server.environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  return { code, output };
}

const refusal =
  `stile: version ${thisRelease().version} may not use this database any more: 99.0.0 has used it, which needs at ` +
  "least 98.0.0; start that or a later one, or go back as docs/upgrades.md says\n";

test("A163 a server that the database has outgrown says so, answers 503, stops, and does not start again", async () => {
  const { server } = service;
  const flow = flowClient(server.url);
  await flow.start("login");
  await outgrow(service.database);
  await eventually(async () => {
    const ready = await fetch(`${server.url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason: "database_outgrown" }]);
  });
  const step = await flow.act("register_client_capabilities");
  expect([step.status, step.state.name, step.headers.get("retry-after")]).toEqual([503, "error", "1"]);
  await eventually(() => expect(server.logs()).toContain("jobs, deliveries and purges have ended"));
  const left = randomUUID();
  await service.database.database.write.execute(
    `insert into pgboss.job (name, id, data) values ('send_mail', '${left}', '{}')`,
  );
  const page = await fetch(server.url, { headers: { Accept: "text/html" } });
  expect([page.status, page.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await fetch(`${server.url}/health/alive`)).status).toBe(200);

  expect(await server.ended()).toBe(3);
  expect(server.logs()).toContain('"message":"stopped"');
  expect(server.logs()).toContain('"used_by":"99.0.0","oldest":"98.0.0"');
  const { rows } = await service.database.database.write.execute(
    `select state, retry_count from pgboss.job where id = '${left}'`,
  );
  expect(rows).toEqual([{ state: "created", retry_count: 0 }]);
  expect(await startAgain(service)).toEqual({ code: 3, output: refusal });
  const migrated = await runStile(["migrate"], { cwd: process.cwd(), env: server.environment });
  expect([migrated.code, migrated.err]).toEqual([3, refusal]);
});

test("A163 a server of several processes that the database has outgrown stops all of them", async () => {
  const { server } = workers;
  await outgrow(workers.database);
  await eventually(async () => expect((await fetch(`${server.url}/health/ready`)).status).toBe(503));
  expect(await server.ended()).toBe(3);
  expect(server.logs()).toContain('"message":"stopped"');
  expect(server.logs()).not.toContain("another one is started");
});

test("A163 under Next, which has no process to stop, requests are answered 503 from then on", async () => {
  const { server } = underNext;
  const flow = flowClient(server.url);
  await flow.start("login");
  await outgrow(underNext.database);
  await eventually(async () => expect((await flow.attempt("register_client_capabilities")).status).toBe(503));
  const ready = await fetch(`${server.url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason: "database_outgrown" }]);
  expect((await fetch(server.url)).status).toBe(503);
  expect((await fetch(`${server.url}/health/alive`)).status).toBe(200);
});
