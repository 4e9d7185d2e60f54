import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createVault } from "../../keys/vault.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { consoleAccount } from "../../testing/console-account.ts";
import { eventually } from "../../testing/eventually.ts";
import { testJobs } from "../../testing/jobs.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

/** Rotation of signing keys, and the move of stored secrets under another secret key. */

const former = "a key for tests alone";
const next = "the new secret key of these tests";
const runtime = await runtimeForTests();
const { database } = runtime;
const operator = await adminOperator(runtime);

describe("signing keys", () => {
  test("a rotated key is published at once and signs when caches of the key set have ended, and what was signed stays valid", async () => {
    const at = await runtimeForTests();
    const { call } = await adminOperator(at);
    const keys = at.signingKeys.of(at.tenant);
    await keys.ready;
    const signed = await keys.sign({ sub: "ada" }, { typ: "JWT" });
    const body = { purpose: "session" };
    const tooSoon = await call("POST", "/signing_keys", body);
    expect([tooSoon.status, tooSoon.body.message]).toEqual([409, expect.stringContaining("22 minutes")]);
    await at.database.write.execute(sql`update signing_keys set created_at = now() - interval '1 hour'`);
    const rotated = await call("POST", "/signing_keys", body);
    const ofSession = () => rotated.body.filter(({ purpose }: { purpose: string }) => purpose === "session");
    expect(ofSession()).toMatchObject([{ state: "next" }, { state: "signing", published_until: null }]);
    expect(JSON.stringify(rotated.body)).not.toMatch(/private|"d"/);
    await at.database.write.execute(
      sql`update signing_keys set created_at = created_at - interval '661 seconds'`,
    );
    const later = await call("GET", "/signing_keys");
    expect(later.body).toMatchObject([{ state: "signing" }, { state: "former" }]);
    expect((await at.signingKeys.of({ ...at.tenant }).jwks()).keys.map(({ kid }) => kid)).toEqual(
      later.body.map(({ id }: { id: string }) => id),
    );
    expect(signed.split(".")).toHaveLength(3);
    await at.database.write.execute(
      sql`update signing_keys set created_at = created_at - interval '23 minutes'`,
    );
    await at.purgeExpired();
    const retired = (await call("GET", "/signing_keys")).body;
    expect(retired[1]).toMatchObject({ state: "former", published_until: expect.any(String) });
  });

  test("are not rotated by the key of another tenant", async () => {
    const tenant = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    const { call } = await adminOperator(runtime, tenant);
    for (const path of ["/signing_keys", "/secret_keys", "/reseals"])
      expect([path, (await call("GET", path)).status]).toEqual([path, 403]);
    expect((await call("POST", "/signing_keys", { purpose: "session" })).status).toBe(403);
    expect((await call("POST", "/reseals")).status).toBe(403);
    const other = `/tenants/${runtime.tenant.id}/signing_keys`;
    expect((await call("GET", other)).status).toBe(404);
    const ofTenant = `/tenants/${tenant.id}/signing_keys`;
    expect((await operator.call("GET", ofTenant)).status).toBe(200);
  });

  test("ten published keys are as many as there are", async () => {
    const { id } = await createTenant(runtime, { name: "Busy", hosts: [], settings: {} });
    for (let made = 0; made < 10; made += 1)
      await runtime.database.write.insert(schema.signingKeys).values({
        tenantId: id,
        id: randomUUID(),
        purpose: "session",
        algorithm: "EdDSA",
        publicJwk: {},
        sealedPrivateJwk: Buffer.alloc(0),
        sealedBy: "x",
        createdAt: sql`now() - interval '1 hour'` as never,
      });
    const answer = await operator.call("POST", `/tenants/${id}/signing_keys`, { purpose: "session" });
    expect([answer.status, answer.body.message]).toEqual([
      409,
      expect.stringContaining("ten published keys"),
    ]);
  });
});

