import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#db/client";
import { DatabaseHosts } from "#db/hosts";
import { configSchema } from "../config/schema.ts";
import { distribute, placements } from "../database/distribute.ts";
import { purgeExpired } from "../database/purge.ts";
import { type CitusCluster, findCitus, startCitusCluster } from "../testing/citus-cluster.ts";
import { walkJourneys } from "../testing/journeys/walk-journeys.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { runStile } from "../testing/stile.ts";
import { deleteAbandonedDeliveries } from "../webhooks/abandoned-deliveries.ts";

const programs = findCitus();

/** Errors of statements that a node has logged, each once. */
const errorsIn = (logs: string) => [...new Set(logs.match(/(?<=ERROR: {2}).*/g) ?? [])];

describe.skipIf(programs === null)("a database on a Citus cluster of a coordinator and two workers", () => {
  let cluster: CitusCluster;
  let url: string;
  let environment: Record<string, string>;
  const stile = (words: string) =>
    runStile(words.split(" "), { cwd: process.cwd(), env: { NODE_ENV: "production", ...environment } });
  const query = async <Row extends object>(text: string, node = 0) =>
    withClient(cluster.urls[node] ?? "", async (client) => (await client.query(text)).rows as Row[]);

  beforeAll(async () => {
    cluster = await startCitusCluster(programs ?? "");
    [url = ""] = cluster.urls;
    environment = { DATABASE_URL: url, SECRET_KEYS: "a".repeat(48) };
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
    expect(status.byTenant + status.everywhere).toBe(placements.size);
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
});
