import { sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "#db/client";
import type { Job } from "../runtime.ts";
import { cuttingProxy } from "../testing/cutting-proxy.ts";
import { eventually } from "../testing/eventually.ts";
import { testJobs } from "../testing/jobs.ts";
import { laterRelease } from "../testing/later-release.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";
import { deadLetters } from "./queue.ts";

const code = "482913";
const tenantId = "00000000-0000-4000-8000-000000000001";

const codeMail = (to: string, ttlSeconds = 300, more: { link?: string } = {}): Job => ({
  name: "send_mail",
  tenantId,
  to,
  language: "en",
  mail: { type: "login", code, ttlSeconds, ...more },
});

const noticeMail = (to: string): Job => ({
  name: "send_mail",
  tenantId,
  to,
  language: "de",
  mail: { type: "email_login_attempted" },
});

const [old, fresh] = ["the key of last year", "the key of this year"];

/** The jobs that all these tests enqueue. */
const mails = [{ name: "send_mail" }] as const;

let smtp: SmtpCatcher | undefined;
let jobs: ReturnType<typeof testJobs> | undefined;

const db = await openForTests(testDatabase());

beforeEach(async () => {
  // The table does not exist before the first start.
  await db.database.write.execute(
    sql`do $$ begin if to_regclass('pgboss.job') is not null then delete from pgboss.job; end if; end $$`,
  );
  await db.database.write.execute(sql`delete from audit_logs`);
});
afterEach(async () => {
  await jobs?.stop();
  await smtp?.close();
  jobs = undefined;
  smtp = undefined;
});

async function startJobs(settings: Record<string, string>, { worker = true } = {}) {
  const started = testJobs(db, settings);
  jobs = started;
  await started.start({ worker });
  return started;
}

async function commit(job: Job): Promise<void> {
  await db.database.write.transaction(async (tx) => {
    await jobs?.enqueue(tx, job, null);
  });
}

interface StoredJob extends Record<string, unknown> {
  name: string;
  state: string;
  data: Record<string, unknown>;
  text: string;
}

async function storedJobs(): Promise<StoredJob[]> {
  const { rows } = await db.database.write.execute<StoredJob>(
    sql`select name, state, data, job::text as text from pgboss.job order by created_on`,
  );
  return rows;
}

describe("enqueuing a job", () => {
  test("sends a committed mail when the worker is woken", async () => {
    smtp = await startSmtp();
    await startJobs({ SMTP_URL: smtp.url });
    await commit(codeMail("anna@example.com"));
    jobs?.wake(mails);
    await expect(smtp.codeFor("anna@example.com")).resolves.toBe(code);
    await expect(smtp.waitFor("anna@example.com")).resolves.toMatchObject({
      subject: `${code} is your Stile sign-in code`,
    });
  });

  test("does not send a mail whose transaction was rolled back", async () => {
    smtp = await startSmtp();
    await startJobs({ SMTP_URL: smtp.url });
    const rolledBack = db.database.write.transaction(async (tx) => {
      await jobs?.enqueue(tx, codeMail("rolled-back@example.com"), null);
      tx.rollback();
    });
    await expect(rolledBack).rejects.toThrow();
    jobs?.wake(mails);
    await commit(noticeMail("anna@example.com"));
    jobs?.wake(mails);
    await smtp.waitFor("anna@example.com");
    expect(smtp.messages).toHaveLength(1);
  });

  test("sends every mail of concurrent transactions that wake the worker", async () => {
    smtp = await startSmtp();
    await startJobs({ SMTP_URL: smtp.url });
    const recipients = Array.from({ length: 40 }, (_, index) => `crowd-${index}@example.com`);
    await Promise.all(
      recipients.map(async (to) => {
        await commit(codeMail(to));
        jobs?.wake(mails);
      }),
    );
    await Promise.all(recipients.map((to) => smtp?.waitFor(to)));
    await jobs?.stop();
    expect(smtp.messages).toHaveLength(recipients.length);
    expect(await storedJobs()).toEqual([]);
  });

  test("sends a mail at the next interval if the worker is not woken", async () => {
    smtp = await startSmtp();
    await startJobs({ SMTP_URL: smtp.url });
    await commit(noticeMail("anna@example.com"));
    await smtp.waitFor("anna@example.com");
    expect(smtp.messages).toHaveLength(1);
  });

  test("A133 leaves a sealed code to a server that has its key, and names the key once", async () => {
    smtp = await startSmtp();
    const [ahead, behind] = [testJobs(db, { SMTP_URL: smtp.url }, [fresh, old]), testJobs(db, {}, [old])];
    await Promise.all([ahead.start({ worker: false }), behind.start({ worker: false })]);
    jobs = ahead;
    try {
      for (const to of ["anna@example.com", "bert@example.com"])
        await db.database.write.transaction((tx) => ahead.enqueue(tx, codeMail(to), null));
      expect(await behind.runDue(5)).toBe(2);
      expect(behind.logged.filter((line) => line.includes("SECRET_KEYS lacks a key"))).toHaveLength(1);
      let done = 0;
      await eventually(async () => {
        done += await ahead.runDue(5);
        expect(done).toBe(2);
      });
      await smtp.waitFor("anna@example.com");
    } finally {
      await behind.stop();
    }
  });

  test("rejects a job before the start", async () => {
    jobs = testJobs(db);
    await expect(commit(codeMail("anna@example.com"))).rejects.toThrow("not started");
  });

  test("accepts a job during the start", async () => {
    smtp = await startSmtp();
    jobs = testJobs(db, { SMTP_URL: smtp.url });
    const starting = jobs.start({ worker: true });
    await commit(codeMail("early@example.com"));
    await starting;
    expect(await smtp.codeFor("early@example.com")).toBe(code);
  });
});

describe("stored jobs", () => {
  test("A110 contain the code sealed, and are deleted when the mail was sent", async () => {
    smtp = await startSmtp();
    await startJobs({ SMTP_URL: smtp.url }, { worker: false });
    await commit(codeMail("anna@example.com"));
    const waiting = await storedJobs();
    expect(waiting).toMatchObject([
      { name: "send_mail", state: "created", data: { to: "anna@example.com" } },
    ]);
    expect(waiting[0]?.text).not.toContain(code);
    expect(waiting[0]?.text).not.toContain(Buffer.from(code).toString("base64").slice(0, -2));

    expect(await jobs?.runDue(5)).toBe(1);
    await expect(smtp.codeFor("anna@example.com")).resolves.toBe(code);
    expect(await storedJobs()).toEqual([]);
    expect(jobs?.logged.join("")).not.toContain(code);
  });

  test("A110 contain the link of the code sealed too, and no log has it from the mail server's answer", async () => {
    const link = "https://login.example.com/mailed-link?token=AAAABBBB";
    smtp = await startSmtp({ acceptance: `queued ${link}` });
    await startJobs({ SMTP_URL: smtp.url }, { worker: false });
    await commit(codeMail("anna@example.com", 300, { link }));
    expect((await storedJobs())[0]?.text).not.toMatch(/mailed-link|AAAABBBB/);
    expect(await jobs?.runDue(5)).toBe(1);
    expect((await smtp.waitFor("anna@example.com")).text).toContain(link);
    expect(jobs?.logged.join("")).not.toContain("AAAABBBB");
    const { rows } = await db.database.read.execute(sql`select a::text as text from audit_logs a`);
    expect(JSON.stringify(rows)).toContain("queued …");
    expect(JSON.stringify(rows)).not.toContain("AAAABBBB");
  });

  test("cannot be unsealed under the identifier of another job", async () => {
    smtp = await startSmtp();
    await startJobs({ SMTP_URL: smtp.url }, { worker: false });
    await commit(codeMail("victim@example.com"));
    await db.database.write.execute(
      sql`update pgboss.job set id = gen_random_uuid(), data = jsonb_set(data, '{to}', '"thief@example.com"')`,
    );
    expect(await jobs?.runDue(5)).toBe(1);
    expect(smtp.messages).toEqual([]);
    expect(await storedJobs()).toMatchObject([{ state: "retry" }]);
  });

  test("become dead letters without the code if the code expired before its mail was sent", async () => {
    smtp = await startSmtp();
    await startJobs({ SMTP_URL: smtp.url }, { worker: false });
    await commit(codeMail("late@example.com", 1));
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await jobs?.runDue(5);
    expect(smtp.messages).toEqual([]);
    const left = await storedJobs();
    expect(left).toMatchObject([
      {
        name: deadLetters,
        data: {
          job: "send_mail",
          reason: "expired",
          attempts: 0,
          mail: "login",
          recipient: "late@example.com",
        },
      },
    ]);
    expect(JSON.stringify(left)).not.toContain("sealedCode");
  });
});

describe("a failing mail server", () => {
  test("A117 that rejects a mail temporarily gets it again", async () => {
    let rejections = 0;
    smtp = await startSmtp({ reply: () => (rejections++ === 0 ? 451 : undefined) });
    await startJobs({ SMTP_URL: smtp.url });
    await commit(codeMail("greylisted@example.com"));
    jobs?.wake(mails);
    await expect(smtp.codeFor("greylisted@example.com")).resolves.toBe(code);
    expect(rejections).toBe(2);
    expect(jobs?.logged.join("")).toContain('"responseCode":451');
    expect(jobs?.logged.join("")).not.toContain(code);
  });

  test("A117 that rejects a mail permanently causes a dead letter, which like the log omits the code", async () => {
    let rejections = 0;
    smtp = await startSmtp({
      reply() {
        rejections += 1;
        return 550;
      },
    });
    await startJobs({ SMTP_URL: smtp.url });
    await commit(codeMail("unknown@example.com"));
    jobs?.wake(mails);
    await eventually(async () => {
      expect(await storedJobs()).toMatchObject([
        { name: deadLetters, data: { reason: "the mail server rejected it: 550 to DATA", attempts: 1 } },
      ]);
    });
    expect(JSON.stringify(await storedJobs())).not.toContain(code);
    expect(rejections).toBe(1);
    expect(jobs?.logged.join("")).toContain("job failed permanently");
    expect(jobs?.logged.join("")).not.toContain(code);
    expect(jobs?.logged.join("")).not.toContain("unknown@example.com");
  });

  test.each(["created", "retry"])(
    "gets a mail once, although a failover has lost that its job was taken: it is %s again",
    async (state) => {
      let isLost = false;
      const startedAgain = async () => {
        const { rows } = await db.database.read.execute(
          sql`select from pgboss.job where name = 'send_mail' and state = 'active'`,
        );
        expect(rows).toHaveLength(1);
      };
      smtp = await startSmtp({
        async reply() {
          if (isLost) return undefined;
          isLost = true;
          await db.database.write.execute(
            state === "created"
              ? sql`update pgboss.job set state = 'created', started_on = null where name = 'send_mail'`
              : sql`update pgboss.job set state = 'retry' where name = 'send_mail'`,
          );
          jobs?.wake(mails);
          await eventually(startedAgain);
          return undefined;
        },
      });
      await startJobs({ SMTP_URL: smtp.url });
      await commit(codeMail("once@example.com"));
      jobs?.wake(mails);
      await expect(smtp.codeFor("once@example.com")).resolves.toBe(code);
      await eventually(async () => expect(await storedJobs()).toEqual([]));
      expect(smtp.messages).toHaveLength(1);
    },
  );

  test("that rejects a mail in hand, which was taken again meanwhile, gets it as often as if it was taken once", async () => {
    let attempts = 0;
    smtp = await startSmtp({
      async reply() {
        attempts += 1;
        if (attempts > 1) return undefined;
        await db.database.write.execute(
          sql`update pgboss.job set state = 'created', started_on = null where name = 'send_mail'`,
        );
        jobs?.wake(mails);
        await eventually(async () => expect(await storedJobs()).toMatchObject([{ state: "active" }]));
        return 451;
      },
    });
    await startJobs({ SMTP_URL: smtp.url });
    await commit(codeMail("once@example.com"));
    jobs?.wake(mails);
    await expect(smtp.codeFor("once@example.com")).resolves.toBe(code);
    await eventually(async () => expect(await storedJobs()).toEqual([]));
    expect(attempts).toBe(2);
    expect(smtp.messages).toHaveLength(1);
  });

  test("gets a mail of a second attempt once, although a failover has lost that it was taken, and an outage what became of it", async () => {
    let attempts = 0;
    smtp = await startSmtp({
      async reply() {
        attempts += 1;
        if (attempts === 1) return 451;
        await db.database.write.execute(sql`
          update pgboss.job set state = 'retry', retry_count = retry_count - 1, start_after = now() + interval '1 hour'
          where name = 'send_mail'`);
        return undefined;
      },
    });
    await startJobs({ SMTP_URL: smtp.url });
    await commit(codeMail("once@example.com"));
    jobs?.wake(mails);
    await expect(smtp.codeFor("once@example.com")).resolves.toBe(code);
    await eventually(async () => expect(await storedJobs()).toEqual([]));
    expect(attempts).toBe(2);
  });

  test("A117 that is unreachable gets the mail when it is reachable again", async () => {
    const away = await startSmtp();
    await away.close();
    const port = Number(new URL(away.url).port);
    await startJobs({ SMTP_URL: away.url });
    await commit(codeMail("patient@example.com"));
    jobs?.wake(mails);
    await eventually(() => expect(jobs?.logged.join("")).toContain("ECONNREFUSED"));
    smtp = await startSmtp({ port });
    await expect(smtp.codeFor("patient@example.com")).resolves.toBe(code);
  });

  test("A117 that never answers does not delay other transactions", async () => {
    let release = () => {};
    const silence = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    let waiting = 0;
    smtp = await startSmtp({
      reply() {
        waiting += 1;
        return silence;
      },
    });
    await startJobs({ SMTP_URL: smtp.url });
    for (let index = 0; index < 5; index += 1) await commit(codeMail(`slow-${index}@example.com`));
    jobs?.wake(mails);
    await eventually(() => expect(waiting).toBe(5));
    for (let index = 5; index < 20; index += 1) {
      await commit(codeMail(`slow-${index}@example.com`));
      jobs?.wake(mails);
    }
    expect(smtp.messages).toEqual([]);
    release();
    await Promise.all(Array.from({ length: 20 }, (_, index) => smtp?.waitFor(`slow-${index}@example.com`)));
  });

  test("that is not configured is logged in production, and the mail is kept", async () => {
    const production = { NODE_ENV: "production", SECRET_KEYS: "a secret of production" };
    await startJobs(production, { worker: false });
    await commit(codeMail("anna@example.com"));
    await jobs?.runDue(5);
    expect(jobs?.logged.join("")).toContain("SMTP_URL is missing");
    expect(await storedJobs()).toMatchObject([{ name: "send_mail", state: "retry" }]);
  });
});

describe("stopping", () => {
  test("waits for a mail that is being sent", async () => {
    let release = () => {};
    let reached = () => {};
    const sending = new Promise<void>((resolve) => {
      reached = resolve;
    });
    smtp = await startSmtp({
      reply() {
        reached();
        return new Promise((resolve) => {
          release = () => resolve(undefined);
        });
      },
    });
    await startJobs({ SMTP_URL: smtp.url });
    await commit(codeMail("last@example.com"));
    jobs?.wake(mails);
    await sending;
    const stopped = jobs?.stop();
    release();
    await stopped;
    expect(smtp.messages).toHaveLength(1);
    expect(await storedJobs()).toEqual([]);
  });

  test("releases a mail that takes longer than the shutdown timeout", async () => {
    let reached = () => {};
    const sending = new Promise<void>((resolve) => {
      reached = resolve;
    });
    smtp = await startSmtp({
      reply() {
        reached();
        return new Promise(() => {});
      },
    });
    await startJobs({ SMTP_URL: smtp.url, STILE_SERVER_SHUTDOWN_TIMEOUT: "1s" });
    await commit(codeMail("stuck@example.com"));
    jobs?.wake(mails);
    await sending;
    await jobs?.stop();
    expect(await storedJobs()).toMatchObject([{ name: "send_mail", state: "retry" }]);
  });
});

test("A163 a job that is taken while the database outgrows this version is given back, due at once, and is no attempt", async () => {
  smtp = await startSmtp();
  const outgrown = await startJobs({ SMTP_URL: smtp.url }, { worker: false });
  await commit(codeMail("anna@example.com"));
  await withClient(db.url, async (holder) => {
    await holder.query("begin; lock table pgboss.job in exclusive mode");
    const taking = outgrown.runDue(10);
    await waitsForLock(holder);
    outgrown.standing.heed([laterRelease]);
    await holder.query("commit");
    expect(await taking).toBe(0);
  });
  expect(await outgrown.runDue(10)).toBe(0);
  expect(smtp.messages).toHaveLength(0);
  const { rows } = await db.database.write.execute(
    sql`select state, retry_count, started_on, start_after <= now() as due from pgboss.job`,
  );
  expect(rows).toEqual([{ state: "created", retry_count: 0, started_on: null, due: true }]);
  const next = testJobs(db, { SMTP_URL: smtp.url });
  await next.start({ worker: true });
  await expect(smtp.codeFor("anna@example.com")).resolves.toBe(code);
  await next.stop();
  expect(smtp.messages).toHaveLength(1);
});

test("A114 replaces broken connections and sends the next mail", async () => {
  smtp = await startSmtp();
  await startJobs({ SMTP_URL: smtp.url });
  const { rows } = await db.database.write.execute(
    sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  expect(rows.length).toBeGreaterThan(0);
  await commit(codeMail("anna@example.com"));
  jobs?.wake(mails);
  await expect(smtp.codeFor("anna@example.com")).resolves.toBe(code);
});

test("records what became of a mail once, with its entry, although the answer to that was lost", async () => {
  smtp = await startSmtp();
  const proxy = await cuttingProxy(db.url);
  const database = openDatabase(proxy.url, 5, () => {});
  onTestFinished(async () => {
    await database.close();
    await proxy.close();
  });
  const over = testJobs({ database }, { SMTP_URL: smtp.url });
  jobs = over;
  await over.start({ worker: true });
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  proxy.hold("end_send_mail", hold);
  await commit(codeMail("anna@example.com"));
  over.wake(mails);
  await held;
  proxy.cut();
  await proxy.deliver();
  await eventually(() => expect(over.logged.join("")).toContain("job done"));
  expect(await storedJobs()).toEqual([]);
  const { rows } = await db.database.read.execute(sql`select type from audit_logs`);
  expect(rows).toEqual([{ type: "mail_accepted" }]);
  expect(over.logged.filter((line) => line.includes("failed"))).toEqual([]);
  expect(smtp.messages).toHaveLength(1);
});

test("lets several processes start concurrently on an empty database", async () => {
  const empty = await testDatabase();
  const processes = Array.from({ length: 4 }, () => testJobs(empty));
  await Promise.all(processes.map((one) => one.start({ worker: true })));
  await Promise.all(processes.map((one) => one.stop()));
  const { rows } = await empty.database.write.execute(sql`select name from pgboss.queue order by name`);
  expect(rows).toMatchObject([
    { name: deadLetters },
    { name: "import_users" },
    { name: "push_authenticator_request" },
    { name: "reseal_secrets" },
    { name: "send_mail" },
    { name: "send_newer_mail" },
    { name: "send_sms" },
  ]);
  await empty.close();
});

test("runs as many due jobs as requested in a process without a worker", async () => {
  smtp = await startSmtp();
  await startJobs({ SMTP_URL: smtp.url }, { worker: false });
  for (const name of ["one", "two", "three"]) await commit(noticeMail(`${name}@example.com`));
  jobs?.wake(mails);
  expect(smtp.messages).toEqual([]);
  expect(await jobs?.runDue(2)).toBe(2);
  expect(smtp.messages).toHaveLength(2);
  expect(await jobs?.runDue(2)).toBe(1);
  expect(await jobs?.runDue(2)).toBe(0);
});

test("tells a process without a worker that jobs wait, until as many have run as were due", async () => {
  smtp = await startSmtp();
  const started = await startJobs({ SMTP_URL: smtp.url }, { worker: false });
  for (const name of ["one", "two", "three"]) await commit(noticeMail(`${name}@example.com`));
  expect(started.isWoken()).toBe(false);
  started.wake([]);
  expect(started.isWoken()).toBe(false);
  started.wake(mails);
  expect(started.isWoken()).toBe(true);
  await started.runDue(2);
  expect(started.isWoken()).toBe(true);
  await started.runDue(2);
  expect(started.isWoken()).toBe(false);
});

test("runs only woken kinds in a process without a worker, if that is asked", async () => {
  smtp = await startSmtp();
  const started = await startJobs({ SMTP_URL: smtp.url }, { worker: false });
  for (const name of ["one", "two"]) await commit(noticeMail(`${name}@example.com`));
  expect(await started.runDue(5, "woken")).toBe(0);
  started.wake([{ name: "send_sms" }]);
  expect(await started.runDue(5, "woken")).toBe(0);
  started.wake(mails);
  expect(await started.runDue(1, "woken")).toBe(1);
  expect(await started.runDue(5, "woken")).toBe(1);
  expect(started.isWoken()).toBe(false);
});

test("tells a process with a worker of no waiting jobs", async () => {
  smtp = await startSmtp();
  const started = await startJobs({ SMTP_URL: smtp.url });
  started.wake(mails);
  expect(started.isWoken()).toBe(false);
});

test("starts on existing job tables while another process runs", async () => {
  smtp = await startSmtp();
  await startJobs({ SMTP_URL: smtp.url });
  const second = testJobs(db, { SMTP_URL: smtp.url });
  await second.start({ worker: true });
  await commit(codeMail("anna@example.com"));
  second.wake(mails);
  expect(await smtp.codeFor("anna@example.com")).toBe(code);
  await second.stop();
});
