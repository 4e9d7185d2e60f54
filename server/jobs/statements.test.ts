import { sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase, schema } from "#db/client";
import type { Job } from "../runtime.ts";
import { eventually } from "../testing/eventually.ts";
import { testJobs } from "../testing/jobs.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { countStatements, type StatementCounter } from "../testing/statement-counter.ts";
import { GATHER_MS } from "./queue.ts";

const mails = [{ name: "send_mail" }] as const;

const shared = "00000000-0000-4000-8000-000000000001";
/** The tenant with a mail server of its own. */
const own = "00000000-0000-4000-8000-000000000002";

const direct = await openForTests(testDatabase());

let counter: StatementCounter;
let database: ReturnType<typeof openDatabase>;
let smtp: SmtpCatcher;
let ownSmtp: SmtpCatcher;
let jobs: ReturnType<typeof testJobs>;
let isHeld: (to: string) => Promise<number | undefined> | number | undefined;

beforeEach(async () => {
  isHeld = () => undefined;
  counter = await countStatements(direct.url);
  database = openDatabase(counter.url, 5, () => {});
  smtp = await startSmtp({ reply: (to) => isHeld(to) });
  ownSmtp = await startSmtp({ reply: () => new Promise(() => {}) });
  const ownSettings = { [own]: { smtp_url: ownSmtp.url } };
  jobs = testJobs({ database }, { SMTP_URL: smtp.url }, undefined, ownSettings);
  await jobs.start({ worker: true });
  await direct.database.write.execute(sql`delete from pgboss.job`);
  await direct.database.write.delete(schema.auditLogs);
});
afterEach(async () => {
  await ownSmtp.close();
  await jobs.stop();
  await smtp.close();
  await database.close();
  await counter.close();
});

/** Commits mails together, so that all of them are due at once. Returns how many statements were sent before. */
async function enqueue(recipients: readonly string[], tenantId = shared): Promise<number> {
  const job = (to: string): Job => ({
    name: "send_mail",
    tenantId,
    to,
    language: "en",
    withoutWebhooks: true,
    mail: { type: "login", code: "482913", ttlSeconds: 300 },
  });
  await direct.database.write.transaction(async (tx) => {
    for (const to of recipients) await jobs.enqueue(tx, job(to), null);
  });
  const before = counter.sent.length;
  jobs.wake(mails);
  return before;
}

const addresses = (count: number, name = "ada") =>
  Array.from({ length: count }, (_, index) => `${name}-${index}@example.com`);

/** The statements that the queue of mails has sent: those that take mails, and those that end them. */
const ofQueue = (before: number) =>
  counter.sent
    .slice(before)
    .map(({ statement }) => statement)
    .filter((statement) => /^(claim|end)_send_mail[_+]/.test(statement));

/**
 * The most statements about mails that are due at once. Each that ends mails, and each that takes the next, waits for others
 * for `GATHER_MS`: a machine that is held up sends fewer mails in that time.
 */
const mostStatements = (usual: number, began: number) =>
  Math.max(usual, (2 * (performance.now() - began)) / GATHER_MS);

async function waiting(): Promise<{ state: string; attempts: number }[]> {
  const { rows } = await direct.database.write.execute<{ state: string; attempts: number }>(
    sql`select state, retry_count::int as attempts from pgboss.job where name = 'send_mail'`,
  );
  return rows;
}

const accepted = async () =>
  (await direct.database.write.select().from(schema.auditLogs)).filter(
    ({ type }) => type === "mail_accepted",
  );

test("a mail that is due alone takes two statements, one that takes it and one that ends and records it", async () => {
  const before = await enqueue(addresses(1));
  await eventually(async () => expect(await waiting()).toEqual([]));
  expect(ofQueue(before).filter((statement) => statement.startsWith("end"))).toEqual([
    "end_send_mail+audit+mail_outage_ended",
  ]);
  expect(await accepted()).toHaveLength(1);
});

test("a mail takes 0.3 statements at most if sixty are due at once", async () => {
  const began = performance.now();
  const before = await enqueue(addresses(60));
  await eventually(async () => expect(await waiting()).toEqual([]));
  const statements = ofQueue(before);
  expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(mostStatements(0.3 * 60, began));
  expect(smtp.messages).toHaveLength(60);
  expect(await accepted()).toHaveLength(60);
});

