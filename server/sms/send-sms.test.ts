import { asc, sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { JobCause } from "../jobs/job-cause.ts";
import { outageOf } from "../messages/outages.ts";
import { eventually } from "../testing/eventually.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import {
  acceptedSms,
  answering,
  type SmsBehaviour,
  type SmsService,
  startSmsCatcher,
} from "../testing/sms-service.ts";
import type { SmsJob } from "./sms-job.ts";

const tenantId = "00000000-0000-4000-8000-000000000001";
const number = "+4915112345678";
const code = "048213";

let service: SmsService | undefined;
let jobs: ReturnType<typeof testJobs> | undefined;
const db = await openForTests(testDatabase());

beforeEach(async () => {
  await db.database.write.execute(
    sql`do $$ begin if to_regclass('pgboss.job') is not null then delete from pgboss.job; end if; end $$`,
  );
  for (const table of [schema.auditLogs, schema.smsOutages, schema.mailbox])
    await db.database.write.delete(table);
});
afterEach(async () => {
  await jobs?.stop();
  await service?.close();
  jobs = undefined;
  service = undefined;
});

const job: SmsJob = {
  name: "send_sms",
  tenantId,
  to: number,
  language: "en",
  sms: { type: "sms_login", code, ttlSeconds: 300, host: "login.example.com" },
};

const cause: JobCause = {
  client: { ip: "192.0.2.7", userAgent: "Test/1.0", requestId: "request-of-the-step" },
  now: new Date(),
};

async function start(behave?: readonly SmsBehaviour[], settings: Record<string, string> = {}) {
  service = await startSmsCatcher(behave);
  jobs = testJobs(db, { ...service.settings, ...settings });
  await jobs.start({ worker: false });
  return jobs;
}

async function enqueue(one: SmsJob = job) {
  await db.database.write.transaction(async (tx) => jobs?.enqueue(tx, one, cause));
}

/** Makes the job due, as time would. */
const hurry = () => db.database.write.execute(sql`update pgboss.job set start_after = now()`);

const entries = async () =>
  (await db.database.read.select().from(schema.auditLogs).orderBy(asc(schema.auditLogs.createdAt))).map(
    ({ type, details }) => ({ type, details }),
  );
const rows = async () =>
  (await db.database.read.execute(sql`select name, state, data::text, start_after from pgboss.job`)).rows;

test("an SMS goes to the service, and nothing of it stays in the queue", async () => {
  const { runDue, logged } = await start();
  await enqueue();
  expect(await runDue(10)).toBe(1);
  expect(service?.received[0]?.form).toMatchObject({
    To: number,
    From: "+4915100000000",
    Body: `${code} is your Stile sign-in code, valid for 5 minutes. Do not share it.\n@login.example.com #${code}`,
    ValidityPeriod: expect.stringMatching(/^(29\d|300)$/),
  });
  expect(await rows()).toEqual([]);
  const facts = { sms: "sms_login", recipient: "+49…78", identifier_digest: expect.any(String) };
  expect(await entries()).toEqual([
    { type: "sms_queued", details: facts },
    {
      type: "sms_accepted",
      details: { ...facts, answer: "201 queued SM00000000000000000000000000000001", attempts: 1 },
    },
  ]);
  expect(logged.join()).toContain('"sms":"sms_login"');
});

test("A174 neither the queue nor the log nor the audit log holds the code, and the logs not the number", async () => {
  const quoting = answering(500, { message: `cannot send "${code}" to ${number}` });
  const rejecting = answering(400, { code: 21_211, message: `${number} cannot get ${code}` });
  const { runDue, logged } = await start([quoting, rejecting]);
  await enqueue();
  expect((await rows()).map(({ data }) => data).join()).not.toContain(code);
  await runDue(10);
  expect((await rows()).map(({ data }) => data).join()).not.toContain(code);
  await hurry();
  await runDue(10);
  const [dead] = await rows();
  expect(dead?.name).toBe("dead_letters");
  expect(dead?.data).not.toContain(code);
  for (const text of [logged.join(), JSON.stringify(await entries())]) {
    expect(text).not.toContain(code);
    expect(text).not.toContain(number.slice(1));
  }
  expect((await entries()).at(-1)).toMatchObject({
    type: "sms_failed",
    details: {
      reason: "rejected",
      detail: "the service rejected it: 400, error 21211",
      attempts: 2,
      last_failure: "500",
    },
  });
});

