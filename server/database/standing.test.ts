import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "#db/client";
import { eventually } from "../testing/eventually.ts";
import { formerRelease } from "../testing/former-release.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { countStatements } from "../testing/statement-counter.ts";
import { takeLease } from "./instances.ts";
import { migrateDatabase } from "./migrate.ts";
import { createReadiness } from "./readiness.ts";
import { OutgrownError, outgrownBy, recordRelease, thisRelease } from "./releases.ts";
import { createStanding } from "./standing.ts";

const log = pino({ level: "silent" });
const tenant = { id: "00000000-0000-4000-8000-000000000001", name: "Stile" };

describe("a version", () => {
  it("is outgrown by the release that needs the latest one beside it", () => {
    const releases = [
      { version: "0.4.0", oldestBeside: "0.3.0" },
      { version: "0.6.0", oldestBeside: "0.5.0" },
      { version: "0.5.0", oldestBeside: "0.4.0" },
    ];
    expect(outgrownBy("0.2.0", releases)?.version).toBe("0.6.0");
    expect(outgrownBy("0.4.1", releases)?.version).toBe("0.6.0");
    expect(outgrownBy("0.5.0-next", releases)?.version).toBe("0.6.0");
    expect(outgrownBy("0.5.0", releases)).toBeNull();
    expect(outgrownBy("0.5.0", [])).toBeNull();
  });

  it("may run beside the former release, and differs from it", () => {
    const { version, oldestBeside } = thisRelease();
    expect(oldestBeside).toBe(formerRelease.version);
    expect(outgrownBy(formerRelease.version, [thisRelease()])).toBeNull();
    expect(version).not.toBe(formerRelease.version);
  });
});

describe("the releases of a database", () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await testDatabase();
  });
  afterAll(() => test.close());
  beforeEach(async () => {
    await test.database.write.execute("delete from releases");
  });

  const releases = async () =>
    (await test.database.read.$client.query("select version, oldest_beside from releases order by version"))
      .rows;
  const use = async (version: string, oldestBeside: string) => {
    const release = { version, oldestBeside };
    await migrateDatabase(test.url, tenant, { release });
    await recordRelease(test.database.write.$client, release);
  };

  it("are not stated by a migration, whose server may fail to start", async () => {
    await migrateDatabase(test.url, tenant, { release: { version: "9.0.0", oldestBeside: "9.0.0" } });
    expect(await releases()).toEqual([]);
  });

  it("A163 are stated by each server that serves, and refuse one of a version that is too old for them", async () => {
    await use("0.3.0", "0.2.0");
    await use("0.4.0", "0.4.0");
    const refused = await use("0.3.0", "0.2.0").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OutgrownError);
    expect((refused as OutgrownError).message).toBe(
      "version 0.3.0 may not use this database any more: 0.4.0 has used it, which needs at least 0.4.0; " +
        "start that or a later one, or go back as docs/upgrades.md says",
    );
    expect((refused as OutgrownError).exitCode).toBe(3);
    await use("0.5.0", "0.4.0");
    expect(await releases()).toEqual([
      { version: "0.3.0", oldest_beside: "0.2.0" },
      { version: "0.4.0", oldest_beside: "0.4.0" },
      { version: "0.5.0", oldest_beside: "0.4.0" },
    ]);
  });

  it("let an older version start again once the later one is withdrawn", async () => {
    await use("0.4.0", "0.4.0");
    await test.database.write.execute("delete from releases where version = '0.4.0'");
    await use("0.3.0", "0.2.0");
    expect(await releases()).toEqual([{ version: "0.3.0", oldest_beside: "0.2.0" }]);
  });

  it("A163 are noticed by the renewal of a lease, which stays one statement", async () => {
    const counter = await countStatements(test.url);
    const database = openDatabase(counter.url, 2, () => {});
    const standing = createStanding({ version: "0.3.0" }, log);
    const lease = await takeLease(database, randomUUID(), false, log, standing);
    expect(standing.outgrownBy).toBeNull();
    await use("0.4.0", "0.4.0");
    const before = counter.sent.length;
    await once(standing.outgrown, "abort");
    expect(standing.outgrownBy).toEqual({ version: "0.4.0", oldestBeside: "0.4.0" });
    expect(counter.sent.length - before).toBe(1);
    await lease.end();
    await database.close();
    await counter.close();
  });

  it("A163 are noticed by readiness, which says so from then on", async () => {
    const standing = createStanding({ version: "0.3.0" }, log);
    const readiness = createReadiness(test.database, randomUUID(), standing);
    await use("0.4.0", "0.4.0");
    const check = () => readiness.check();
    await eventually(async () => expect(await check()).toMatchObject({ reason: "database_outgrown" }));
    await test.database.write.execute("delete from releases");
    expect(await check()).toMatchObject({ ok: false, reason: "database_outgrown" });
  });

  it("A163 are read again before a request that comes long after the last renewal, once for all of them", async () => {
    let now = 0;
    let renewals = 0;
    const standing = createStanding({ version: "0.3.0" }, log, () => now);
    standing.renewBy(async () => {
      renewals += 1;
      standing.heed([{ version: "0.4.0", oldestBeside: "0.4.0" }]);
    });
    expect(standing.refresh()).toBeUndefined();
    now = 30_000;
    await Promise.all([standing.refresh(), standing.refresh()]);
    expect(renewals).toBe(1);
    expect(standing.refresh()).toBeUndefined();
    expect(standing.outgrownBy?.version).toBe("0.4.0");
  });

  it("do not fail a request while they cannot be read", async () => {
    let now = 0;
    const standing = createStanding({ version: "0.3.0" }, log, () => now);
    standing.renewBy(() => Promise.reject(new Error("no connection")));
    now = 30_000;
    await standing.refresh();
    expect(standing.refresh()).toBeUndefined();
    expect(standing.outgrownBy).toBeNull();
  });

  it("hold no request for as long as a renewal hangs", async () => {
    let now = 0;
    const standing = createStanding({ version: "0.3.0" }, log, () => now);
    standing.renewBy(() => new Promise(() => {}));
    now = 30_000;
    await standing.refresh();
    expect(standing.outgrownBy).toBeNull();
  });
});
