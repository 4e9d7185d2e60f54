import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { configSchema } from "../server/config/schema.ts";
import { migrateDatabase } from "../server/database/migrate.ts";
import { eventually } from "../server/testing/eventually.ts";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { withClient } from "../server/testing/postgres-cluster.ts";
import { startPostgresPair } from "../server/testing/postgres-pair.ts";
import { positionOf, positionText } from "./log-position.ts";
import { type PrimaryAnswer, PrimaryLog } from "./primary-log.ts";
import { markText, Replica } from "./replica.ts";

const pair = await openForTests(startPostgresPair({ isSynchronous: false }));
const replica = await openForTests(new Replica(pair.urls[1], 2));
const processId = randomUUID();

/** Renews the lease of the process, and returns what the primary then says of itself. */
const renewed = () =>
  withClient(pair.urls[0], async (client) => {
    await client.query(
      `insert into instances (id, leased_until, version) values ($1, clock_timestamp(), '1.0.0')
        on conflict (id) do update set leased_until = excluded.leased_until`,
      [processId],
    );
    const { rows } = await client.query<PrimaryAnswer>(
      `select ${positionText} as position, ${markText} as mark,
        (select system_identifier::text from pg_control_system()) as system`,
      [processId],
    );
    const [answer] = rows;
    if (!answer) throw new Error("the primary says nothing of itself");
    return answer;
  });

test("a connection to a replica that starts again with less than it had shown is refused until it has it", async () => {
  const { tenant, service } = configSchema.parse({});
  await migrateDatabase(pair.urls[0], { id: tenant.id, name: service.name });
  const log = new PrimaryLog();
  log.see(await renewed(), performance.now());
  const answer = await renewed();
  log.see(answer, performance.now());
  const position = positionOf(answer.position);
  if (!position) throw new Error("the primary has no position");
  await eventually(async () => {
    await replica.look(log, processId, 60_000);
    expect(replica.fault).toBeNull();
  });
  expect(await replica.reaches(position, performance.now() + 10_000)).toBe(true);
  const stored = () => replica.read.execute(sql`select from instances where id = ${processId}`);
  expect((await stored()).rowCount).toBe(1);

  pair.killStandby();
  await pair.restartStandby({ recovery_min_apply_delay: "3min" });
  // Nothing has looked at it since, so that it counts as before.
  expect(replica.fault).toBeNull();
  const answers = await withClient(pair.urls[1], (client) =>
    client.query("select from instances where id = $1", [processId]).catch(() => ({ rowCount: 0 })),
  );
  expect(answers.rowCount).toBe(0);
  const refusal = { cause: { message: "the replica is behind where it was" } };
  await eventually(() => expect(stored()).rejects.toMatchObject(refusal));

  pair.killStandby();
  await pair.restartStandby();
  await eventually(async () => expect((await stored()).rowCount).toBe(1));
});

test("two standbys that were promoted to one timeline have positions of two primaries", async () => {
  pair.killPrimary();
  await pair.restartPrimaryAsStandby();
  const positions: string[] = [];
  for (const url of pair.urls) {
    await withClient(url.replace("stile:test", "postgres:test"), (client) =>
      client.query("select pg_promote()"),
    );
    const { rows } = await withClient(url, (client) => client.query(`select ${positionText} as position`));
    positions.push(rows[0].position);
  }
  const branches = positions.map((text) => positionOf(text)?.branch ?? "");
  expect(branches.map((branch) => branch.split("@")[0])).toEqual(["00000002", "00000002"]);
  expect(new Set(branches).size).toBe(2);
});
