import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { sql } from "drizzle-orm";
import { createLocalJWKSet, jwtVerify } from "jose";
import type { PoolClient } from "pg";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createStanding } from "../database/standing.ts";
import { configWebhooks } from "../events/config-webhooks.ts";
import { eventDataContext, previousSecretContext, webhookSecretContext } from "../events/seal-contexts.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { eventually } from "../testing/eventually.ts";
import { laterRelease } from "../testing/later-release.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";
import { startReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";
import { claimDue } from "./claim.ts";
import { createReceiverClient } from "./receiver-client.ts";
import { deleteWebhook } from "./stored-webhooks.ts";
import { createWebhookDelivery, type WebhookDelivery } from "./webhook-delivery.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const previous = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;

let runtime: TestRuntime;
let receiver: WebhookReceiver;

beforeEach(async () => {
  runtime = await testRuntime({ STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true" });
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await runtime.close();
});

/** A process that delivers; `logged` holds its lines. */
function process(
  of = runtime,
  { timeoutMs }: { timeoutMs?: number } = {},
): WebhookDelivery & { logged: string[] } {
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(line) });
  const client = createReceiverClient({ allowPrivate: true, ...(timeoutMs ? { timeoutMs } : {}) });
  const delivery = createWebhookDelivery({ ...of, client, log });
  onTestFinished(() => delivery.stop(0));
  return Object.assign(delivery, { logged });
}

const tenantId = () => runtime.tenant.id;

async function storeWebhook(callback: string, { rotated = false, of = tenantId() } = {}): Promise<string> {
  const id = randomUUID();
  const { vault } = runtime;
  const sealed = vault.seal(Buffer.from(secret), webhookSecretContext(of, id));
  const before = rotated ? vault.seal(Buffer.from(previous), previousSecretContext(of, id)) : null;
  await runtime.database.write.execute(sql`
    insert into webhooks (tenant_id, id, callback, expires_at, events, sealed_secret, sealed_previous_secret, previous_secret_expires_at)
    values (${of}, ${id}, ${callback}, now() + interval '1 day', '[]', ${sealed}, ${before}, now() + interval '1 day')`);
  return id;
}

interface Emitted {
  name?: string;
  subject?: string | null;
  data?: Record<string, unknown>;
  sealed?: boolean;
  /** The tenant. */
  of?: string;
}

/** Commits an event for webhooks. */
async function commitEvent(to: string[], emitted: Emitted = {}): Promise<string> {
  const {
    name = "user.login",
    subject = null,
    data = { id: "1" },
    sealed = false,
    of = tenantId(),
  } = emitted;
  const id = randomUUID();
  const text = JSON.stringify(data);
  const box = sealed ? runtime.vault.seal(Buffer.from(text), eventDataContext(of, id)) : null;
  await runtime.database.write.execute(sql`
    with e as (
      insert into events (tenant_id, id, name, subject_id, data, sealed_data)
      values (${of}, ${id}, ${name}, ${subject}, ${sealed ? null : text}::jsonb, ${box}) returning *)
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, subject_id)
    select e.tenant_id, gen_random_uuid(), w, e.id, e.sequence, e.subject_id from e, unnest(${sql.param(to)}::text[]) w`);
  return id;
}

interface DeliveryRow extends Record<string, unknown> {
  state: string;
  attempts: number;
  pause: number;
}

async function deliveries(): Promise<DeliveryRow[]> {
  const { rows } = await runtime.database.write.execute<DeliveryRow>(sql`
    select state, attempts, extract(epoch from due_at - now())::int as pause from webhook_deliveries order by sequence`);
  return rows;
}

const webhookRow = async (id: string) => {
  const { rows } = await runtime.database.write.execute<{ failures: number; enabled: boolean; days: number }>(
    sql`select failures, enabled, round(extract(epoch from expires_at - now()) / 86400)::int as days from webhooks where id = ${id}`,
  );
  return rows[0];
};

test("a process that does not deliver by itself is told that deliveries wait, until all that were due are made", async () => {
  const waiting = process();
  const webhook = await storeWebhook(receiver.url);
  for (const name of ["one", "two"]) await commitEvent([webhook], { data: { id: name, emails: [] } });
  expect(waiting.isWoken()).toBe(false);
  waiting.wake();
  expect(waiting.isWoken()).toBe(true);
  await waiting.runDue(1);
  expect(waiting.isWoken()).toBe(true);
  await waiting.runDue(2);
  expect(waiting.isWoken()).toBe(false);
});

describe("a delivery", () => {
  test("A85 carries a token that the tenant's keys verify, and a signature that the standard's package verifies", async () => {
    const id = await commitEvent([await storeWebhook(receiver.url)], { data: { id: "anna", emails: [] } });
    expect(await process().runDue(10)).toBe(1);
    const [delivery] = receiver.received;
    if (!delivery) throw new Error("nothing was received");
    expect(new Webhook(secret).verify(delivery.body, delivery.headers)).toEqual({
      token: delivery.token,
      event: "user.login",
    });
    const keys = await runtime.signingKeys.of(runtime.tenant).jwks();
    const { payload, protectedHeader } = await jwtVerify(delivery.token, createLocalJWKSet(keys), {
      audience: "localhost",
      issuer: runtime.config.base_url,
      subject: "hanko webhooks",
      typ: "webhook+jwt",
    });
    expect(payload).toMatchObject({ evt: "user.login", data: { id: "anna", emails: [] }, jti: id });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
    expect(protectedHeader.kid).toBe(keys.keys[0]?.kid);
    expect(delivery.id).toBe(id);
    expect(delivery.headers["content-type"]).toBe("application/json");
    expect(await deliveries()).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });

  test("is signed with both secrets during the overlap of a rotation", async () => {
    await commitEvent([await storeWebhook(receiver.url, { rotated: true })]);
    await process().runDue(10);
    const [delivery] = receiver.received;
    for (const known of [secret, previous])
      expect(new Webhook(known).verify(delivery?.body ?? "", delivery?.headers ?? {})).toBeTruthy();
    runtime.advanceClock(2 * 86_400);
    await commitEvent([await storeWebhook(receiver.url, { rotated: true })]);
    await process().runDue(10);
    expect(receiver.received[1]?.headers["webhook-signature"]?.split(" ")).toHaveLength(1);
  });

  test("states the language of a mail as a claim, and its data is erased when no delivery waits for it", async () => {
    const dead = await startReceiver();
    await dead.close();
    const to = [await storeWebhook(receiver.url), await storeWebhook(dead.url)];
    await commitEvent(to, {
      name: "email.send",
      data: { language: "de", data: { otp_code: "482913" } },
      sealed: true,
    });
    const delivering = process();
    await delivering.runDue(10);
    const keys = createLocalJWKSet(await runtime.signingKeys.of(runtime.tenant).jwks());
    const { payload } = await jwtVerify(receiver.received[0]?.token ?? "", keys);
    expect(payload).toMatchObject({ language: "de", data: { language: "de", data: { otp_code: "482913" } } });
    const sealed = async () =>
      (await runtime.database.write.execute(sql`select from events where sealed_data is not null`)).rowCount;
    expect(await sealed()).toBe(1);
    for (let attempt = 2; attempt <= 11; attempt += 1) {
      runtime.advanceClock(8 * 3600);
      await delivering.runDue(10);
    }
    expect(await deliveries()).toMatchObject(
      [{ state: "delivered" }, { state: "failed", attempts: 11 }].toSorted(),
    );
    expect(await sealed()).toBe(0);
    expect(delivering.logged.join("")).not.toContain("482913");
  });

  describe("A86 of a mail whose data is sealed", () => {
    const mail = { name: "email.send", data: { data: { otp_code: "482913" } }, sealed: true };
    const stored = async () => {
      const { rows } = await runtime.database.write.execute(
        sql`select sealed_data is null as erased from events`,
      );
      return rows;
    };

    test("keeps it while another webhook waits, and erases it with the last one that is deleted", async () => {
      receiver.answer = (response, { path }) => response.writeHead(path === "/events/up" ? 204 : 500).end();
      const [up = "", down = "", last = ""] = await Promise.all(
        ["up", "down", "last"].map((path) => storeWebhook(`${receiver.url}/${path}`)),
      );
      await commitEvent([up, down, last], mail);
      await process().runDue(10);
      expect((await deliveries()).map(({ state }) => state).toSorted()).toEqual([
        "delivered",
        "waiting",
        "waiting",
      ]);
      await deleteWebhook(runtime, runtime.tenant, down);
      expect(await stored()).toEqual([{ erased: false }]);
      await deleteWebhook(runtime, runtime.tenant, last);
      expect(await stored()).toEqual([{ erased: true }]);
      await deleteWebhook(runtime, runtime.tenant, up);
      expect(await stored()).toEqual([]);
    });

    test("leaves nothing of it when its tenant is deleted", async () => {
      receiver.answer = (response) => response.writeHead(500).end();
      await commitEvent([await storeWebhook(receiver.url)], mail);
      await process().runDue(10);
      expect(await stored()).toEqual([{ erased: false }]);
      await runtime.database.write.execute(sql`delete from tenants where id = ${tenantId()}`);
      expect(await stored()).toEqual([]);
    });
  });

  test("goes to a webhook of the configuration, unsigned without a secret", async () => {
    const hooks = [
      { callback: receiver.url, events: ["user"], secret },
      { callback: `${receiver.url}/plain`, events: ["user"] },
    ];
    const configured = runtime.configured({
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks),
    });
    await commitEvent(configWebhooks(configured.config).map(({ id }) => id));
    await process(configured).runDue(10);
    const signatures = Object.fromEntries(
      receiver.received.map(({ path, headers }) => [path, headers["webhook-signature"] !== undefined]),
    );
    expect(signatures).toEqual({ "/events": true, "/events/plain": false });
  });

  test("is made by a woken worker, and by one process alone", async () => {
    const to = [await storeWebhook(receiver.url)];
    const processes = [process(), process()];
    for (const each of processes) each.start();
    const ids = await Promise.all(Array.from({ length: 40 }, () => commitEvent(to)));
    for (const each of processes) each.wake();
    await eventually(async () =>
      expect((await deliveries()).filter(({ state }) => state === "delivered")).toHaveLength(40),
    );
    expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("A110 logs neither addresses nor data", async () => {
    receiver.answer = (response) => response.writeHead(500).end("anna@example.com is unknown");
    await commitEvent([await storeWebhook(`${receiver.url}?key=hidden`)], {
      data: { email: "anna@example.com" },
    });
    const delivering = process();
    await delivering.runDue(10);
    expect(delivering.logged).toHaveLength(1);
    expect(delivering.logged[0]).toContain('"status":500');
    expect(delivering.logged.join("")).not.toMatch(/anna|hidden|127\.0\.0\.1|whsec_/);
  });
});

describe("the order of a user's events", () => {
  test("is kept while attempts succeed, and other users do not wait", async () => {
    const to = [await storeWebhook(receiver.url)];
    const held: (() => void)[] = [];
    receiver.answer = (response, { event }) => {
      if (event === "user.create") held.push(() => response.writeHead(204).end());
      else response.writeHead(204).end();
    };
    const annas = [await commitEvent(to, { name: "user.create", subject: "anna" })];
    const bertas = [];
    for (let index = 0; index < 5; index += 1) {
      annas.push(await commitEvent(to, { subject: "anna" }));
      bertas.push(await commitEvent(to, { subject: "berta" }));
    }
    const delivering = process();
    delivering.start();
    await eventually(() => expect(receiver.received.map(({ id }) => id)).toContain(annas[0]));
    receiver.received.length = 0;
    // The receiver is new, so one place is taken; another process has one for the others.
    const second = process();
    second.start();
    await eventually(() => expect(receiver.received).toHaveLength(5));
    expect(receiver.received.map(({ id }) => id)).toEqual(bertas);
    receiver.received.length = 0;
    for (const release of held) release();
    await eventually(() => {
      delivering.wake();
      expect(receiver.received).toHaveLength(5);
    });
    expect(receiver.received.map(({ id }) => id)).toEqual(annas.slice(1));
  });

  test("does not hold later events back after a failed attempt", async () => {
    const to = [await storeWebhook(receiver.url)];
    receiver.answer = (response, { event }) => response.writeHead(event === "user.create" ? 500 : 204).end();
    await commitEvent(to, { name: "user.create", subject: "anna" });
    await commitEvent(to, { subject: "anna" });
    const delivering = process();
    await delivering.runDue(10);
    expect(await deliveries()).toMatchObject([
      { state: "waiting", attempts: 1 },
      { state: "delivered", attempts: 1 },
    ]);
  });
});

describe("a receiver that fails", () => {
  test("gets the event again after growing pauses for a day, with the same id, then never", async () => {
    receiver.answer = (response) => response.writeHead(503).end("later");
    const id = await commitEvent([await storeWebhook(receiver.url)]);
    const delivering = process();
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= 11; attempt += 1) {
      expect(await delivering.runDue(10)).toBe(1);
      expect(await delivering.runDue(10)).toBe(0);
      const [row] = await deliveries();
      if (row?.state !== "waiting") break;
      const { rows } = await runtime.database.write.execute<{ pause: number }>(
        sql`select extract(epoch from due_at - clock_timestamp())::float8 as pause from webhook_deliveries`,
      );
      const shift = runtime.platform.clockShift() / 1000;
      pauses.push((rows[0]?.pause ?? 0) - shift);
      runtime.advanceClock(pauses.at(-1) ?? 0);
    }
    expect(pauses).toHaveLength(10);
    expect(pauses.every((pause, index) => index < 8 || pause > 0.89 * (pauses[index - 1] ?? 0))).toBe(true);
    expect(pauses[0]).toBeLessThanOrEqual(5);
    const hours = pauses.reduce((sum, pause) => sum + pause, 0) / 3600;
    expect(hours).toBeGreaterThan(20);
    expect(hours).toBeLessThan(24);
    expect(new Set(receiver.received.map((delivery) => delivery.id))).toEqual(new Set([id]));
    expect(await deliveries()).toMatchObject([{ state: "failed", attempts: 11 }]);
    const { rows } = await runtime.database.write.execute(
      sql`select number, status, error, answer from webhook_attempts order by number`,
    );
    expect(rows).toHaveLength(11);
    expect(rows[10]).toEqual({ number: 11, status: 503, error: "status", answer: "later" });
  });

  test("that asks for a pause gets the event after it", async () => {
    receiver.answer = (response) => response.writeHead(429, { "retry-after": "3600" }).end();
    await commitEvent([await storeWebhook(receiver.url)]);
    await process().runDue(1);
    const [row] = await deliveries();
    expect(row?.pause).toBeGreaterThan(3_000);
    expect(row?.pause).toBeLessThanOrEqual(3_600);
  });

  test("gets, after an hour without an answer, every event in the order of each user", async () => {
    const { port } = receiver;
    await receiver.close();
    const callback = `http://127.0.0.1:${port}/events`;
    const to = [await storeWebhook(callback)];
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1)
      ids.push(await commitEvent(to, { subject: `user ${index % 2}` }));
    const delivering = process();
    for (let minutes = 0; minutes < 60; minutes += 10) {
      await delivering.runDue(100);
      runtime.advanceClock(600);
    }
    expect((await deliveries()).every(({ state }) => state === "waiting")).toBe(true);
    receiver = await startReceiver({ port });
    runtime.advanceClock(3600);
    while ((await delivering.runDue(100)) > 0);
    expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set(ids));
    expect((await deliveries()).every(({ state }) => state === "delivered")).toBe(true);
  });

  test("is disabled after more than five deliveries in a row that were given up, and `failures` says so", async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    const id = await storeWebhook(receiver.url);
    const delivering = process();
    const exhaust = async () => {
      await commitEvent([id]);
      await runtime.database.write.execute(
        sql`update webhook_deliveries set attempts = 10 where state = 'waiting'`,
      );
      await delivering.runDue(1);
    };
    for (let count = 1; count <= 5; count += 1) {
      await exhaust();
      expect(await webhookRow(id)).toMatchObject({ failures: count, enabled: true });
    }
    receiver.answer = (response) => response.writeHead(204).end();
    await commitEvent([id]);
    await delivering.runDue(1);
    expect(await webhookRow(id)).toEqual({ failures: 0, enabled: true, days: 30 });
    receiver.answer = (response) => response.writeHead(500).end();
    for (let count = 1; count <= 6; count += 1) await exhaust();
    expect(await webhookRow(id)).toMatchObject({ failures: 6, enabled: false });
    expect(delivering.logged.filter((line) => line.includes("a webhook was disabled"))).toHaveLength(1);
    receiver.received.length = 0;
    await commitEvent([id]);
    await delivering.runDue(10);
    expect(receiver.received).toEqual([]);
    expect(await webhookRow(id)).toMatchObject({ failures: 6 });
    expect((await deliveries()).at(-1)).toMatchObject({ state: "failed", attempts: 0 });
  });

  test("A84 delays no other receiver, though thirty of them never answer", async () => {
    const silent = await startReceiver();
    onTestFinished(() => silent.close());
    silent.answer = () => {};
    const slow = await Promise.all(
      Array.from({ length: 30 }, (_, index) => storeWebhook(`${silent.url}/${index}`)),
    );
    const healthy = await storeWebhook(receiver.url);
    const delivering = process();
    delivering.start();
    await commitEvent([healthy]);
    await eventually(() => {
      delivering.wake();
      expect(receiver.received).toHaveLength(1);
    });
    for (let index = 0; index < 3; index += 1) await commitEvent([...slow, healthy]);
    delivering.wake();
    // Of the silent ones, none has answered by then.
    await eventually(() => expect(receiver.received).toHaveLength(4));
    expect(silent.received.length).toBeLessThanOrEqual(24);
    expect((await deliveries()).filter(({ attempts, state }) => state === "waiting" && attempts > 0)).toEqual(
      [],
    );
  });
});

