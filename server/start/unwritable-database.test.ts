import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import { copyTemplate, startTestCluster, withClient } from "../testing/postgres-cluster.ts";
import { run } from "../testing/program.ts";
import { type RunningServer, startServer } from "../testing/server.ts";

/** A server whose PostgreSQL has a disk of its own, so that the disk can be full. Only root may mount one. */

const disk = mkdtempSync(join(tmpdir(), "stile disk "));
const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256m,mode=755", "tmpfs", disk]).status === 0;

let postgres: Awaited<ReturnType<typeof startTestCluster>>;
let server: RunningServer;

beforeAll(async () => {
  postgres = await startTestCluster(disk);
  const { url } = await copyTemplate(postgres.cluster);
  server = await startServer({ env: { DATABASE_URL: url } });
});

afterAll(async () => {
  await server?.stop();
  await postgres?.stop();
  if (isMounted) spawnSync("umount", [disk]);
  rmSync(disk, { recursive: true, force: true });
});

const asAdmin = (statement: string) =>
  withClient(postgres.cluster.adminUrl, (client) => client.query(statement));

async function health(): Promise<[number, unknown]> {
  const response = await fetch(`${server.url}/health/ready`);
  return [response.status, await response.json()];
}

/** Starts flows until one fails: the pages of a table may have room for some. */
async function failedStart() {
  for (let starts = 0; starts < 1_000; starts += 1) {
    const answer = await flowClient(server.url).start("login");
    if (answer.status !== 200) return answer;
  }
  throw new Error("all flows started");
}

const isAlive = async () => (await fetch(`${server.url}/health/alive`)).status;

test("A119 A125 a read-only database is told by readiness and by steps, until it takes writes again", async () => {
  const flow = flowClient(server.url);
  await flow.start("login");
  await asAdmin("alter system set default_transaction_read_only = on");
  await asAdmin("select pg_reload_conf()");
  await eventually(async () =>
    expect(await health()).toEqual([503, { ready: false, reason: "database_read_only" }]),
  );
  const step = await flow.act("register_client_capabilities");
  expect([step.status, step.headers.get("retry-after")]).toEqual([503, "1"]);
  const start = await flowClient(server.url).start("login");
  expect([start.status, start.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await isAlive()).toBe(200);
  const second = await run(process.execPath, [join(import.meta.dirname, "../../dist/bundle/main.js")], {
    cwd: process.cwd(),
    env: { ...server.environment, PORT: "0" },
  });
  expect(second).toEqual({
    code: 1,
    out: "",
    err: "stile: the database is read-only: this needs one that takes writes\n",
  });

  await withClient(postgres.cluster.adminUrl, async (client) => {
    await client.query("set default_transaction_read_only = off");
    await client.query("alter system reset default_transaction_read_only");
    await client.query("select pg_reload_conf()");
  });
  await eventually(async () => expect(await health()).toEqual([200, { ready: true }]));
  expect((await flow.act("register_client_capabilities")).status).toBe(200);
});

test.skipIf(!isMounted)(
  "A119 A125 a full disk is told by readiness and by steps, until it has room again",
  async () => {
    expect(await health()).toEqual([200, { ready: true }]);
    const filler = join(disk, "filler");
    expect(() => {
      for (;;) writeFileSync(filler, Buffer.alloc(2 ** 20), { flag: "a" });
    }).toThrow(/ENOSPC/);
    await eventually(async () =>
      expect(await health()).toEqual([503, { ready: false, reason: "database_disk_full" }]),
    );
    const failed = await failedStart();
    expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await isAlive()).toBe(200);

    rmSync(filler);
    await eventually(async () => expect(await health()).toEqual([200, { ready: true }]));
    expect((await flowClient(server.url).start("login")).status).toBe(200);
  },
);
