import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { messageRecords } from "../audit/message-records.ts";
import { testAttempt } from "../testing/attempt.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { newAddress } from "../testing/people.ts";
import type { MailContent } from "./mail-job.ts";
import { sendMail } from "./send-mail.ts";
import { createTenantMail } from "./tenant-mail.ts";

const runtime = await runtimeForTests({ STILE_RATE_LIMITER_ENABLED: "true" });

const change: MailContent = { type: "password_update" };

/** Runs the jobs of a number of mails, and counts those that arrive. */
async function arriving(to: string, mail: MailContent, count: number, isFirst = true): Promise<number> {
  const { tenant, tenants, vault, database, rates, log } = runtime;
  const kind = sendMail({
    tenants,
    vault,
    mail: createTenantMail(tenant, database),
    rates,
    publish: async () => false,
    records: messageRecords(runtime, "mail", log),
    log,
  });
  const before = await received(to);
  for (let sent = 0; sent < count; sent += 1) {
    const id = randomUUID();
    const job = { name: "send_mail", tenantId: tenant.id, to, language: "en", mail } as const;
    await kind.run(kind.store(job, id), testAttempt({ id, isFirst }));
  }
  return (await received(to)) - before;
}

async function received(to: string): Promise<number> {
  const mails = await runtime.database.read.select().from(schema.mailbox);
  return mails.filter(({ recipient }) => recipient === to).length;
}

test("A129 an address receives twenty notices of changes a day, and then still codes", async () => {
  const [to, other] = [newAddress(), newAddress()];
  expect(await arriving(to, change, 25)).toBe(20);
  expect(await arriving(to, { type: "login", code: "123456", ttlSeconds: 300 }, 2)).toBe(2);
  expect(await arriving(other, change, 1)).toBe(1);
});

test("a notice that is tried again is not counted again", async () => {
  const to = newAddress();
  expect(await arriving(to, change, 10)).toBe(10);
  expect(await arriving(to, change, 25, false)).toBe(25);
  expect(await arriving(to, change, 15)).toBe(10);
});
