import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { schema } from "#db/client";
import { messageRecords } from "../audit/message-records.ts";
import { claimsOf, type EventData, events } from "../events/events.ts";
import { messageEvents } from "../events/message-events.ts";
import { eventDataContext } from "../events/seal-contexts.ts";
import { testAttempt } from "../testing/attempt.ts";
import { storedDeliveries, storedEvents, storeWebhook } from "../testing/emitted-events.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { newAddress } from "../testing/people.ts";
import type { TestRuntime } from "../testing/runtime.ts";
import type { MailContent, MailJob } from "./mail-job.ts";
import { type MailMessage, mailMessages } from "./messages.ts";
import { sendMail } from "./send-mail.ts";
import { createTenantMail } from "./tenant-mail.ts";

const runtime = await runtimeForTests({ STILE_RATE_LIMITER_ENABLED: "true" });
const undelivered = runtime.configured({ STILE_EMAIL_DELIVERY_ENABLED: "false" });

beforeEach(async () => {
  const { write } = runtime.database;
  for (const table of [schema.webhooks, schema.events, schema.webhookDeliveries, schema.mailbox])
    await write.delete(table);
});

const code = "482913";

const contentOf = (type: MailMessage): MailContent => {
  switch (mailMessages[type]) {
    case "passcode":
      return { type, code, ttlSeconds: 300 } as MailContent;
    case "address_change":
      return { type, address: "new@example.com" } as MailContent;
    case "factor_change":
      return { type, factor: "totp" } as MailContent;
    case "sign_in":
      return {
        type,
        at: "2026-11-24T09:41:00.000Z",
        browser: "Windows (Firefox)",
        place: null,
      } as MailContent;
    case "impersonation":
      return { type, at: "2026-11-24T09:41:00.000Z", minutes: 15, reason: "A ticket" } as MailContent;
    default:
      return { type } as MailContent;
  }
};

/** Runs the job of a mail as the worker does. */
async function run(of: TestRuntime, job: Partial<MailJob>, attempts = 1): Promise<string> {
  const { tenant, tenants, vault, database, rates, log } = of;
  const mail = createTenantMail(tenant, database);
  const kind = sendMail({
    tenants,
    vault,
    mail,
    rates,
    publish: messageEvents(of, "mail"),
    records: messageRecords(of, "mail", log),
    log,
  });
  const id = randomUUID();
  const whole: MailJob = {
    name: "send_mail",
    tenantId: tenant.id,
    to: newAddress(),
    language: "de",
    mail: contentOf("login"),
    ...job,
  };
  const stored = kind.store(whole, id);
  for (let attempt = 0; attempt < attempts; attempt += 1)
    await kind.run(stored, testAttempt({ id, isFirst: attempt === 0 }));
  return id;
}

async function openedEvents(): Promise<EventData<"email.send">[]> {
  const { tenant, vault } = runtime;
  const stored = await storedEvents(runtime);
  return stored.map(({ id, sealedData }) =>
    JSON.parse(vault.unseal(sealedData ?? Buffer.of(), eventDataContext(tenant.id, id)).toString()),
  );
}

const mailed = async () => (await runtime.database.read.select().from(schema.mailbox)).length;

