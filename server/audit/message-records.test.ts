import { asc, sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { schema } from "#db/client";
import type { JobCause } from "../jobs/job-cause.ts";
import { createVault } from "../keys/vault.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { outageOf } from "../messages/outages.ts";
import { eventually } from "../testing/eventually.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { identifierDigests } from "./identifier.ts";

const tenantId = "00000000-0000-4000-8000-000000000001";
const userId = "3c1e0f3a-2f0b-4c7e-9a52-1d2f4b6a8c00";
const flowId = "8f0c0f3a-2f0b-4c7e-9a52-1d2f4b6a8c11";
const secretKey = "a key for this test alone";

let smtp: SmtpCatcher | undefined;
let jobs: ReturnType<typeof testJobs> | undefined;
const db = await openForTests(testDatabase());

beforeEach(async () => {
  await db.database.write.execute(
    sql`do $$ begin if to_regclass('pgboss.job') is not null then delete from pgboss.job; end if; end $$`,
  );
  await db.database.write.delete(schema.auditLogs);
  await db.database.write.delete(schema.mailOutages);
});
afterEach(async () => {
  await jobs?.stop();
  await smtp?.close();
  jobs = undefined;
  smtp = undefined;
});

const job: MailJob = {
  name: "send_mail",
  tenantId,
  to: "recipient@example.com",
  language: "en",
  mail: { type: "login", code: "482913", ttlSeconds: 300 },
};

const cause: JobCause = {
  client: { ip: "192.0.2.7", userAgent: "Test/1.0", requestId: "request-of-the-step" },
  now: new Date(),
  flowId,
  userId,
};

async function start(settings: Record<string, string>) {
  const started = testJobs(db, settings, [secretKey]);
  jobs = started;
  await started.start({ worker: false });
  return started;
}

/** Commits a mail, and runs it once. */
async function mail(settings: Record<string, string>, given = job, by: JobCause | null = cause) {
  const started = jobs ?? (await start(settings));
  await db.database.write.transaction((tx) => started.enqueue(tx, given, by));
  await started.runDue(5);
  return started;
}

async function entries() {
  const { auditLogs } = schema;
  const rows = await db.database.read.select().from(auditLogs).orderBy(asc(auditLogs.createdAt));
  return rows.map(({ type, userId: user, requestId, ipAddress, details }) => ({
    type,
    user,
    requestId,
    ipAddress,
    details,
  }));
}

/** Makes the waiting jobs due. */
const makeDue = () =>
  db.database.write.execute(sql`update pgboss.job set start_after = now() where name = 'send_mail'`);

const outage = () => outageOf(db.database.read, "mail", tenantId);

const named = {
  mail: "login",
  recipient: "r…t@example.com",
  identifier_digest: identifierDigests(createVault([secretKey]), tenantId, "recipient@example.com")[0],
};

test("records that a mail was queued, and accepted with the answer of the mail server", async () => {
  smtp = await startSmtp();
  const { logged } = await mail({ SMTP_URL: smtp.url });
  const by = { user: userId, requestId: "request-of-the-step" };
  expect(await entries()).toEqual([
    { type: "mail_queued", ...by, ipAddress: "192.0.2.7", details: { ...named, flow: flowId } },
    {
      type: "mail_accepted",
      ...by,
      ipAddress: null,
      details: { ...named, answer: expect.stringMatching(/^250 .+/), attempts: 1 },
    },
  ]);
  expect(JSON.parse(logged.at(-1) ?? "")).toMatchObject({
    job: "send_mail",
    mail: "login",
    request_id: "request-of-the-step",
    flow: flowId,
    user: userId,
  });
  expect(JSON.stringify(await entries()) + logged.join()).not.toMatch(/482913|recipient@/);
});

test("A161 records no code and no address that the mail server quotes", async () => {
  smtp = await startSmtp({ acceptance: "queued 482913 for recipient@example.com" });
  await mail({ SMTP_URL: smtp.url });
  expect((await entries())[1]?.details).toMatchObject({ answer: "250 queued … for …@…" });
});

test("records that a mail was refused for good, and why", async () => {
  smtp = await startSmtp({ reply: () => 550 });
  const { logged } = await mail({ SMTP_URL: smtp.url });
  expect((await entries())[1]).toEqual({
    type: "mail_failed",
    user: userId,
    requestId: "request-of-the-step",
    ipAddress: null,
    details: {
      ...named,
      reason: "rejected",
      detail: "the mail server rejected it: 550 to DATA",
      attempts: 1,
    },
  });
  expect(logged.at(-1)).toContain('"request_id":"request-of-the-step"');
  expect(await outage()).toBeNull();
});

test("records that a code expired while the mail server was away, and what it failed with", async () => {
  const away = await startSmtp();
  await away.close();
  await mail({ SMTP_URL: away.url });
  await db.database.write.execute(
    sql`update pgboss.job set start_after = now(), keep_until = now() - interval '1 hour' where name = 'send_mail'`,
  );
  await jobs?.runDue(5);
  expect((await entries())[1]).toMatchObject({
    type: "mail_failed",
    details: { ...named, reason: "expired", last_failure: "ECONNREFUSED", attempts: 1 },
  });
});

test.each([
  ["refuses", () => startSmtp({ reply: () => 451 }), "451 to DATA"],
  [
    "refuses connections",
    async () => {
      const away = await startSmtp();
      await away.close();
      return away;
    },
    "ECONNREFUSED",
  ],
])("a mail server that %s is failing until it takes a mail again", async (_, startServer, failure) => {
  const broken = await startServer();
  const { logged } = await mail({ SMTP_URL: broken.url });
  const began = await outage();
  expect(began).toEqual({ since: expect.any(Date), lastFailedAt: began?.since, failure });
  expect(logged.at(-1)).toContain('"request_id":"request-of-the-step"');
  await makeDue();
  await jobs?.runDue(5);
  const later = await outage();
  expect(later?.since).toEqual(began?.since);
  expect(later?.lastFailedAt.getTime()).toBeGreaterThan(began?.since.getTime() ?? 0);

  await broken.close();
  smtp = await startSmtp({ port: Number(new URL(broken.url).port) });
  await makeDue();
  await jobs?.runDue(5);
  expect(await outage()).toBeNull();
  expect((await entries()).map(({ type }) => type)).toEqual(["mail_queued", "mail_accepted"]);
  expect((await entries())[1]?.details).toMatchObject({ attempts: 3 });
  expect(jobs?.logged.join()).toContain("mails are accepted again");
});

test("a mail server that hangs is failing until it takes a mail again", async () => {
  let isHung = true;
  const held: (() => void)[] = [];
  smtp = await startSmtp({
    options: {
      onConnect(_, callback) {
        if (isHung) held.push(() => callback());
        else callback();
      },
    },
  });
  const { logged } = await mail({ SMTP_URL: smtp.url });
  expect(await outage()).toMatchObject({ failure: "ETIMEDOUT" });
  expect(logged.at(-1)).toContain("will be retried");
  isHung = false;
  for (const go of held) go();
  await makeDue();
  await jobs?.runDue(5);
  expect(await outage()).toBeNull();
  await eventually(() => expect(smtp?.messages).toHaveLength(1));
});

test("a mailbox that is busy is no outage", async () => {
  smtp = await startSmtp({
    options: {
      onRcptTo(_, __, callback) {
        callback(Object.assign(new Error("greylisted"), { responseCode: 450 }));
      },
    },
  });
  await mail({ SMTP_URL: smtp.url });
  expect(await outage()).toBeNull();
});

test.each(["limit_reached", "no_account", "no_address"] as const)(
  "records a code that is mailed to no one because of %s, as one entry",
  async (reason) => {
    await mail({}, { ...job, to: null, withheld: { reason, identifier: "recipient@example.com" } });
    expect(await entries()).toMatchObject([
      { type: "mail_withheld", user: userId, details: { ...named, flow: flowId, reason } },
    ]);
  },
);

test("a job of the version before, which has no cause, is sent and recorded without one", async () => {
  smtp = await startSmtp();
  const started = await start({ SMTP_URL: smtp.url });
  await db.database.write.transaction((tx) => started.enqueue(tx, job, cause));
  await db.database.write.execute(sql`update pgboss.job set data = data - 'cause' where name = 'send_mail'`);
  await db.database.write.delete(schema.auditLogs);
  await started.runDue(5);
  expect(smtp.messages).toHaveLength(1);
  expect(await entries()).toMatchObject([{ type: "mail_accepted", user: null, requestId: null }]);
  expect(started.logged.at(-1)).toContain("job done");
});

test("a mail whose entry cannot be written is not sent again", async () => {
  smtp = await startSmtp();
  const started = await start({ SMTP_URL: smtp.url });
  await db.database.write.transaction((tx) => started.enqueue(tx, job, null));
  await db.database.write.execute(sql`alter table audit_logs rename to hidden`);
  try {
    await started.runDue(5);
  } finally {
    await db.database.write.execute(sql`alter table hidden rename to audit_logs`);
  }
  await started.runDue(5);
  expect(smtp.messages).toHaveLength(1);
  expect(started.logged.join()).toContain("recording what became of a job failed");
});