test("mails that fail in a bunch are tried again alone, and the others are ended together", async () => {
  const failed = new Set<string>();
  isHeld = (to) => {
    if (!to.startsWith("busy") || failed.has(to)) return undefined;
    failed.add(to);
    return 451;
  };
  const began = performance.now();
  const before = await enqueue([...addresses(17), ...addresses(3, "busy")]);
  await eventually(async () => expect(await accepted()).toHaveLength(17));
  expect(ofQueue(before).length).toBeLessThanOrEqual(mostStatements(10, began));
  await eventually(async () => expect(await accepted()).toHaveLength(20));
  const attempts = (await accepted()).map(({ details }) => details.attempts);
  expect(attempts.filter((number) => number === 2)).toHaveLength(3);
  expect(smtp.messages).toHaveLength(20);
});

test("A185 mails whose server does not answer keep no other of their bunch from being sent and ended", async () => {
  let release = () => {};
  const silence = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined);
  });
  isHeld = (to) => (to.startsWith("silent") ? silence : undefined);
  await enqueue([...addresses(4, "silent"), ...addresses(16)]);
  await eventually(async () => expect(await accepted()).toHaveLength(16));
  expect(await waiting()).toEqual(Array(4).fill({ state: "active", attempts: 0 }));
  await enqueue(addresses(40, "later"));
  await eventually(async () => expect(await accepted()).toHaveLength(56));
  release();
  await eventually(async () => expect(await accepted()).toHaveLength(60));
});

test("A186 a tenant whose mail server does not answer keeps no mail of other servers waiting, however many it sends", async () => {
  await enqueue(addresses(40, "silent"), own);
  await enqueue(addresses(40));
  await eventually(async () => expect(await accepted()).toHaveLength(40));
  expect(await waiting()).toHaveLength(40);
});

/** Another server has taken the job. The claim of this one may be lost with a primary: both have the same number then. */
const takenElsewhere = (attempts: number) =>
  direct.database.write.execute(
    sql`update pgboss.job set retry_count = ${attempts}, started_on = clock_timestamp()`,
  );

test.each([
  [1, "after the lease"],
  [0, "because a failover has lost that it was taken here"],
])("a mail that another server has taken meanwhile as attempt %i, %s, is left to it", async (attempts) => {
  let release = () => {};
  const slow = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined);
  });
  let isSending = false;
  isHeld = () => {
    isSending = true;
    return slow;
  };
  await enqueue(addresses(1));
  await eventually(() => expect(isSending).toBe(true));
  await takenElsewhere(attempts);
  release();
  await eventually(async () => expect(await accepted()).toHaveLength(1));
  expect(await waiting()).toEqual([{ state: "active", attempts }]);
});

test("a mail that fails here is left to another server that has taken it meanwhile", async () => {
  isHeld = async () => {
    await takenElsewhere(0);
    return 451;
  };
  await enqueue(addresses(1));
  await eventually(() => expect(jobs.logged.join("")).toContain("job failed and will be retried"));
  await jobs.stop();
  expect(await waiting()).toEqual([{ state: "active", attempts: 0 }]);
});

test("a mail that is rejected for good here is left to another server that has taken it meanwhile", async () => {
  isHeld = async () => {
    await takenElsewhere(0);
    return 550;
  };
  const before = await enqueue(addresses(1));
  const sent = () => counter.sent.slice(before).map(({ statement }) => statement);
  await eventually(() => expect(sent()).toContainEqual(expect.stringContaining("jobs_ended")));
  await jobs.stop();
  expect(await waiting()).toEqual([{ state: "active", attempts: 0 }]);
  const { rows } = await direct.database.write.execute(
    sql`select from pgboss.job where name = 'dead_letters'`,
  );
  expect(rows).toEqual([]);
});

test("a mail whose record cannot be stored is ended without it, and the others of its bunch with theirs", async () => {
  await direct.database.write.execute(sql`
    create function refuse_entry() returns trigger language plpgsql as
      $$ begin if new.details->>'recipient' like 'p%' then raise 'refused'; end if; return new; end $$`);
  await direct.database.write.execute(sql`
    create trigger refused before insert on audit_logs for each row execute function refuse_entry()`);
  try {
    await enqueue([...addresses(5), "poison@example.com"]);
    await eventually(async () => expect(await waiting()).toEqual([]));
  } finally {
    await direct.database.write.execute(sql`drop trigger refused on audit_logs`);
    await direct.database.write.execute(sql`drop function refuse_entry`);
  }
  expect(await accepted()).toHaveLength(5);
  expect(smtp.messages).toHaveLength(6);
  expect(jobs.logged.join()).toContain("recording what became of a job failed");
});