describe("the email.send event", () => {
  it("goes out beside the mail while the service delivers", async () => {
    const webhook = await storeWebhook(runtime, ["email.send"]);
    const to = newAddress();

    const id = await run(runtime, { to });

    expect(await mailed()).toBe(1);
    expect(await storedDeliveries(runtime, webhook)).toMatchObject([{ eventId: id, state: "waiting" }]);
    const [data] = await openedEvents();
    const validUntil = expect.any(Number);
    expect(data).toMatchObject({
      type: "login",
      to_email_address: to,
      delivered_by_hanko: true,
      language: "de",
      accept_language: "de",
      data: { service_name: runtime.config.service.name, otp_code: code, ttl: 300, valid_until: validUntil },
    });
    expect(data?.body_plain).toContain(code);
    expect(claimsOf("email.send", data)).toEqual({ language: "de" });
  });

  it("carries the link of the code, where the mail has one", async () => {
    await storeWebhook(runtime, ["email.send"]);
    const link = "https://login.example.com/mailed-link?token=AAAA";
    await run(runtime, { mail: { type: "login", code, ttlSeconds: 300, link } });
    const [data] = await openedEvents();
    expect(data?.data).toMatchObject({ otp_code: code, link });
    expect(data?.body_plain).toContain(link);
    expect(data?.body).toContain(`href="${link}"`);
    expect(events["email.send"].data.parse(data)).toEqual(data);
  });

  it("goes out instead of the mail while the service does not deliver", async () => {
    await storeWebhook(undelivered, ["email.send"]);
    await run(undelivered, {});
    expect(await mailed()).toBe(0);
    expect(await openedEvents()).toMatchObject([{ delivered_by_hanko: false, data: { otp_code: code } }]);
  });

  it("is emitted once, however often its mail is tried", async () => {
    const webhook = await storeWebhook(runtime, ["email.send"]);
    await run(runtime, {}, 3);
    expect(await storedEvents(runtime)).toHaveLength(1);
    expect(await storedDeliveries(runtime, webhook)).toHaveLength(1);
  });

  it("looks for no stored webhook at the first attempt of a mail that was caused before there was one", async () => {
    await storeWebhook(runtime, ["email.send"]);
    await run(runtime, { withoutWebhooks: true });
    expect(await storedEvents(runtime)).toEqual([]);
    await run(runtime, { withoutWebhooks: true }, 2);
    expect(await storedEvents(runtime)).toHaveLength(1);
  });

  it("goes to a webhook of the configuration, whatever is stored", async () => {
    const hooks = [{ callback: "https://app.example/hook", events: ["email.send"] }];
    const configured = undelivered.configured({
      STILE_EMAIL_DELIVERY_ENABLED: "false",
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks),
    });
    await run(configured, { withoutWebhooks: true });
    expect(await openedEvents()).toMatchObject([{ delivered_by_hanko: false }]);
  });

  it("fails, to be tried again, without a receiver and without delivery", async () => {
    await storeWebhook(undelivered, ["user"]);
    await expect(run(undelivered, {})).rejects.toThrow("no webhook is subscribed");
  });

  it("is stored sealed", async () => {
    await storeWebhook(runtime, ["email.send"]);
    const to = newAddress();
    await run(runtime, { to });
    const [event] = await storedEvents(runtime);
    expect(event?.data).toBeNull();
    expect(event?.sealedData?.toString("latin1")).not.toContain(code);
    expect(event?.sealedData?.toString("latin1")).not.toContain(to);
  });

  it("A21 is subject to the limits of mails", async () => {
    await storeWebhook(undelivered, ["email.send"]);
    const to = newAddress();
    for (let sent = 0; sent < 25; sent += 1)
      await run(undelivered, { to, mail: { type: "password_update" } });
    expect(await openedEvents()).toHaveLength(20);
  });

  it("does not exist for a mail without a recipient", async () => {
    await storeWebhook(runtime, ["email.send"]);
    await run(runtime, { to: null });
    await run(undelivered, { to: null });
    expect(await storedEvents(runtime)).toEqual([]);
  });

  it("names the primary address before a change of it", async () => {
    await storeWebhook(runtime, ["email.send"]);
    const mail: MailContent = {
      type: "primary_email_update",
      address: "new@example.com",
      previous: "old@example.com",
    };
    await run(runtime, { mail });
    expect((await openedEvents())[0]?.data).toMatchObject({
      new_email_address: "new@example.com",
      old_email_address: "old@example.com",
    });
  });

  const messages = Object.keys(mailMessages) as MailMessage[];

  it.each(messages)("A86 describes %s by its schema, with a code only in a mail of a code", async (type) => {
    await storeWebhook(runtime, ["email.send"]);
    await run(runtime, { mail: contentOf(type) });
    const [data] = await openedEvents();
    expect(events["email.send"].data.parse(data)).toEqual(data);
    expect(JSON.stringify(data).includes(code)).toBe(mailMessages[type] === "passcode");
    expect(JSON.stringify(data).includes("otp_code")).toBe(mailMessages[type] === "passcode");
  });
});