test("a job without a recipient sends nothing, and says why in the audit log", async () => {
  const { runDue } = await start();
  await enqueue({ ...job, to: null, withheld: { reason: "no_account", identifier: number } });
  expect(await runDue(10)).toBe(1);
  expect(service?.received).toEqual([]);
  expect(await entries()).toMatchObject([
    { type: "sms_withheld", details: { reason: "no_account", recipient: "+49…78" } },
  ]);
});

test("a number whose country is no longer allowed gets no SMS, and no webhook its code", async () => {
  const { runDue } = await start();
  await enqueue({ ...job, to: "+447911123456" });
  await runDue(10);
  expect(service?.received).toEqual([]);
  expect((await entries()).at(-1)).toMatchObject({
    type: "sms_failed",
    details: { detail: "its country is not allowed" },
  });
});

test("a code that has expired is not sent", async () => {
  const { runDue } = await start();
  await enqueue();
  await db.database.write.execute(
    sql`update pgboss.job set keep_until = now() + interval '599 seconds', created_on = now() - interval '10 minutes'`,
  );
  await runDue(10);
  expect(service?.received).toEqual([]);
  expect((await entries()).at(-1)).toMatchObject({ type: "sms_failed", details: { reason: "expired" } });
});

test("the next attempt waits as long as the service asks, and no longer than the code lives", async () => {
  const busy = (seconds: string) => answering(429, {}, { "retry-after": seconds });
  const { runDue } = await start([busy("120"), busy("86400")]);
  const due = async () => {
    const { rows: found } = await db.database.read.execute(
      sql`select extract(epoch from start_after - now())::int as seconds from pgboss.job`,
    );
    return Number(found[0]?.seconds);
  };
  await enqueue();
  await runDue(10);
  expect(await due()).toBeGreaterThan(60);
  expect(await due()).toBeLessThanOrEqual(120);
  await hurry();
  await runDue(10);
  expect(await due()).toBeGreaterThan(120);
  expect(await due()).toBeLessThanOrEqual(300);
});

test("an SMS that may have been sent is tried three times, and one that was not until its code expires", async () => {
  const html = answering(200, "<h1>Hello</h1>");
  const { runDue } = await start([html]);
  await enqueue();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await runDue(10);
    await hurry();
  }
  expect(service?.received).toHaveLength(3);
  expect((await entries()).at(-1)).toMatchObject({
    type: "sms_failed",
    details: { detail: "it may have been sent, and is not tried again: SMS_SERVICE_UNREADABLE", attempts: 3 },
  });
});

test("a service that is down is tried again, and an outage lasts until it accepts an SMS", async () => {
  const down = answering(503, {}, { "retry-after": "1" });
  const { runDue, logged } = await start([down, down, down, down, answering(201, acceptedSms)]);
  const outage = () => outageOf(db.database.read, "sms", tenantId);
  await enqueue();
  for (let attempt = 0; attempt < 4; attempt += 1) {
    await runDue(10);
    await hurry();
  }
  expect(await outage()).toMatchObject({ failure: "503" });
  await runDue(10);
  expect(await outage()).toBeNull();
  expect((await entries()).at(-1)).toMatchObject({ type: "sms_accepted", details: { attempts: 5 } });
  expect(logged.join()).toContain("SMS are accepted again");
});

describe("an outage", () => {
  test("begins when the service rejects the account, and not when it rejects one number", async () => {
    const wrong = answering(401, { code: 20_003 });
    const { runDue } = await start([answering(400, { code: 21_211 }), wrong]);
    await enqueue();
    await runDue(10);
    expect(await outageOf(db.database.read, "sms", tenantId)).toBeNull();
    await enqueue();
    await runDue(10);
    expect(await outageOf(db.database.read, "sms", tenantId)).not.toBeNull();
  });
});

test("in development without a service, an SMS stays in the local mailbox", async () => {
  await start(undefined, { STILE_SMS_DELIVERY_ACCOUNT_SID: "" });
  await enqueue({ ...job, language: "de" });
  await jobs?.runDue(10);
  expect(service?.received).toEqual([]);
  const [kept] = await db.database.read.select().from(schema.mailbox);
  expect(kept).toMatchObject({ recipient: number, subject: "SMS", html: "" });
  expect(kept?.text).toContain(`${code} ist Ihr Anmeldecode für Stile`);
});

test("with sms_delivery.enabled off and no webhook, nothing is sent, and the job waits for one", async () => {
  const { runDue, logged } = await start(undefined, { STILE_SMS_DELIVERY_ENABLED: "false" });
  await enqueue();
  await runDue(10);
  expect(service?.received).toEqual([]);
  expect(await rows()).toMatchObject([{ name: "send_sms", state: "retry" }]);
  await eventually(async () => expect(logged.join()).toContain("NO_SMS_RECEIVER"));
});
