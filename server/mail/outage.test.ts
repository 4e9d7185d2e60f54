import { sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deadLetters } from "../jobs/queue.ts";
import type { Job } from "../runtime.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import type { MailContent } from "./mail-job.ts";

const HOUR_SECONDS = 3_600;

let smtp: SmtpCatcher | undefined;
let jobs: ReturnType<typeof testJobs>;
const db = await openForTests(testDatabase());

beforeEach(async () => {
  await db.database.write.execute(
    sql`do $$ begin if to_regclass('pgboss.job') is not null then delete from pgboss.job; end if; end $$`,
  );
});
afterEach(async () => {
  await jobs.stop();
  await smtp?.close();
  smtp = undefined;
});

async function enqueue(to: string, mail: MailContent): Promise<void> {
  const job: Job = {
    name: "send_mail",
    tenantId: "00000000-0000-4000-8000-000000000001",
    to,
    language: "nl",
    mail,
  };
  await db.database.write.transaction((tx) => jobs.enqueue(tx, job, null));
}

const notice: MailContent = { type: "password_update" };
const code: MailContent = { type: "login", code: "482913", ttlSeconds: 300 };

/** Simulates that time passes until the next job is due, at least a second. Returns the seconds; 0 without a job. */
async function waitForNext(): Promise<number> {
  const { rows } = await db.database.write.execute<{ seconds: number | null }>(sql`
    select case when count(*) > 0 then greatest(1, ceil(extract(epoch from min(start_after) - now())))::int end as seconds
    from pgboss.job where name = 'send_mail' and state in ('created', 'retry')`);
  const seconds = rows[0]?.seconds ?? 0;
  await db.database.write.execute(sql`
    update pgboss.job set start_after = start_after - make_interval(secs => ${seconds}),
      created_on = created_on - make_interval(secs => ${seconds}),
      keep_until = keep_until - make_interval(secs => ${seconds})
    where name = 'send_mail'`);
  return seconds;
}

/** Runs due jobs for an hour of simulated time; returns the number of attempts. */
async function anHourPasses(): Promise<number> {
  let attempts = 0;
  for (let elapsed = 0; elapsed < HOUR_SECONDS; ) {
    attempts += await jobs.runDue(50);
    const seconds = await waitForNext();
    if (seconds === 0) break;
    elapsed += seconds;
  }
  return attempts;
}

async function untilSettled(): Promise<number> {
  let waited = 0;
  for (;;) {
    await jobs.runDue(50);
    const seconds = await waitForNext();
    if (seconds === 0) return waited;
    waited += seconds;
  }
}

const left = async () =>
  (
    await db.database.write.execute<{ name: string; data: Record<string, unknown> }>(
      sql`select name, data from pgboss.job`,
    )
  ).rows;

describe("a mail server that is down for an hour", () => {
  test("A117 gets every notice once it is back, each once and within minutes, after few attempts", async () => {
    const away = await startSmtp();
    await away.close();
    jobs = testJobs(db, { SMTP_URL: away.url });
    await jobs.start({ worker: false });
    const recipients = ["ada@example.com", "bob@example.com", "eve@example.com"];
    for (const to of recipients) await enqueue(to, notice);
    const attempts = await anHourPasses();
    expect(attempts).toBeGreaterThan(recipients.length * 5);
    expect(attempts).toBeLessThan(recipients.length * 60);
    smtp = await startSmtp({ port: Number(new URL(away.url).port) });
    expect(await untilSettled()).toBeLessThanOrEqual(600);
    expect(smtp.messages.map(({ to }) => (Array.isArray(to) ? "" : to?.text)).sort()).toEqual(recipients);
    expect(smtp.messages[0]?.headers.get("content-language")).toBe("nl");
    expect(await left()).toEqual([]);
  });

  test("A117 gets no code that has expired meanwhile; its dead letter omits the code", async () => {
    const away = await startSmtp();
    await away.close();
    jobs = testJobs(db, { SMTP_URL: away.url });
    await jobs.start({ worker: false });
    await enqueue("ada@example.com", code);
    await anHourPasses();
    smtp = await startSmtp({ port: Number(new URL(away.url).port) });
    await untilSettled();
    expect(smtp.messages).toEqual([]);
    expect(await left()).toMatchObject([{ name: deadLetters, data: { reason: "expired", mail: "login" } }]);
    expect(JSON.stringify(await left()) + jobs.logged.join("")).not.toContain("482913");
  });
});

test("A117 a mail server that refuses for a while, in all ways of refusing, gets each mail once", async () => {
  const answers = [421, 450, 451, 452, 454];
  let asked = 0;
  smtp = await startSmtp({ reply: () => answers[asked++] });
  jobs = testJobs(db, { SMTP_URL: smtp.url });
  await jobs.start({ worker: false });
  await enqueue("ada@example.com", notice);
  await untilSettled();
  expect(asked).toBe(answers.length + 1);
  expect(smtp.messages).toHaveLength(1);
  expect(await left()).toEqual([]);
});

test("A117 a mail that is refused for good does not hold back the mails behind it", async () => {
  smtp = await startSmtp({ reply: (to) => (to.startsWith("unknown") ? 550 : undefined) });
  jobs = testJobs(db, { SMTP_URL: smtp.url });
  await jobs.start({ worker: false });
  for (let number = 0; number < 6; number += 1) await enqueue(`unknown${number}@example.com`, code);
  await enqueue("ada@example.com", code);
  await untilSettled();
  await expect(smtp.codeFor("ada@example.com")).resolves.toBe("482913");
  expect((await left()).map(({ name }) => name)).toEqual(Array(6).fill(deadLetters));
});
