import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { takeLease } from "./instances.ts";
import { createStanding } from "./standing.ts";

const log = createLogger("silent");
const standing = createStanding({ version: "0.3.0" }, log);
const tenant = "00000000-0000-4000-8000-000000000001";

describe("the table of running servers", () => {
  let test: TestDatabase;

  beforeEach(async () => {
    test = await testDatabase();
  });

  afterEach(async () => {
    await test.close();
  });

  const firstClaim = randomUUID();
  const claimedFlow = async (instanceId: string) => {
    const id = randomUUID();
    await test.database.write.execute(sql`
      insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, claim, claimed_by, claimed_until, expires_at)
      values (${tenant}, ${id}, 'login', 'login_init', 1, '', '', '{}', '[]', '{}', ${firstClaim}, ${instanceId}, now() + interval '1 hour', now() + interval '1 hour')`);
    return id;
  };
  const claimOf = async (id: string) => {
    const { rows } = await test.database.read.$client.query(
      "select claim, claimed_by, claimed_until from flows where id = $1",
      [id],
    );
    return rows[0];
  };
  /** Has a claim still, that no step holds: a save of the ended server which is read later refuses. */
  const free = { claim: expect.not.stringMatching(firstClaim), claimed_by: null, claimed_until: null };

  it("releases the claims of servers without a valid lease, and keeps those of running servers", async () => {
    const running = randomUUID();
    const lease = await takeLease(test.database, running, false, log, standing);
    const dead = randomUUID();
    await test.database.write.execute(
      sql`insert into instances values (${dead}, now() - interval '1 second', '1.0.0')`,
    );
    const [ofRunning, ofDead, ofUnknown] = [
      await claimedFlow(running),
      await claimedFlow(dead),
      await claimedFlow(randomUUID()),
    ];

    const second = await takeLease(test.database, randomUUID(), false, log, standing);
    expect(await claimOf(ofRunning)).toMatchObject({ claimed_by: running });
    expect(await claimOf(ofDead)).toEqual(free);
    expect(await claimOf(ofUnknown)).toEqual(free);
    await lease.end();
    await second.end();
  });

  it("releases every claim if no other server can use the database", async () => {
    const before = randomUUID();
    await takeLease(test.database, before, false, log, standing);
    const flow = await claimedFlow(before);
    const lease = await takeLease(test.database, randomUUID(), true, log, standing);
    expect(await claimOf(flow)).toEqual(free);
    await lease.end();
  });

  it("has no entry for a server that has stopped", async () => {
    const lease = await takeLease(test.database, randomUUID(), false, log, standing);
    const count = async () => (await test.database.read.$client.query("select from instances")).rowCount;
    expect(await count()).toBe(1);
    await lease.end();
    expect(await count()).toBe(0);
  });
});