describe("a move of stored secrets", () => {
  const withKeys = (...keys: string[]) => {
    const jobs = testJobs({ database }, {}, keys);
    return Object.assign(Object.create(runtime), { jobs, vault: createVault(keys) }) as typeof runtime & {
      jobs: typeof jobs;
    };
  };
  const [moving, behind] = [withKeys(next, former), withKeys(former, next)];
  const running = [moving.jobs, behind.jobs];
  beforeAll(() => Promise.all(running.map((jobs) => jobs.start({ worker: false }))));
  afterAll(() => Promise.all(running.map((jobs) => jobs.stop())));

  test("is done by a job, told by column, cancelled, and makes the former key removable", async () => {
    const { call } = await adminOperator(moving);
    for (let made = 0; made < 3; made += 1)
      await createTenant(runtime, {
        name: `Sealed ${made}`,
        hosts: [],
        settings: { third_party: { providers: { google: { secret: "hush" } } } },
      });
    const before = (await call("GET", "/secret_keys")).body;
    expect(before.keys).toMatchObject([
      { place: 1, removable: false },
      { place: 2, removable: false },
    ]);
    expect(JSON.stringify(before)).not.toContain(former);

    const cancelled = await call("POST", "/reseals");
    expect(cancelled.body).toMatchObject({ state: "waiting", moved: 0, total: null });
    expect((await call("POST", "/reseals")).status).toBe(409);
    expect((await call("DELETE", `/reseals/${cancelled.body.id}`)).body.state).toBe("cancelled");
    expect((await call("DELETE", `/reseals/${cancelled.body.id}`)).status).toBe(200);
    await moving.jobs.runDue(10);
    expect((await call("GET", `/reseals/${cancelled.body.id}`)).body).toMatchObject({ moved: 0 });

    const begun = (await call("POST", "/reseals")).body;
    // As of a process that was killed, whose claim has run out.
    await moving.database.write
      .update(schema.reseals)
      .set({ state: "running", claimedUntil: sql`now() - interval '1 second'` as never })
      .where(sql`id = ${begun.id}`);
    await moving.jobs.runDue(10);
    const done = (await call("GET", `/reseals/${begun.id}`)).body;
    expect(done.state).toBe("finished");
    expect(done.moved).toBeGreaterThanOrEqual(3);
    expect(done.moved).toBe(done.total);
    const settings = done.columns.find(({ table }: { table: string }) => table === "tenants");
    expect(settings).toMatchObject({ moved: 3, total: 3, done: true, unknown_keys: [] });
    expect((await call("DELETE", `/reseals/${begun.id}`)).status).toBe(409);
    const listed = await call("GET", "/reseals?per_page=1");
    expect(listed.body).toMatchObject([{ id: begun.id }]);
    const entries = await moving.database.read.select().from(schema.auditLogs);
    expect(entries.filter(({ type }) => type === "secrets_resealed")).toMatchObject([
      { details: { key: done.key, moved: done.moved, api_key: expect.any(String) } },
    ]);
    for (const [type, times] of [
      ["secrets_reseal_begun", 2],
      ["secrets_reseal_cancelled", 1],
    ] as const) {
      const found = entries.filter((entry) => entry.type === type);
      expect([type, found.length]).toEqual([type, times]);
      expect(found[0]?.details).toEqual({ key: done.key, api_key: expect.any(String) });
    }
    const after = (await call("GET", "/secret_keys")).body;
    const sealedByFormer = after.values.filter(
      ({ place, after: then }: { place: number; after: string }) => place === 2 && then === "reseal",
    );
    expect(sealedByFormer).toEqual([]);
  });

  test("goes on after a value that was changed in the database, and counts it", async () => {
    const { call } = await adminOperator(moving);
    const settings = { third_party: { providers: { google: { secret: "hush" } } } };
    const made = [];
    for (const name of ["Damaged", "Whole"])
      made.push(await createTenant(runtime, { name, hosts: [], settings }));
    await moving.database.write.execute(sql`update tenants set
      sealed_config = set_byte(sealed_config, length(sealed_config) - 1, get_byte(sealed_config, length(sealed_config) - 1) # 1)
      where id = ${made[0]?.id}`);
    const begun = (await call("POST", "/reseals")).body;
    await moving.jobs.runDue(10);
    const done = (await call("GET", `/reseals/${begun.id}`)).body;
    expect(done).toMatchObject({ state: "finished", failure: null });
    expect(done.columns.find(({ table }: { table: string }) => table === "tenants")).toMatchObject({
      total: 2,
      moved: 1,
      broken: 1,
      done: true,
    });
    await moving.database.write.delete(schema.tenants).where(sql`id = ${made[0]?.id}`);
  });

  test("waits for a process whose first key is the one that was asked for", async () => {
    const { call } = await adminOperator(moving);
    const begun = (await call("POST", "/reseals")).body;
    await behind.jobs.runDue(10);
    expect((await call("GET", `/reseals/${begun.id}`)).body).toMatchObject({ state: "running", moved: 0 });
    await moving.database.write.execute(
      sql`update pgboss.job set start_after = now() where name = 'reseal_secrets'`,
    );
    await moving.jobs.runDue(10);
    expect((await call("GET", `/reseals/${begun.id}`)).body.state).toBe("finished");
  });
});

test("a move that is cancelled while it runs changes nothing more", async () => {
  const keys = [`${next} once more`, next, former];
  const jobs = testJobs({ database }, {}, keys);
  await jobs.start({ worker: false });
  const moving = Object.assign(Object.create(runtime), { jobs, vault: createVault(keys) }) as typeof runtime;
  const { call } = await adminOperator(moving);
  const sealed = "select sealed_config from tenants where length(sealed_config) > 0 order by id";
  const before = (await database.write.$client.query(sealed)).rows;
  expect(before.length).toBeGreaterThan(0);
  const begun = (await call("POST", "/reseals")).body;
  const holder = await database.write.$client.connect();
  await holder.query("begin");
  await holder.query(`${sealed} for update`);
  const run = jobs.runDue(10);
  await eventually(async () => {
    const { body } = await call("GET", `/reseals/${begun.id}`);
    expect(body.columns.find(({ table }: { table: string }) => table === "tenants").total).toBeNull();
    expect(body.state).toBe("running");
  });
  expect((await call("DELETE", `/reseals/${begun.id}`)).body.state).toBe("cancelled");
  await holder.query("rollback");
  holder.release();
  await run;
  await jobs.stop();
  expect((await database.write.$client.query(sealed)).rows).toEqual(before);
  expect((await call("GET", `/reseals/${begun.id}`)).body.state).toBe("cancelled");
});

test("keys are managed by operators of the console alone", async () => {
  const administrator = await consoleAccount(runtime, "administrator");
  for (const procedure of ["listSigningKeys", "rotateSigningKey", "getSecretKeys", "beginReseal"])
    expect([procedure, (await administrator.call(procedure, {})).reason]).toEqual([procedure, "forbidden"]);
  const account = await consoleAccount(runtime, "operator");
  expect((await account.call("getSecretKeys", {})).status).toBe(200);
});
