import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { getTableName, type SQL, sql } from "drizzle-orm";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { rulesOf } from "#db/schema/table";
import { columnOf, tables } from "#db/tables";
import { loadConfig } from "../config/load.ts";
import { insertAnyRow } from "../testing/any-row.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { PURGE_INTERVAL_MS, purgeExpired, startPurging } from "./purge.ts";

const config = loadConfig({ STILE_AUDIT_LOG_RETENTION: "30d" }, "/nowhere");
const tenant = "00000000-0000-4000-8000-000000000001";

describe("the purge of expired rows", () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await testDatabase();
  });

  afterAll(async () => {
    await test.close();
  });

  const flow = (expiresIn: string) =>
    test.database.write.execute(sql`
      insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at)
      select ${tenant}, gen_random_uuid(), 'login', 'login_init', 1, '', '', '{}', '[]', '{}', now() + ${expiresIn}::interval`);
  const challenge = (expiresIn: string) =>
    test.database.write.execute(sql`
      insert into webauthn_challenges (tenant_id, id, flow_id, ceremony, challenge, expires_at)
      values (${tenant}, gen_random_uuid(), gen_random_uuid(), 'get', ${randomUUID()}, now() + ${expiresIn}::interval)`);
  const failure = (
    source: string,
    consecutive: number,
    lastAt: string,
    { method = "password", subject = randomUUID() as string } = {},
  ) =>
    test.database.write.execute(sql`
      insert into failures (tenant_id, method, subject, source, consecutive, window_started_at, window_count, last_at)
      values (${tenant}, ${method}, ${subject}::bytea, ${source}, ${consecutive}, now(), 0, now() + ${lastAt}::interval)`);
  const count = async (table: string) =>
    (await test.database.read.$client.query(`select from ${table}`)).rowCount;

  /** What the tests know of rules that are not a time after a column, or read further columns. */
  const special: Readonly<
    Record<string, { by?: string; retention?: string; given?: Record<string, string> }>
  > = {
    failures: { by: "last_at", retention: "2 days" },
    rate_counters: { by: "expire" },
    rate_limits: { by: "expire" },
    webhooks: { given: { is_listener: "true" } },
  };

  const settings: Readonly<Record<string, string>> = {
    "audit_log.retention": "30 days",
    "funnel.retention": "90 days",
    "webhooks.retention": "30 days",
  };

  /** The tables with a rule: the column that their retention counts from, and the retention. */
  const purged = tables.flatMap((table) => {
    const { purge } = rulesOf(table);
    if (!purge) return [];
    const name = getTableName(table);
    const { by, retention, given } = special[name] ?? {};
    const after = "before" in purge ? "0" : (purge.after ?? "0");
    return {
      name,
      column: by ?? columnOf(table, String(purge.by)).name,
      retention: retention ?? settings[after] ?? after,
      given,
    };
  });

  /** A database whose rows need no others. */
  async function withoutReferences(): Promise<TestDatabase> {
    const created = await testDatabase();
    const { $client } = created.database.write;
    const { rows } = await $client.query(
      "select conrelid::regclass as table, conname as name from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace",
    );
    for (const { table, name } of rows) await $client.query(`alter table ${table} drop constraint "${name}"`);
    return created;
  }

  it("A124 deletes flows a day after they expire, and challenges at once", async () => {
    for (const time of ["1 hour", "-23 hours", "-25 hours"]) await flow(time);
    for (const time of ["1 minute", "-1 second"]) await challenge(time);
    expect(await purgeExpired(test.database, config)).toBe(2);
    expect([await count("flows"), await count("webauthn_challenges")]).toEqual([2, 1]);
  });

  it("A124 deletes the rows of every table once their time is over, and no earlier", async () => {
    expect(purged.length).toBeGreaterThan(20);
    const alone = await withoutReferences();
    for (const { name, column, retention, given } of purged) {
      for (const difference of ["+ interval '1 minute'", "- interval '1 minute'"]) {
        const time = `now() - interval '${retention}' ${difference}`;
        const value = name.startsWith("rate_") ? `extract(epoch from ${time}) * 1000` : time;
        await insertAnyRow(alone.database, name, { [column]: value, ...given });
      }
      expect([name, await purgeExpired(alone.database, config)]).toEqual([name, 1]);
      await alone.database.write.$client.query(`delete from ${name}`);
    }
    await alone.close();
  });

  it("keeps the consecutive failures of an account, so that waiting allows no new attempts, and of unknown names for days", async () => {
    await failure("", 7, "-30 days");
    await failure("", 0, "-3 days");
    await failure("192.0.2.1", 7, "-3 days");
    await failure("*", 99, "-3 days");
    await failure("192.0.2.1", 7, "-1 day");
    expect(await purgeExpired(test.database, config)).toBe(3);
    expect(await count("failures")).toBe(2);
  });

  it("deletes in days what older versions counted for unknown names, and keeps what locks a method", async () => {
    await test.database.write.execute(sql`delete from failures`);
    await failure("", 99, "-3 days");
    await failure("", 1, "-3 days", { method: "passcode" });
    await failure("", 5, "-3 days", { subject: "counted by both versions" });
    await failure("*", 1, "-1 day", { subject: "counted by both versions" });
    await failure("", 100, "-3 days");
    await failure("", 7, "-3 days", { method: "otp" });
    await failure("", 7, "-3 days", { method: "recovery_code" });
    await failure("known", 7, "-3 days");
    const migration = await readFile("db/migrations/0007_forget_unknown_names.sql", "utf8");
    await test.database.write.execute(sql.raw(migration));
    expect(await purgeExpired(test.database, config)).toBe(2);
    const { rows } = await test.database.read.$client.query(
      "select method, source, consecutive from failures order by method, source, consecutive",
    );
    expect(rows).toEqual([
      { method: "otp", source: "", consecutive: 7 },
      { method: "password", source: "", consecutive: 100 },
      { method: "password", source: "*", consecutive: 1 },
      { method: "password", source: "known", consecutive: 7 },
      { method: "recovery_code", source: "", consecutive: 7 },
    ]);
    await test.database.write.execute(sql`delete from failures`);
  });

  it("deletes more rows than one batch, and skips rows that another server is deleting", async () => {
    await test.database.write.execute(sql`
      insert into mailbox (id, recipient, subject, text, html, created_at)
      select gen_random_uuid(), 'a@example.com', '', '', '', now() - interval '8 days' from generate_series(1, 12000)`);
    const [first, second] = await Promise.all([
      purgeExpired(test.database, config),
      purgeExpired(test.database, config),
    ]);
    expect(first + second).toBe(12_000);
    expect(await count("mailbox")).toBe(0);
  });

  it("keeps the audit log for the configured retention", async () => {
    const line = (createdAt: string) =>
      test.database.write.execute(sql`
        insert into audit_logs (tenant_id, id, type, details, created_at)
        values (${tenant}, gen_random_uuid(), 'login_success', '{}', now() + ${createdAt}::interval)`);
    for (const time of ["-29 days", "-31 days"]) await line(time);
    expect(await purgeExpired(test.database, config)).toBe(1);
    expect(await count("audit_logs")).toBe(1);
  });

  it("erases the result of an expired transaction, and keeps its row for a day", async () => {
    const page = async (name: string, expiresIn: string) => {
      await test.database.write.execute(sql`
        with requesting as (
          insert into passkey_users (tenant_id, id, user_id, name, display_name)
          values (${tenant}, gen_random_uuid(), ${name}, '', '') returning id
        ), opened as (
          insert into passkey_transactions (tenant_id, id, user_id, identifier, data, challenge)
          select ${tenant}, gen_random_uuid(), id, ${name}, '{}', '' from requesting returning id
        )
        select 1 from opened`);
      await test.database.write.execute(sql`
        insert into transaction_confirmations
          (tenant_id, transaction_id, page_token_hash, redirect_to, code_hash, sealed_result, answered_at, expires_at)
        select ${tenant}, id, ${name}::bytea, '', ${name}::bytea, 'sealed', now(), now() + ${expiresIn}::interval
        from passkey_transactions where identifier = ${name}`);
    };
    await page("good", "1 second");
    await page("spent", "-1 second");
    await page("old", "-25 hours");
    expect(await purgeExpired(test.database, config)).toBe(1);
    const { rows } = await test.database.read.$client.query(
      "select encode(page_token_hash, 'escape') as name, code_hash is null and sealed_result is null as erased from transaction_confirmations order by 1",
    );
    expect(rows).toEqual([
      { name: "good", erased: false },
      { name: "spent", erased: true },
    ]);
  });

  it("erases the sealed data of an event whose deliveries have all ended, and keeps the event", async () => {
    const event = (age: string) =>
      test.database.write.execute(sql`
        insert into events (tenant_id, id, name, sealed_data, created_at)
        values (${tenant}, gen_random_uuid(), 'email.send', 'sealed', now() - ${age}::interval)`);
    for (const age of ["50 hours", "48 hours"]) await event(age);
    expect(await purgeExpired(test.database, config)).toBe(0);
    const { rows } = await test.database.read.$client.query(
      "select sealed_data is null as erased from events order by created_at",
    );
    expect(rows).toEqual([{ erased: true }, { erased: false }]);
  });

  it("ends between two batches once it is stopped", async () => {
    for (let row = 0; row < 3; row += 1) await flow("-25 hours");
    await test.database.write.execute(sql`
      insert into webauthn_challenges (tenant_id, id, flow_id, ceremony, challenge, expires_at)
      select ${tenant}, gen_random_uuid(), gen_random_uuid(), 'get', gen_random_uuid()::text, now() - interval '1 day'
      from generate_series(1, 1500)`);
    const ending = new AbortController();
    const claim = Object.assign(Object.create(test.database.claim), {
      async execute(statement: SQL) {
        const result = await test.database.claim.execute<{ changed: number }>(statement);
        if (result.rows[0]?.changed === 1_000) ending.abort();
        return result;
      },
    });
    expect(await purgeExpired({ ...test.database, claim }, config, ending.signal)).toBe(1_003);
    expect(await count("webauthn_challenges where expires_at < now()")).toBe(500);
    expect(await purgeExpired(test.database, config, ending.signal)).toBe(0);
    expect(await purgeExpired(test.database, config)).toBe(500);
  });

  it("purges the other tables when one fails, and tells of it", async () => {
    await flow("-25 hours");
    await test.database.write.execute(sql`
      insert into audit_logs (tenant_id, id, type, details, created_at)
      values (${tenant}, gen_random_uuid(), 'login_success', '{}', now() - interval '31 days')`);
    const query = (text: string) => test.database.write.$client.query(text);
    await query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'the disk is broken'; end $$`);
    await query("create trigger refuse before delete on audit_logs for each row execute function refuse()");
    const purge = purgeExpired(test.database, config);
    await expect(purge).rejects.toThrow("expired rows of some tables are not deleted");
    expect(await count("flows where expires_at < now() - interval '1 day'")).toBe(0);
    await query("drop function refuse() cascade");
    expect(await purgeExpired(test.database, config)).toBe(1);
  });

  it("changes nothing if nothing has expired", async () => {
    expect(await purgeExpired(test.database, config)).toBe(0);
  });
});

it("a purge of the background is told to end when purging stops, which waits for it, and none is begun after it", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let begun = 0;
  let ended = 0;
  const purge = async (ending: AbortSignal) => {
    begun += 1;
    await once(ending, "abort");
    ended += 1;
    return 0;
  };
  const stop = startPurging(purge, pino({ level: "silent" }));
  vi.advanceTimersByTime(60_000);
  expect([begun, ended]).toEqual([1, 0]);
  await stop();
  expect([begun, ended]).toEqual([1, 1]);
  vi.advanceTimersByTime(2 * PURGE_INTERVAL_MS);
  expect(begun).toBe(1);
});
