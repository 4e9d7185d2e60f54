import { sql } from "drizzle-orm";
import { afterEach, expect, test } from "vitest";
import type { Job } from "../runtime.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { startSmtp } from "../testing/smtp.ts";

/** Mails while servers of the release before or after this one take jobs from the same database. */

const tenantId = "00000000-0000-4000-8000-000000000001";

const db = await openForTests(testDatabase());
const smtp = await openForTests(startSmtp());
const jobs = await openForTests(testJobs(db, { SMTP_URL: smtp.url }));
await jobs.start({ worker: false });
afterEach(() => db.database.write.execute(sql`delete from pgboss.job`));

const commit = (job: Job) => db.database.write.transaction((tx) => jobs.enqueue(tx, job, null));

const deletion = (to: string): Job => ({
  name: "send_mail",
  tenantId,
  to,
  language: "en",
  mail: { type: "account_delete" },
});

async function stored() {
  const { rows } = await db.database.write.execute<{ name: string; state: string }>(
    sql`select name, state from pgboss.job`,
  );
  return rows;
}

test.each(["send_mail", "send_newer_mail"])("a mail in %s is sent, where releases put one", async (queue) => {
  const to = `ada@${queue.replaceAll("_", "-")}.example.com`;
  await commit(deletion(to));
  expect(await stored()).toEqual([{ name: "send_mail", state: "created" }]);
  await db.database.write.execute(sql`update pgboss.job set name = ${queue}`);
  expect(await jobs.runDue(5)).toBe(1);
  await smtp.waitFor(to);
  expect(await stored()).toEqual([]);
});

test.each(["send_mail", "send_newer_mail"])(
  "a mail that a later version has put into %s is tried again until it expires, and is sent by that version",
  async (queue) => {
    const to = `grace@${queue.replaceAll("_", "-")}.example.com`;
    const store = async (message: string) =>
      db.database.write.execute(sql`update pgboss.job set name = ${queue}, start_after = now(),
        data = jsonb_set(data, '{mail,type}', to_jsonb(${message}::text))`);
    await commit(deletion(to));
    await store("message_of_a_later_version");
    await jobs.runDue(5);
    expect(await stored()).toEqual([{ name: queue, state: "retry" }]);
    expect(jobs.logged.at(-1)).toContain("the stored mail cannot be read");

    // What only the later version reads.
    await store("account_delete");
    await jobs.runDue(5);
    await smtp.waitFor(to);
    expect(await stored()).toEqual([]);
  },
);
