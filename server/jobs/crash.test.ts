import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { testJobs } from "../testing/jobs.ts";
import { testDatabase } from "../testing/postgres.ts";
import { startSmtp } from "../testing/smtp.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";

const script = join(import.meta.dirname, "../testing/jobs-process.ts");
const recipients = Array.from({ length: 10 }, (_, index) => `committed-${2 * index}@example.com`);

function startProcess(databaseUrl: string, smtpUrl: string, { worker }: { worker: boolean }): ChildProcess {
  const child = spawn(process.execPath, [script, databaseUrl, smtpUrl, String(worker)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test("A112 after a process was killed between commit and sending, the next one sends only committed mails", async () => {
  const { url, database, close } = await testDatabase();
  const smtp = await startSmtp();
  const child = startProcess(url, smtp.url, { worker: false });
  if (!child.stdout) throw new Error("the process has no output");
  await once(child.stdout, "data");
  await kill(child);
  expect(smtp.messages).toEqual([]);

  const jobs = testJobs({ database }, { SMTP_URL: smtp.url });
  await jobs.start({ worker: true });
  await Promise.all(recipients.map((to) => smtp.waitFor(to)));
  await jobs.stop();
  expect(smtp.messages).toHaveLength(recipients.length);
  await smtp.close();
  await close();
});

test("A112 after a process was killed while sending, the next one sends every mail with the same identifier", async () => {
  const { url, database, close } = await testDatabase();
  const pending = new Map<string, string>();
  const stalling = await startSmtp({
    reply: (to) =>
      new Promise(() => {
        pending.set(to, "");
      }),
  });
  const child = startProcess(url, stalling.url, { worker: true });
  await eventually(() => expect(pending.size).toBe(5));
  await kill(child);
  await stalling.close();
  // Simulates a minute of waiting, after which the jobs of the killed process are released.
  // Five are being sent, and the others wait for a connection.
  const { rows } = await database.write.execute<{ id: string }>(
    sql`update pgboss.job set started_on = started_on - interval '1 minute' where name = 'send_mail' and state = 'active' returning id`,
  );
  await database.write.execute(
    sql`update pgboss.queue set monitor_claim_on = monitor_claim_on - interval '1 minute'`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(5);

  const smtp = await startSmtp();
  const jobs = testJobs({ database }, { SMTP_URL: smtp.url });
  await jobs.start({ worker: true });
  const mails = await Promise.all(recipients.map((to) => smtp.waitFor(to)));
  await jobs.stop();
  const identifiers = mails.map((mail) => mail.messageId?.slice(1).split("@")[0]);
  expect(new Set(identifiers).size).toBe(recipients.length);
  for (const { id } of rows) expect(identifiers).toContain(id);
  await smtp.close();
  await close();
});

test("A185 after a process was killed between sending mails and ending them, they are sent again as the same and recorded once", async () => {
  const { url, database, close } = await testDatabase();
  const smtp = await startSmtp();
  const blocker = await database.write.$client.connect();
  await blocker.query("begin");
  await blocker.query("lock table audit_logs in exclusive mode");
  const child = startProcess(url, smtp.url, { worker: true });
  await Promise.all(recipients.map((to) => smtp.waitFor(to)));
  await waitsForLock(blocker);
  await kill(child);
  // PostgreSQL would run the statement that waits for the lock, although its client is gone.
  await database.write.execute(
    sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and query like '%jobs_ended%' and wait_event_type = 'Lock'`,
  );
  await blocker.query("rollback");
  blocker.release();
  const sent = smtp.messages.map(({ messageId }) => messageId);
  await database.write.execute(
    sql`update pgboss.job set started_on = started_on - interval '1 minute' where state = 'active'`,
  );
  await database.write.execute(
    sql`update pgboss.queue set monitor_claim_on = monitor_claim_on - interval '1 minute'`,
  );

  const jobs = testJobs({ database }, { SMTP_URL: smtp.url });
  await jobs.start({ worker: true });
  await eventually(async () => {
    const { rows } = await database.write.execute(sql`select from pgboss.job where name = 'send_mail'`);
    expect(rows).toEqual([]);
  });
  await jobs.stop();
  expect(
    smtp.messages
      .slice(sent.length)
      .map(({ messageId }) => messageId)
      .sort(),
  ).toEqual(sent.sort());
  const { rows } = await database.write.execute(sql`select from audit_logs where type = 'mail_accepted'`);
  expect(rows).toHaveLength(recipients.length);
  await smtp.close();
  await close();
});
