import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { messageRecords } from "../audit/message-records.ts";
import type { Tenant } from "../config/tenant.ts";
import { PermanentFailure } from "../jobs/job-kind.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { testAttempt } from "../testing/attempt.ts";
import { eventually } from "../testing/eventually.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { startSmtp } from "../testing/smtp.ts";
import { newestMails } from "./mailbox.ts";
import { sendMail } from "./send-mail.ts";
import { NO_CONNECTION } from "./smtp-transport.ts";
import { createTenantMail, MAX_TRANSPORTS } from "./tenant-mail.ts";

const runtime = await runtimeForTests();

const make = (name: string, settings = {}): Promise<Tenant> =>
  createTenant(runtime, { name, hosts: [], settings });

test("a tenant's mail names its own service, and the host of its address", async () => {
  const mail = createTenantMail(runtime.tenant, runtime.database);
  const acme = await make("Acme");
  const { subject, text } = mail.of(acme).write({ type: "login", code: "123456", ttlSeconds: 300 }, "en");
  expect(subject + text).toContain("Acme");
  expect(subject + text).not.toContain("Stile");
  expect(text).toContain("localhost:3000");
  mail.close();
});

test("tenants with their own mail server have their own transport, and others share one, each with its sender", async () => {
  const mail = createTenantMail(runtime.tenant, runtime.database);
  const way = (tenant: Tenant) => mail.of(tenant).transport;
  const address = runtime.tenant.config.email_delivery.from_address;
  const sender = { email_delivery: { from_name: "One for all", from_address: "us@example.com" } };
  const [one, other] = [await make("One", sender), await make("Other", sender)];
  const own = await make("Own", { ...sender, smtp_url: "smtp://mail.own.example" });
  expect(way(one)).toBe(way(other));
  expect(way(own)).not.toBe(way(one));
  expect(way(one)).toBe(way(runtime.tenant));
  expect(mail.of(one).from).toEqual({ name: "One for all", address: "us@example.com" });
  expect(mail.of(await make("Acme")).from).toEqual({ name: "Acme", address });
  mail.close();
});

test("connections to the mail servers used last are kept, and others are closed", async () => {
  const mail = createTenantMail(runtime.tenant, runtime.database);
  const { config, id } = await make("Many");
  const tenantAt = (port: number) => ({ id, config: { ...config, smtp_url: `smtp://127.0.0.1:${port}` } });
  const first = mail.of(tenantAt(1)).transport;
  const second = mail.of(tenantAt(2)).transport;
  for (let port = 3; port <= MAX_TRANSPORTS + 1; port++) {
    mail.of(tenantAt(port));
    expect(mail.of(tenantAt(1)).transport).toBe(first);
  }
  expect(mail.of(tenantAt(2)).transport).not.toBe(second);
  const { from } = mail.of(runtime.tenant);
  const content = { from, language: "en", subject: "x", text: "x", html: "x" } as const;
  const sending = second.send({ id, to: "ada@example.com", ...content }, AbortSignal.timeout(60_000));
  await expect(sending).rejects.toThrow("Connection pool was closed");
  mail.close();
});

test("A186 ten mails at most are sent by a tenant's own mail server or wait for it, and others fail at once", async () => {
  const silent = await startSmtp({ reply: () => new Promise(() => {}) });
  const mail = createTenantMail(runtime.tenant, runtime.database);
  const { from, transport } = mail.of(await make("Silent", { smtp_url: silent.url }));
  const content = { from, language: "en", subject: "x", text: "x", html: "x" } as const;
  // Sooner than a mail that waits gives up.
  const signal = AbortSignal.timeout(5_000);
  const failed: unknown[] = [];
  for (let count = 0; count < 12; count += 1)
    transport
      .send({ id: randomUUID(), to: "ada@example.com", ...content }, signal)
      .catch(({ code }) => failed.push(code));
  await eventually(() => expect(failed).toHaveLength(2));
  expect(failed).toEqual([NO_CONNECTION, NO_CONNECTION]);
  await silent.close();
  mail.close();
});

test("A201 a tenant that changes its mail server has ten mails in hand at most, whichever server they are for", async () => {
  const [one, other] = await Promise.all([0, 1].map(() => startSmtp({ reply: () => new Promise(() => {}) })));
  const { vault, database, rates, log } = runtime;
  const mail = createTenantMail(runtime.tenant, database);
  const made = await make("Changing");
  let urls = [one?.url, other?.url];
  const tenants = {
    async byId() {
      urls = urls.toReversed();
      return { ...made, config: { ...made.config, smtp_url: urls[0] } };
    },
  };
  const records = messageRecords(runtime, "mail", log);
  const kind = sendMail({ tenants, vault, mail, rates, publish: async () => false, records, log });
  const failed: unknown[] = [];
  for (let count = 0; count < 12; count += 1) {
    const id = randomUUID();
    const content = { type: "login", code: "123456", ttlSeconds: 300 } as const;
    const job = {
      name: "send_mail",
      tenantId: made.id,
      to: "ada@example.com",
      language: "en",
      mail: content,
    } as const;
    // Sooner than a mail that waits gives up.
    const attempt = testAttempt({ id, signal: AbortSignal.timeout(5_000) });
    kind.run(kind.store(job, id), attempt).catch(({ code }) => failed.push(code));
  }
  await eventually(() => expect(failed).toHaveLength(2));
  expect(failed).toEqual([NO_CONNECTION, NO_CONNECTION]);
  await Promise.all([one?.close(), other?.close()]);
  mail.close();
});

test("the job sends as its tenant, and fails permanently if the tenant was deleted", async () => {
  const { tenant, tenants, vault, database, rates, log } = runtime;
  const mail = createTenantMail(tenant, database);
  const acme = await make("Acme");
  const to = "ada@example.com";
  const kind = sendMail({
    tenants,
    vault,
    mail,
    rates,
    publish: async () => false,
    records: messageRecords(runtime, "mail", log),
    log,
  });
  const job = (tenantId: string) => {
    const id = randomUUID();
    const content = { type: "login", code: "123456", ttlSeconds: 300 } as const;
    const stored = kind.store({ name: "send_mail", tenantId, to, language: "en", mail: content }, id);
    return kind.run(stored, testAttempt({ id }));
  };
  await job(acme.id);
  const [sent] = await newestMails(database.read, { to });
  expect(sent?.text).toContain("Acme");
  await expect(job(randomUUID())).rejects.toThrow(PermanentFailure);
  mail.close();
});

test("a transport that is closed while the event of a mail is written is not used for it", async () => {
  const { tenant, tenants, vault, database, rates, log } = runtime;
  const real = createTenantMail(tenant, database);
  const acme = await make("Acme");
  const to = "grace@example.com";
  let evicted = false;
  const mail: typeof real = {
    ...real,
    of(tenant) {
      const { transport, ...own } = real.of(tenant);
      const isFresh = evicted;
      const send: typeof transport.send = (...args) =>
        isFresh ? transport.send(...args) : Promise.reject(new Error("Connection pool was closed"));
      return { ...own, transport: { ...transport, send } };
    },
  };
  const publish = async () => {
    evicted = true;
    return false;
  };
  const records = messageRecords(runtime, "mail", log);
  const kind = sendMail({ tenants, vault, mail, rates, publish, records, log });
  const id = randomUUID();
  const content = { type: "login", code: "123456", ttlSeconds: 300 } as const;
  const stored = kind.store({ name: "send_mail", tenantId: acme.id, to, language: "en", mail: content }, id);
  await kind.run(stored, testAttempt({ id }));
  expect(await newestMails(database.read, { to })).toHaveLength(1);
  real.close();
});
