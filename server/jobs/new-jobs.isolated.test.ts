import { sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type Database, openDatabase } from "#db/client";
import type { Job } from "../runtime.ts";
import { eventually } from "../testing/eventually.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { startSmtp } from "../testing/smtp.ts";
import { deadLetters } from "./queue.ts";

const place = vi.hoisted(() => ({ isDistributed: true, workers: new Set<unknown>() }));

// A statement of a distributed database is one of PostgreSQL, too; which node it is sent to is not seen here.
vi.mock("#db/distribution", () => ({
  isDistributed: async () => place.isDistributed,
  isDistributedTransaction: async () => place.isDistributed,
  entersAtWorker: async (database: unknown) => place.workers.has(database),
  beginsIn: () => {},
}));

const tenantId = "00000000-0000-4000-8000-000000000001";

const mailTo = (to: string): Job => ({
  name: "send_mail",
  tenantId,
  to,
  language: "en",
  mail: { type: "login", code: "482913", ttlSeconds: 300 },
});

const db = await openForTests(testDatabase());

/** Jobs of a process that enters at another node than the coordinator. */
async function startElsewhere() {
  const database = openDatabase(db.url, 2, () => {}, true);
  place.workers.add(database);
  const jobs = testJobs({ database });
  onTestFinished(async () => {
    await jobs.stop();
    await database.close();
  });
  await jobs.start({ worker: true });
  return { database, jobs };
}

async function startAtCoordinator(settings: Record<string, string> = {}) {
  const jobs = testJobs(db, settings);
  onTestFinished(() => jobs.stop());
  await jobs.start({ worker: true });
  return jobs;
}

const commit = (database: Database, jobs: ReturnType<typeof testJobs>, job: Job) =>
  database.write.transaction((tx) => jobs.enqueue(tx, job, null));

const namesIn = async (table: string, condition = "true") =>
  (
    await db.database.read.execute<{ name: string }>(
      sql`select name from ${sql.raw(table)} where ${sql.raw(condition)}`,
    )
  ).rows.map(({ name }) => name);

beforeEach(async () => {
  place.isDistributed = true;
  // The queue is made by the first start.
  await testJobs(db).start({ worker: false });
});
afterEach(async () => {
  await db.database.write.execute(sql`delete from pgboss.job`);
  await db.database.write.execute(sql`delete from new_jobs`);
});

test("a job that is made at another node is done by a process at the coordinator, once", async () => {
  const smtp = await startSmtp();
  onTestFinished(() => smtp.close());
  const elsewhere = await startElsewhere();
  const recipients = Array.from({ length: 20 }, (_, index) => `visitor-${index}@example.com`);
  for (const to of recipients) await commit(elsewhere.database, elsewhere.jobs, mailTo(to));
  elsewhere.jobs.wake([{ name: "send_mail" }]);
  expect(await namesIn("new_jobs")).toHaveLength(recipients.length);
  expect(await elsewhere.jobs.waiting(tenantId)).toEqual({
    counts: { send_mail: recipients.length },
    more: true,
  });

  await Promise.all([startAtCoordinator({ SMTP_URL: smtp.url }), startAtCoordinator({ SMTP_URL: smtp.url })]);
  await Promise.all(recipients.map((to) => smtp.codeFor(to)));
  await eventually(async () => expect(await namesIn("pgboss.job", "state <> 'completed'")).toEqual([]));
  expect(smtp.messages).toHaveLength(recipients.length);
  expect(await namesIn("new_jobs")).toEqual([]);
});

test("a job that is made at the coordinator is done, unless its transaction was rolled back", async () => {
  const smtp = await startSmtp();
  onTestFinished(() => smtp.close());
  const jobs = await startAtCoordinator({ SMTP_URL: smtp.url });
  const rolledBack = db.database.write.transaction(async (tx) => {
    await jobs.enqueue(tx, mailTo("rolled-back@example.com"), null);
    tx.rollback();
  });
  await expect(rolledBack).rejects.toThrow();
  await commit(db.database, jobs, mailTo("anna@example.com"));
  jobs.wake([{ name: "send_mail" }]);
  await smtp.waitFor("anna@example.com");
  expect(smtp.messages).toHaveLength(1);
});

test("a job of a kind that this version does not know waits, and keeps no other from being done", async () => {
  const smtp = await startSmtp();
  onTestFinished(() => smtp.close());
  const elsewhere = await startElsewhere();
  await commit(elsewhere.database, elsewhere.jobs, mailTo("later@example.com"));
  await db.database.write.execute(sql`update new_jobs set name = 'of_a_later_version'`);
  await commit(elsewhere.database, elsewhere.jobs, mailTo("known@example.com"));
  await startAtCoordinator({ SMTP_URL: smtp.url });
  await smtp.codeFor("known@example.com");
  expect(await namesIn("new_jobs")).toEqual(["of_a_later_version"]);
});

test("a job that has waited longer than it lives is given up", async () => {
  const elsewhere = await startElsewhere();
  await commit(elsewhere.database, elsewhere.jobs, mailTo("late@example.com"));
  await db.database.write.execute(sql`update new_jobs set created_at = created_at - interval '1 hour'`);
  await startAtCoordinator();
  await eventually(async () => expect(await namesIn("pgboss.job")).toEqual([deadLetters]));
});

test("jobs that a backup of a distributed database had are done on one PostgreSQL", async () => {
  const smtp = await startSmtp();
  onTestFinished(() => smtp.close());
  const elsewhere = await startElsewhere();
  await commit(elsewhere.database, elsewhere.jobs, mailTo("restored@example.com"));
  place.isDistributed = false;
  await startAtCoordinator({ SMTP_URL: smtp.url });
  await smtp.codeFor("restored@example.com");
  expect(await namesIn("new_jobs")).toEqual([]);
});

test("jobs are run by processes without workers, too", async () => {
  const smtp = await startSmtp();
  onTestFinished(() => smtp.close());
  const jobs = testJobs(db, { SMTP_URL: smtp.url });
  onTestFinished(() => jobs.stop());
  await jobs.start({ worker: false });
  await commit(db.database, jobs, mailTo("function@example.com"));
  expect(await jobs.runDue(10)).toBe(1);
  await smtp.codeFor("function@example.com");
});