/** Numbers of rows of the claims, and how many statements wrote outcomes. */
function countStatements() {
  const counted = { claims: [] as number[], outcomes: 0 };
  type Query = (given: { text: string }, ...more: unknown[]) => Promise<{ rows: unknown[] }>;
  const counting =
    (query: Query) =>
    async (...given: Parameters<Query>) => {
      const result = await query(...given);
      const { text } = given[0];
      if (text.includes("owned as (")) counted.outcomes += 1;
      else if (text.includes("claimed as (")) counted.claims.push(result.rows.length);
      return result;
    };
  const { claim, write } = runtime.database;
  // What was sent is on the disk before it is forgotten here.
  const query = counting(write.$client.query.bind(write.$client) as unknown as Query);
  const connect = claim.$client.connect.bind(claim.$client) as () => Promise<PoolClient>;
  const spies = [
    vi.spyOn(write.$client, "query").mockImplementation(query as never),
    vi.spyOn(claim.$client, "connect").mockImplementation((async () => {
      const connection = await connect();
      const ofConnection = counting(connection.query.bind(connection) as unknown as Query);
      return new Proxy(connection, {
        get: (target, name) => (name === "query" ? ofConnection : Reflect.get(target, name)),
      });
    }) as never),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return counted;
}

const areDelivered = (count: number) =>
  eventually(async () =>
    expect((await deliveries()).filter(({ state }) => state === "delivered")).toHaveLength(count),
  );

/** Waits until a statement waits for rows. */
const outcomeWaits = () =>
  eventually(async () => {
    const { rows } = await runtime.database.read.execute(
      sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    expect(rows).toHaveLength(1);
  });

describe("deliveries of a bunch", () => {
  /** Stores webhooks at the receiver, which a process has found to be fast. */
  async function fastWebhooks(delivering: WebhookDelivery, paths: readonly string[]): Promise<string[]> {
    const ids = [];
    for (const path of paths) ids.push(await storeWebhook(path));
    for (let times = 0; times < 4; times += 1) {
      await commitEvent(ids);
      while ((await delivering.runDue(50)) > 0);
    }
    receiver.received.length = 0;
    return ids;
  }
  const five = () => Array.from({ length: 5 }, (_, index) => `${receiver.url}/${index}`);

  test("of one login to five webhooks take one claim, one statement for their outcomes, and no new connection", async () => {
    const delivering = process();
    const to = await fastWebhooks(delivering, five());
    const [counted, connections] = [countStatements(), receiver.connections()];
    const held: ServerResponse[] = [];
    receiver.answer = (response) => {
      if (held.push(response) === 5) for (const each of held) each.writeHead(204).end();
    };
    await commitEvent(to, { subject: "anna" });
    delivering.start();
    await areDelivered(5 * 5);
    expect([counted.claims.filter(Boolean), counted.outcomes]).toEqual([[5], 1]);
    expect(receiver.connections()).toBe(connections);
  });

  test("of 20 logins at once to five webhooks take fewer statements than there are logins", async () => {
    const delivering = process();
    const to = await fastWebhooks(delivering, five());
    const counted = countStatements();
    for (let login = 0; login < 20; login += 1) await commitEvent(to, { subject: `user ${login}` });
    delivering.start();
    await areDelivered(5 * (4 + 20));
    // Each receiver has 16 places.
    expect(counted.claims[0]).toBe(80);
    expect(counted.claims.reduce((sum, rows) => sum + rows, 0)).toBe(100);
    expect(counted.claims.filter(Boolean).length + counted.outcomes).toBeLessThan(20);
    expect(receiver.connections()).toBeLessThanOrEqual(16);
  });

  test("A190 do not wait for a receiver that hangs, and neither do their outcomes", async () => {
    const silent = await startReceiver();
    onTestFinished(() => silent.close());
    const delivering = process();
    const to = await fastWebhooks(delivering, [silent.url, ...five().slice(1)]);
    silent.answer = () => {};
    delivering.start();
    for (let login = 0; login < 12; login += 1) await commitEvent(to, { subject: `user ${login}` });
    delivering.wake();
    await areDelivered(5 * 4 + 4 * 12);
    const waiting = (await deliveries()).filter(({ state }) => state === "waiting");
    expect(waiting.map(({ attempts }) => attempts)).toEqual(Array(12).fill(0));
  });

  test("are retried alone if they fail, while the others are ended", async () => {
    const delivering = process();
    const to = await fastWebhooks(delivering, five());
    receiver.answer = (response, { path }) => response.writeHead(path.endsWith("/3") ? 500 : 204).end();
    await commitEvent(to, { subject: "anna" });
    expect(await delivering.runDue(5)).toBe(5);
    const states = async () => (await deliveries()).slice(-5).map(({ state }) => state);
    expect((await states()).toSorted()).toEqual([...Array(4).fill("delivered"), "waiting"]);
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(204).end();
    runtime.advanceClock(6);
    expect(await delivering.runDue(5)).toBe(1);
    expect(receiver.received.map(({ path }) => path)).toEqual(["/events/3"]);
    expect(await states()).toEqual(Array(5).fill("delivered"));
  });

  test("are attempted once, although a failover has lost that they were claimed", async () => {
    const delivering = process();
    // One that is fast has several places.
    const to = await fastWebhooks(delivering, [receiver.url]);
    const claimedUntil = async () => {
      const { rows } = await runtime.database.read.execute(
        sql`select claimed_until from webhook_deliveries where state = 'waiting'`,
      );
      return rows.map((row) => row.claimed_until);
    };
    receiver.answer = async (response) => {
      await runtime.database.write.execute(
        sql`update webhook_deliveries set claimed_until = null where state = 'waiting'`,
      );
      delivering.wake();
      await eventually(async () => expect(await claimedUntil()).not.toEqual([null]));
      response.writeHead(204).end();
    };
    await commitEvent(to);
    delivering.start();
    await eventually(async () => expect(await claimedUntil()).toEqual([]));
    expect(receiver.received).toHaveLength(1);
    expect((await deliveries()).at(-1)).toMatchObject({ state: "delivered", attempts: 1 });
  });
});

test("A200 a tenant whose hundred receivers hang leaves the first deliveries to receivers of other tenants their turn", async () => {
  const silent = await startReceiver();
  onTestFinished(() => silent.close());
  silent.answer = () => {};
  const hanging = [];
  for (let number = 0; number < 100; number += 1) hanging.push(await storeWebhook(`${silent.url}/${number}`));
  for (let event = 0; event < 3; event += 1) await commitEvent(hanging);
  const others: string[] = [];
  for (let number = 0; number < 5; number += 1) {
    const { id: of } = await createTenant(runtime, { name: `Other ${number}`, hosts: [], settings: {} });
    await commitEvent([await storeWebhook(receiver.url, { of })], { of });
    others.push(of);
  }
  const limits = { limits: () => [], freeSlow: () => 24 };
  const claimed = await claimDue(runtime.database, 128, limits, 0);
  expect(claimed).toHaveLength(24);
  expect(claimed.map(({ tenantId }) => tenantId)).toEqual(expect.arrayContaining(others));
});

describe("without the look at intervals", () => {
  function startDelivering(): WebhookDelivery {
    const delivering = process();
    const interval = vi.spyOn(globalThis, "setInterval").mockReturnValueOnce(undefined as never);
    delivering.start();
    interval.mockRestore();
    return delivering;
  }

  test("deliveries are made that waited for a place of their receiver, or of slow ones", async () => {
    const to = [];
    for (let index = 0; index < 30; index += 1) to.push(await storeWebhook(`${receiver.url}/${index}`));
    for (let times = 0; times < 2; times += 1) await commitEvent(to);
    startDelivering();
    await areDelivered(2 * 30);
  });

  test("a later event of a user is delivered that was committed during the attempt, or the write of its outcome", async () => {
    const webhook = await storeWebhook(receiver.url);
    const delivering = startDelivering();
    const commitAndWake = async () => {
      await commitEvent([webhook], { subject: "anna" });
      delivering.wake();
    };
    const { promise: first, resolve: hasArrived } = Promise.withResolvers<ServerResponse>();
    receiver.answer = hasArrived;
    await commitAndWake();
    const response = await first;
    receiver.answer = (next) => next.writeHead(204).end();
    await runtime.database.write.transaction(async (tx) => {
      await tx.execute(sql`select from webhook_deliveries for update`);
      response.writeHead(204).end();
      await outcomeWaits();
      const { claims } = countStatements();
      await commitAndWake();
      // The first claim may be the one for the free place, which began earlier.
      await eventually(() => expect(claims).toEqual([0]));
      delivering.wake();
      await eventually(() => expect(claims).toEqual([0, 0]));
    });
    await areDelivered(2);
    await commitAndWake();
    await commitAndWake();
    await areDelivered(4);
  });
});

describe("a delivery in hand", () => {
  async function inHand() {
    const answers: ServerResponse[] = [];
    receiver.answer = (response) => void answers.push(response);
    const id = await storeWebhook(receiver.url);
    await commitEvent([id], { subject: "anna" });
    await commitEvent([id], { subject: "anna" });
    const delivering = process();
    const done = delivering.runDue(10);
    await eventually(() => expect(answers).toHaveLength(1));
    const finish = async (status: number) => {
      receiver.answer = (response) => response.writeHead(204).end();
      answers[0]?.writeHead(status).end();
      await done;
      while ((await delivering.runDue(10)) > 0);
    };
    const left = async () => {
      const { rows } = await runtime.database.write.execute(sql`
        select (select count(*)::int from events) as events,
          (select count(*)::int from webhook_deliveries) as deliveries,
          (select count(*)::int from webhook_attempts) as attempts`);
      return rows[0];
    };
    return { id, delivering, finish, left };
  }

  test.each([204, 500])(
    "whose webhook is deleted leaves nothing, whether the answer is %i",
    async (status) => {
      const { id, delivering, finish, left } = await inHand();
      expect(await deleteWebhook(runtime, runtime.tenant, id)).toBe(true);
      await finish(status);
      expect(await left()).toEqual({ events: 0, deliveries: 0, attempts: 0 });
      expect(delivering.logged.filter((line) => line.includes("could not"))).toEqual([]);
      expect(receiver.received).toHaveLength(1);
    },
  );

  test.each([
    ["was lost with its primary", sql`claimed_until = null`],
    ["has ended in an outage", sql`claimed_until = claimed_until - interval '1 minute'`],
  ])("whose claim %s is delivered once", async (_, change) => {
    const { finish } = await inHand();
    await runtime.database.write.execute(
      sql`update webhook_deliveries set ${change} where claimed_until is not null`,
    );
    await finish(204);
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(2);
    expect(await deliveries()).toMatchObject(Array(2).fill({ state: "delivered", attempts: 1 }));
  });

  test("whose tenant is deleted leaves nothing, and its result does not stop the deletion", async () => {
    const { delivering, finish, left } = await inHand();
    const { write } = runtime.database;
    const finished = await write.transaction(async (tx) => {
      await tx.execute(sql`select from tenants where id = ${tenantId()} for update`);
      const finishing = finish(204);
      await outcomeWaits();
      await tx.execute(sql`delete from tenants where id = ${tenantId()}`);
      return { finishing };
    });
    await finished.finishing;
    expect(await left()).toEqual({ events: 0, deliveries: 0, attempts: 0 });
    expect(delivering.logged.filter((line) => line.includes("could not"))).toEqual([]);
  });
});

describe("a process that ends", () => {
  test("A120 waits for attempts in hand, and gives those that take longer back at once", async () => {
    const held: (() => void)[] = [];
    receiver.answer = (response) => void held.push(() => response.writeHead(204).end());
    const to = [await storeWebhook(receiver.url), await storeWebhook(`${receiver.url}/2`)];
    await commitEvent(to);
    const delivering = process();
    delivering.start();
    await eventually(() => expect(held).toHaveLength(2));
    held[0]?.();
    await eventually(async () =>
      expect((await deliveries()).filter(({ state }) => state === "delivered")).toHaveLength(1),
    );
    await delivering.stop(0);
    const { rows } = await runtime.database.write.execute(
      sql`select claimed_until, attempts from webhook_deliveries where state = 'waiting'`,
    );
    expect(rows).toEqual([{ claimed_until: null, attempts: 0 }]);
    receiver.answer = (response) => response.writeHead(204).end();
    expect(await process().runDue(10)).toBe(1);
  });

  test("A163 sends nothing that it takes while the database outgrows it, and gives it back at once", async () => {
    const ids = [
      await commitEvent([await storeWebhook(receiver.url)]),
      // A later release may know what this one takes for a deleted webhook.
      await commitEvent([randomUUID()]),
    ];
    const standing = createStanding({ version: "0.3.0" }, pino({ level: "silent" }));
    const outgrown = process({ ...runtime, standing });
    const holder = await runtime.database.write.$client.connect();
    await holder.query("begin; lock table webhook_deliveries in exclusive mode");
    const running = outgrown.runDue(10);
    await waitsForLock(holder);
    standing.heed([laterRelease]);
    await holder.query("commit");
    holder.release();
    await running;
    expect(await outgrown.runDue(10)).toBe(0);
    expect(receiver.received).toEqual([]);
    expect(await deliveries()).toEqual(ids.map(() => ({ state: "waiting", attempts: 0, pause: 0 })));
    expect(await process().runDue(10)).toBe(2);
    expect(receiver.received.map(({ id }) => id)).toEqual(ids.slice(0, 1));
  });

  test("A112 leaves what it had in hand to the next one, after its lease", async () => {
    receiver.answer = () => {};
    await commitEvent([await storeWebhook(receiver.url)]);
    // A killed process claims, and writes no result.
    const broken = { ...runtime, database: { ...runtime.database } };
    const killed = process(broken, { timeoutMs: 50 });
    const $client = new Proxy(runtime.database.write.$client, {
      get: (target, name) =>
        name === "query" ? () => Promise.reject(new Error("killed")) : Reflect.get(target, name),
    });
    broken.database.write = { ...runtime.database.write, $client } as typeof runtime.database.write;
    await createWebhookDelivery({
      ...broken,
      client: createReceiverClient({ allowPrivate: true, timeoutMs: 50 }),
      log: pino({ level: "silent" }),
    }).runDue(1);
    await killed.stop(0);
    receiver.answer = (response) => response.writeHead(204).end();
    const next = process();
    expect(await next.runDue(10)).toBe(0);
    runtime.advanceClock(16);
    expect(await next.runDue(10)).toBe(1);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(await deliveries()).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });

  test("A112 writes no result of a delivery that another one has taken over", async () => {
    const answers: ServerResponse[] = [];
    receiver.answer = (response) => void answers.push(response);
    await commitEvent([await storeWebhook(receiver.url)]);
    const overtaken = process().runDue(1);
    await eventually(() => expect(answers).toHaveLength(1));
    runtime.advanceClock(16);
    const next = process().runDue(1);
    await eventually(() => expect(answers).toHaveLength(2));
    answers[0]?.writeHead(500).end();
    await overtaken;
    expect(await deliveries()).toMatchObject([{ state: "waiting", attempts: 0 }]);
    answers[1]?.writeHead(204).end();
    await next;
    expect(await deliveries()).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });

  test("counts no attempt for a delivery whose secret was sealed by a key that it lacks", async () => {
    await commitEvent([await storeWebhook(receiver.url)]);
    const { createVault } = await import("../keys/vault.ts");
    const other = { ...runtime, vault: createVault(["another key of this test"]) };
    await process(other).runDue(10);
    expect(await deliveries()).toMatchObject([{ state: "waiting", attempts: 0 }]);
    runtime.advanceClock(61);
    await process().runDue(10);
    expect(await deliveries()).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });
});
