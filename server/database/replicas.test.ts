import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { pino } from "pino";
import { expect, test } from "vitest";
import { openDatabase } from "#db/client";
import { positionText } from "#db/log-position";
import { configSchema } from "../config/schema.ts";
import { eventually } from "../testing/eventually.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { startPostgresPair } from "../testing/postgres-pair.ts";
import { renewalOf } from "./instances.ts";
import { migrateDatabase } from "./migrate.ts";
import { createReplicas } from "./replicas.ts";

const pair = await openForTests(startPostgresPair({ isSynchronous: false }));
const database = await openForTests(openDatabase(pair.urls[0], 3, () => {}));
const { tenant, service } = configSchema.parse({});
await migrateDatabase(pair.urls[0], { id: tenant.id, name: service.name });
const processId = randomUUID();
const replicas = await openForTests(
  createReplicas([pair.urls[1]], {
    database,
    size: 2,
    maxLagSeconds: 60,
    processId,
    lease: { renew: async () => void (await database.write.execute(sql.raw(renewalOf(processId)))) },
    log: pino({ level: "silent" }),
  }),
);
await replicas.watch();

/** The current position of the primary, once the replica has reached it. */
const position = () =>
  eventually(async () => {
    const { rows } = await database.read.execute<{ position: string }>(
      sql`select ${sql.raw(positionText)} as position`,
    );
    const current = rows[0]?.position ?? null;
    const isRead = await replicas.reading(current, (read) => read !== database.read);
    expect(isRead).toBe(true);
    return current;
  });

/** Reads at the replica, where it fails with an error. Returns where it was read. */
async function readFailing(error: unknown): Promise<string[]> {
  const places: string[] = [];
  const reading = replicas.reading(await position(), (read) => {
    places.push(read === database.read ? "primary" : "replica");
    if (read !== database.read) throw error;
  });
  await reading.catch((thrown: unknown) => expect(thrown).toBe(error));
  return places;
}

const coded = (code: string) =>
  new Error("Failed query", { cause: Object.assign(new Error("no"), { code }) });

test.each([
  ["a query that is in the way of the replay", coded("40001")],
  ["a deadlock with the replay", coded("40P01")],
  ["a replica that is stopped", coded("57P01")],
  ["a connection that is refused", coded("ECONNREFUSED")],
  ["a connection that is lost", new Error("Connection terminated unexpectedly")],
  ["a replica that is behind where it was", new Error("the replica is behind where it was")],
])("%s is answered by the primary", async (_, error) => {
  expect(await readFailing(error)).toEqual(["replica", "primary"]);
});

test.each([
  ["a mistake in a statement", coded("42703")],
  ["a value that is invalid", coded("22P02")],
  ["a query that takes too long", coded("57014")],
  ["a write", coded("25006")],
  ["a mistake of the program", new TypeError("not a function")],
])("%s fails as it does at the primary, and is not repeated there", async (_, error) => {
  expect(await readFailing(error)).toEqual(["replica"]);
});
