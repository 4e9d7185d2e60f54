import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openDatabase } from "#db/client";
import { DatabaseHosts } from "#db/hosts";
import { configSchema } from "../config/schema.ts";
import { distribute, placements } from "../database/distribute.ts";
import { purgeExpired } from "../database/purge.ts";
import { type CitusCluster, findCitus, startCitusCluster } from "../testing/citus-cluster.ts";
import { eventually } from "../testing/eventually.ts";
import { emptyDatabase } from "../testing/filled-database.ts";
import { type Answer, flowClient } from "../testing/flow-client.ts";
import { smsSettings } from "../testing/journeys/codes-by-sms.ts";
import { walkJourneys } from "../testing/journeys/walk-journeys.ts";
import { folderForTests } from "../testing/open-for-tests.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { signUp } from "../testing/sign-up.ts";
import { startSmtp } from "../testing/smtp.ts";
import { runStile } from "../testing/stile.ts";
import { startReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";
import { deleteAbandonedDeliveries, deleteDeliveries } from "../webhooks/abandoned-deliveries.ts";

const programs = findCitus();
const folderOfBackups = folderForTests("backups of a cluster");

const ada = { email: "ada@example.com", password: "correct horse battery staple" };

/** Errors of statements that a node has logged, each once. */
const errorsIn = (logs: string) => [...new Set(logs.match(/(?<=ERROR: {2}).*/g) ?? [])];

/** What a server counted of a tenant may be written after the tenant is gone: the database refuses it, and it is dropped. */
const isOfDeletedTenant = (error: string) =>
  /violates foreign key constraint "\w+_tenant_id_tenants_id_fk/.test(error);

describe.skipIf(programs === null)("a database on a Citus cluster of a coordinator and two workers", () => {
  let cluster: CitusCluster;
  let url: string;
  let environment: Record<string, string>;
  const stile = (words: string | string[]) =>
    runStile(typeof words === "string" ? words.split(" ") : words, {
      cwd: process.cwd(),
      env: { NODE_ENV: "production", ...environment },
    });
  const query = async <Row extends object>(text: string, node = 0) =>
    withClient(cluster.urls[node] ?? "", async (client) => (await client.query(text)).rows as Row[]);

  const expectSameCounts = async (plain: string) => {
    for (const name of placements.keys()) {
      const count = `select count(*) from ${name}`;
      const { rows } = await withClient(plain, (client) => client.query(count));
      expect([name, ...rows]).toEqual([name, ...(await query(count))]);
    }
  };

  beforeAll(async () => {
    cluster = await startCitusCluster(programs ?? "");
    [url = ""] = cluster.urls;
    environment = {
      DATABASE_URL: url,
      SECRET_KEYS: "a".repeat(48),
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
    };
  });

  afterAll(() => cluster.stop());

  it("is used as any other, until it is distributed", async () => {
    const walked = await walkJourneys({ url, env: environment });
    await walked.stop();
    expect(walked.performed).toBeGreaterThan(100);
    expect(await stile("database status")).toMatchObject({
      code: 1,
      err: expect.stringContaining("not distributed"),
    });
  });

  it("is migrated at its coordinator alone", async () => {
    const refused = await runStile(["migrate"], {
      cwd: process.cwd(),
      env: { NODE_ENV: "production", ...environment, DATABASE_URL: cluster.urls[1] ?? "" },
    });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("a worker of a cluster") });
    expect(await query("select 1 from pg_tables where schemaname in ('public', 'drizzle')", 1)).toEqual([]);
  });

  it("is distributed with its rows, and goes on where an interruption left it", async () => {
    const [before] = await query(
      "select (select count(*) from users) as users, (select count(*) from flows) as flows",
    );
    let steps = 0;
    const interrupted = withClient(url, (client) =>
      distribute(client, async () => {
        steps += 1;
        if (steps > 20) throw new Error("interrupted");
      }),
    );
    await expect(interrupted).rejects.toThrow("interrupted");
    const done = await stile("database distribute");
    expect(done).toMatchObject({
      code: 0,
      out: expect.stringMatching(/OK\n$/),
    });
    const { out } = await stile("database status --json");
    const status = JSON.parse(out);
    expect(status.missing).toEqual([]);
    expect(status.byTenant + status.everywhere + status.atCoordinator).toBe(placements.size);
    expect(
      await query("select (select count(*) from users) as users, (select count(*) from flows) as flows"),
    ).toEqual([before]);
    const kept = await query<{ count: string }>(
      "select count(*) from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace",
    );
    expect(Number(kept[0]?.count)).toBeGreaterThan(40);
  });

  it("has every journey of users, with no statement that Citus refuses", async () => {
    const walked = await walkJourneys({ url, env: environment });
    await walked.stop();
    expect(walked.performed).toBeGreaterThan(100);
    expect(errorsIn(cluster.logs())).toEqual([]);
  });

  it("is entered at each of its nodes: visitors sign in at two of them, and get their mails", async () => {
    const smtp = await startSmtp();
    const env = { ...environment, SMTP_URL: smtp.url, STILE_RATE_LIMITER_ENABLED: "true" };
    const servers: RunningServer[] = [];
    const [, atWorker = ""] = cluster.urls;
    try {
      servers.push(await startServer({ env }));
      servers.push(await startServer({ env: { ...env, DATABASE_URL: atWorker } }));
      for (const [index, server] of servers.entries()) {
        const email = `entry-${index}@example.com`;
        await signUp(flowClient(server.url), { ...ada, email, codeOf: (to) => smtp.codeFor(to) });
        // What was written at one node is read at the other.
        for (const { url } of servers) {
          const client = flowClient(url);
          await client.start("login", { capabilities: {} });
          await client.act("continue_with_login_identifier", { email });
          await client.act("continue_to_password_login");
          await client.act("password_login", { password: ada.password });
          expect(client.state.name).toBe("success");
          expect((await client.request("/me")).status).toBe(200);
        }
      }
      await eventually(async () => expect(await query("select 1 from new_jobs")).toEqual([]));
    } finally {
      for (const server of servers.toReversed()) await server.stop();
      await smtp.close();
    }
    expect(errorsIn(cluster.logs())).toEqual([]);
  });

  it("has every journey of users at another node than the coordinator", async () => {
    // Who runs jobs enters at the coordinator.
    const runner = await startServer({ env: { ...smsSettings, ...environment } });
    const walked = await walkJourneys({ url: cluster.urls[1] ?? "", env: environment });
    await walked.stop();
    await runner.stop();
    expect(walked.performed).toBeGreaterThan(100);
    expect(errorsIn(cluster.logs())).toEqual([]);
  });

  it("has its sealed values moved under another key, and back", async () => {
    const { SECRET_KEYS: key } = environment;
    const moved = async (keys: string) => {
      const { code, out, err } = await runStile(["secrets", "reseal", "--json"], {
        cwd: process.cwd(),
        env: { NODE_ENV: "production", ...environment, SECRET_KEYS: keys },
      });
      expect({ code, err }).toEqual({ code: 0, err: "" });
      return (JSON.parse(out) as { moved: number }[]).reduce((total, { moved }) => total + moved, 0);
    };
    const other = "b".repeat(48);
    const count = await moved(`${other},${key}`);
    expect(count).toBeGreaterThan(10);
    expect(await moved(`${other},${key}`)).toBe(0);
    expect(await moved(`${key},${other}`)).toBe(count);
    expect(errorsIn(cluster.logs())).toEqual([]);
  });

  it("is backed up through its coordinator, and restored into one PostgreSQL", async () => {
    const file = join(folderOfBackups, "cluster");
    expect(await stile(["backup", file])).toMatchObject({ code: 0, err: "" });
    const { adminUrl, ownerUrl } = inject("postgres");
    const plain = await emptyDatabase(adminUrl, ownerUrl);
    const restored = await runStile(["restore", file], {
      cwd: process.cwd(),
      env: { NODE_ENV: "production", ...environment, DATABASE_URL: plain },
    });
    expect(restored).toMatchObject({ code: 0, err: "" });
    await expectSameCounts(plain);
    expect(errorsIn(cluster.logs())).toEqual([]);
  });

  it("is moved to one PostgreSQL, and used again after the move is undone", async () => {
    const { adminUrl, ownerUrl } = inject("postgres");
    const plain = await emptyDatabase(adminUrl, ownerUrl);
    expect(await stile(["move", "--to", plain])).toMatchObject({ code: 0, err: "" });
    await expectSameCounts(plain);
    expect(await stile("tenants list")).toMatchObject({
      code: 1,
      err: expect.stringContaining("was moved to"),
    });
    expect(await stile("move --undo")).toMatchObject({ code: 0 });
    expect(await stile("tenants list")).toMatchObject({ code: 0 });
    expect(errorsIn(cluster.logs())).toEqual([]);
  });

  it("is purged on each node", async () => {
    await query("update flows set expires_at = now() - interval '3 days'");
    const database = openDatabase(new DatabaseHosts(url), 2, () => {}, true);
    const config = configSchema.parse({});
    expect(await purgeExpired(database, config)).toBeGreaterThan(0);
    await deleteAbandonedDeliveries(database);
    await database.close();
    expect(await query("select 1 from flows")).toEqual([]);
    expect(errorsIn(cluster.logs())).toEqual([]);
  });

  describe("with tenants on both nodes", () => {
    let receiver: WebhookReceiver;
    let server: RunningServer;
    /** Tenants, by the address of the node that they are on. */
    const nodes = new Map<string, string[]>();
    const clientOf = (tenant: string) => flowClient(`${server.url}/t/${tenant}`);
    beforeAll(async () => {
      receiver = await startReceiver();
      server = await startServer({
        env: {
          ...environment,
          STILE_EMAIL_REQUIRE_VERIFICATION: "false",
          STILE_PASSKEY_ENABLED: "false",
          STILE_MFA_ENABLED: "false",
          STILE_RATE_LIMITER_ENABLED: "false",
        },
      });
      for (let count = 0; count < 8; count += 1) {
        const { out } = await stile(`tenants create --name Tenant${count} --json`);
        const { id } = JSON.parse(out) as { id: string };
        const node = await nodeOf(id);
        nodes.set(node, [...(nodes.get(node) ?? []), id]);
        const hook = await stile(`webhooks create --tenant ${id} --callback ${receiver.url} --event user`);
        expect(hook).toMatchObject({ code: 0 });
        await signUp(clientOf(id), ada);
      }
    });

    afterAll(async () => {
      await server?.stop();
      await receiver?.close();
    });

    it("delivers the events of each, once", async () => {
      expect(nodes.size).toBe(2);
      await eventually(async () => {
        const left = await query("select 1 from webhook_deliveries where state <> 'delivered'");
        expect(left).toEqual([]);
      });
      const ids = receiver.received.map(({ id }) => id);
      expect(ids.length).toBeGreaterThanOrEqual(8);
      expect(ids).toEqual([...new Set(ids)]);
      expect(errorsIn(cluster.logs())).toEqual([]);
    });

    it("deletes one with its users, and the deliveries of a webhook that is gone", async () => {
      const [[tenant = "", other = ""] = []] = [...nodes.values()].filter(({ length }) => length > 2);
      expect(await stile(`tenants delete --with-users ${tenant}`)).toMatchObject({ code: 0 });
      for (const [node, ids] of nodes)
        nodes.set(
          node,
          ids.filter((id) => id !== tenant),
        );
      expect(await query(`select 1 from users where tenant_id = '${tenant}'`)).toEqual([]);
      const database = openDatabase(new DatabaseHosts(url), 2, () => {}, true);
      const deleted = await deleteDeliveries(database, { tenantId: other, webhook: await webhookOf(other) });
      await database.close();
      expect(deleted).toBeGreaterThan(0);
      expect(errorsIn(cluster.logs()).filter((error) => !isOfDeletedTenant(error))).toEqual([]);
    });

    it("answers the tenants of other nodes while one is down, and delivers their events", async () => {
      const [[address = "", [gone = ""] = []] = [], [, [here = ""] = []] = []] = [...nodes];
      const down = cluster.urls.findIndex((one) => one.includes(address));
      await cluster.kill(down);
      try {
        const statuses = async (tenant: string, count: number) =>
          Promise.all(Array.from({ length: count }, () => signInAs(tenant).then(({ status }) => status)));
        for (let round = 0; round < 5; round += 1) {
          const [ofGone, ofHere] = await Promise.all([statuses(gone, 3), statuses(here, 3)]);
          expect(ofGone).toEqual([503, 503, 503]);
          expect(ofHere).toEqual([200, 200, 200]);
        }
        const before = receiver.received.length;
        await signUp(clientOf(here), { ...ada, email: "grace@example.com" });
        await eventually(async () => expect(receiver.received.length).toBeGreaterThan(before));
      } finally {
        await cluster.revive(down);
      }
      await eventually(async () => expect((await signInAs(gone)).status).toBe(200));
    });

    it("signs visitors of a tenant in while it moves to another node", async () => {
      const [[from = "", [moving = ""] = []] = [], [to = ""] = []] = [...nodes];
      let isMoving = true;
      const signIns = (async () => {
        const statuses: number[] = [];
        while (isMoving) statuses.push((await signInAs(moving)).status);
        return statuses;
      })();
      const [source, target] = [from, to].map((address) => address.split(":"));
      await withClient(cluster.adminUrls[0] ?? "", (client) =>
        client.query(
          `select citus_move_shard_placement(get_shard_id_for_distribution_column('users', $1::uuid),
            $2, $3::int, $4, $5::int, 'force_logical')`,
          [moving, source?.[0], source?.[1], target?.[0], target?.[1]],
        ),
      );
      isMoving = false;
      const statuses = await signIns;
      expect(statuses.length).toBeGreaterThan(3);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
      expect(await nodeOf(moving)).toBe(to);
    });

    /** Signs in, and returns the last answer: the first that is no success. */
    async function signInAs(tenant: string): Promise<Answer> {
      const client = clientOf(tenant);
      const steps = [
        () => client.start("login", { capabilities: {} }),
        () => client.act("continue_with_login_identifier", { email: ada.email }),
        () => client.act("continue_to_password_login"),
        () => client.act("password_login", { password: ada.password }),
      ];
      for (const step of steps) if ((await step()).status !== 200) break;
      return client.last;
    }

    const nodeOf = async (tenant: string) => {
      const [placed] = await query<{ node: string }>(
        `select nodename || ':' || nodeport as node from citus_shards
        where table_name = 'users'::regclass and shardid = get_shard_id_for_distribution_column('users', '${tenant}'::uuid)`,
      );
      return placed?.node ?? "";
    };

    const webhookOf = async (tenant: string) => {
      const [row] = await query<{ webhook: string }>(
        `select webhook from webhook_deliveries where tenant_id = '${tenant}' limit 1`,
      );
      return row?.webhook ?? "";
    };
  });
});
