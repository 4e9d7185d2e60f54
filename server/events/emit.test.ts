import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import pg from "pg";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { schema, type Transaction } from "#db/client";
import { isDistributed } from "#db/distribution";
import { runTogether } from "#db/together";
import type { Write } from "#db/write";
import { deleteAccount } from "../account/deletion.ts";
import { audit } from "../audit/audit.ts";
import { createUsername } from "../identity/username/usernames.ts";
import { issueSession } from "../sessions/sessions.ts";
import { storedDeliveries, storedEvents, storeWebhook } from "../testing/emitted-events.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { testClient } from "../testing/runtime.ts";
import { insertUser } from "../testing/users.ts";
import { commitWrites } from "../testing/writes.ts";
import { configWebhooks } from "./config-webhooks.ts";
import { emit, emitMessage, subscribedParts } from "./emit.ts";
import { type EventData, events } from "./events.ts";
import type { WrittenEvents } from "./write-records.ts";

const runtime = await runtimeForTests();

const { auditLogs, webhooks } = schema;
const flowId = randomUUID();
const context = () => ({ ...requestContext(runtime), flowId });

beforeEach(async () => {
  await runtime.database.write.delete(webhooks);
  await runtime.database.write.delete(schema.events);
  await runtime.database.write.delete(schema.webhookDeliveries);
});

const names = async () => (await storedEvents(runtime)).map(({ name }) => name);

describe("an emitted event", () => {
  it("is written with one delivery for each subscribed webhook", async () => {
    const user = await insertUser(runtime);
    const [all, logins] = [await storeWebhook(runtime), await storeWebhook(runtime, ["user.login"])];
    const others = await storeWebhook(runtime, ["user.update.username", "session"]);

    await commitWrites(runtime, emit(context(), "user.login", user));

    const [event] = await storedEvents(runtime);
    expect(event).toMatchObject({ name: "user.login", subjectId: user, flowId });
    for (const webhook of [all, logins])
      expect(await storedDeliveries(runtime, webhook)).toMatchObject([
        { eventId: event?.id, sequence: event?.sequence, subjectId: user, state: "waiting", attempts: 0 },
      ]);
    expect(await storedDeliveries(runtime, others)).toEqual([]);
  });

  it("is not written without a subscribed webhook", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime, ["user.update"]);
    await commitWrites(runtime, emit(context(), "user.login", user));
    expect(await names()).toEqual([]);
  });

  it("is covered by whole segments of a subscription alone", async () => {
    const user = await insertUser(runtime);
    await runtime.database.write.insert(webhooks).values({
      tenantId: runtime.tenant.id,
      id: randomUUID(),
      callback: "https://example.com/",
      expiresAt: new Date(Date.now() + 1e6),
      events: ["user.update.email.c", "use", "user.update.email.create.more"].map((event) => ({
        id: randomUUID(),
        event,
      })),
      sealedSecret: Buffer.of(1),
    });
    await commitWrites(runtime, emit(context(), "user.update.email.create", user));
    expect(await names()).toEqual([]);
  });

  it("is not written for a disabled webhook, an expired listener, or one of another tenant", async () => {
    const user = await insertUser(runtime);
    const past = new Date(Date.now() - 1000);
    await storeWebhook(runtime, ["user"], { enabled: false });
    await storeWebhook(runtime, ["user"], { isListener: true, expiresAt: past });
    const other = randomUUID();
    await runtime.database.write.insert(schema.tenants).values({ id: other, name: "Other" });
    await storeWebhook(runtime, ["user"], { tenantId: other });
    await commitWrites(runtime, emit(context(), "user.login", user));
    expect(await names()).toEqual([]);
  });

  it("is written for an expired webhook unless the configuration lets webhooks expire", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime, ["user"], { expiresAt: new Date(Date.now() - 1000) });
    const expiring = runtime.configured({ STILE_WEBHOOKS_ALLOW_TIME_EXPIRATION: "true" });
    await commitWrites(runtime, emit(requestContext(expiring), "user.login", user));
    expect(await names()).toEqual([]);
    await commitWrites(runtime, emit(context(), "user.login", user));
    expect(await names()).toEqual(["user.login"]);
  });

  it("is delivered to the webhooks of the configuration", async () => {
    const user = await insertUser(runtime);
    const hooks = [
      { callback: "https://example.com/1", events: ["user"] },
      { callback: "https://example.com/2", events: ["session"] },
    ];
    const configured = runtime.configured({
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks),
    });
    await commitWrites(runtime, emit(requestContext(configured), "user.login", user));
    const [first, second] = configWebhooks(configured.config);
    expect(await storedDeliveries(runtime, first?.id ?? "")).toHaveLength(1);
    expect(await storedDeliveries(runtime, second?.id ?? "")).toEqual([]);
  });

  it("holds the user as it is at the end of the transaction, and the client of a flow", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime);
    await commitWrites(
      runtime,
      emit(context(), "user.update.username.create", user),
      createUsername(requestContext(runtime), user, "ada"),
    );
    const [event] = await storedEvents(runtime);
    const client = { ip_address: testClient.ip, user_agent: testClient.userAgent };
    expect(event?.data).toMatchObject({ id: user, username: { username: "ada" }, ...client });
    expect(events["user.update.username.create"].data.parse(event?.data)).toEqual(event?.data);
  });

  it("names the operator's client for changes of emails only", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime);
    const operator = requestContext(runtime);
    await commitWrites(runtime, emit(operator, "user.create", user));
    await commitWrites(runtime, emit(operator, "user.update.email.primary", user));
    const [created, changed] = await storedEvents(runtime);
    expect(created?.data).not.toHaveProperty("ip_address");
    expect(changed?.data).toHaveProperty("ip_address", testClient.ip);
  });

  it("holds a deleted user as it was before", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime);
    await commitWrites(runtime, createUsername(requestContext(runtime), user, `gone-${user}`));
    await commitWrites(runtime, deleteAccount(context(), user, flowId));
    const [event] = await storedEvents(runtime);
    expect(event).toMatchObject({ name: "user.delete", subjectId: user });
    expect(event?.data).toMatchObject({ id: user, username: { username: `gone-${user}` } });
    expect(events["user.delete"].data.parse(event?.data)).toEqual(event?.data);
  });

  it("keeps the order in which a transaction emits", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime);
    const order = ["user.create", "user.login", "user.update", "user.update.password.update"] as const;
    await commitWrites(runtime, ...order.map((name) => emit(context(), name, user)));
    expect(await names()).toEqual(order);
  });

  it("is rolled back with its transaction, and wakes no delivery then", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime);
    const wake = vi.fn();
    const waking = { ...context(), runtime: { ...runtime, webhooks: { ...runtime.webhooks, wake } } };
    const failing = commitWrites(runtime, emit(waking, "user.login", user), async () => {
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    expect(await names()).toEqual([]);
    expect(wake).not.toHaveBeenCalled();

    await commitWrites(runtime, emit(waking, "user.login", user), emit(waking, "user.update", user));
    expect(wake).toHaveBeenCalledOnce();
  });

  it("A90 takes a user agent that PostgreSQL could not store", async () => {
    const user = await insertUser(runtime);
    await storeWebhook(runtime);
    const client = { ...testClient, userAgent: `\0\ud800${"a".repeat(10_000)}` };
    await commitWrites(runtime, emit({ ...context(), client }, "user.login", user));
    const [event] = await storedEvents(runtime);
    expect(event?.data?.user_agent).toHaveLength(512);
  });
});

// A distributed database takes three more.
const isOne = !(await isDistributed(runtime.database));

it.runIf(isOne)(
  "inserts the audit entries and events of a transaction by one statement without webhooks, by two with one",
  async () => {
    const user = await insertUser(runtime);
    const records = [
      audit(context(), "login_success", { methods: ["password"] }, user),
      emit(context(), "user.login", user),
      audit(context(), "trusted_device_stolen", {}, user),
      emit(context(), "user.update", user),
    ];
    const statementsOf = async () => {
      const query = vi.spyOn(pg.Client.prototype, "query");
      await commitWrites(runtime, ...records);
      const begin = 1;
      const commit = 1;
      const count = query.mock.calls.length - begin - commit;
      query.mockRestore();
      return count;
    };
    expect(await statementsOf()).toBe(1);
    await runtime.database.write.delete(auditLogs).where(eq(auditLogs.userId, user));
    await storeWebhook(runtime);
    expect(await statementsOf()).toBe(2);
    const entries = await runtime.database.read.select().from(auditLogs).where(eq(auditLogs.userId, user));
    expect(entries.map(({ type, details }) => [type, details]).sort()).toEqual([
      ["login_success", { methods: ["password"] }],
      ["trusted_device_stolen", {}],
    ]);
    expect(entries[0]).toMatchObject({ ipAddress: testClient.ip, userAgent: testClient.userAgent });
  },
);

describe("an event of a session", () => {
  const person = { email: null, emailVerified: false, username: null, amr: [], rememberMe: false };

  it("tells of the new session and of those that exceed the limit", async () => {
    const userId = await insertUser(runtime);
    const limited = runtime.configured({ STILE_SESSION_LIMIT: "1", STILE_SESSION_IDLE_TIMEOUT: "600" });
    await storeWebhook(runtime, ["session"]);
    const now = Date.now();
    const issued: string[] = [];
    for (const minutes of [0, 1, 20]) {
      const at = requestContext(limited, { now: new Date(now + minutes * 60_000) });
      const { session, write } = await issueSession(at, { ...person, userId, factors: [] });
      await commitWrites(runtime, write);
      issued.push(session.id);
    }
    const told = await storedEvents(runtime);
    expect(told.map(({ name, data }) => [name, data?.id])).toEqual([
      ["session.create.flow", issued[0]],
      ["session.delete.passive.limit", issued[0]],
      ["session.create.flow", issued[1]],
      ["session.delete.passive.expire", issued[1]],
      ["session.create.flow", issued[2]],
    ]);
    for (const { name, data, subjectId } of told) {
      expect(events[name as "session.create.flow"].data.parse(data)).toEqual(data);
      expect(subjectId).toBe(userId);
    }
  });

  it("is the same in a batch as in a transaction, and for the same webhooks", async () => {
    const hooks = [
      { callback: "https://example.com/1", events: ["session.delete.passive.limit"] },
      { callback: "https://example.com/2", events: ["session.create", "session.delete.passive.expire"] },
    ];
    const limited = runtime.configured({
      STILE_SESSION_LIMIT: "2",
      STILE_SESSION_IDLE_TIMEOUT: "600",
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify(hooks),
    });
    const webhookIds = [
      ...configWebhooks(limited.config).map(({ id }) => id),
      await storeWebhook(runtime, ["session"]),
      await storeWebhook(runtime, ["session.delete.passive.limit"]),
      await storeWebhook(runtime, ["session.delete.passive.expire", "user.login"]),
      await storeWebhook(runtime, ["user"]),
    ];
    const { sessions } = schema;
    const now = new Date("2030-01-01T12:00:00.250Z");
    const minutes = (count: number) => new Date(now.getTime() + count * 60_000);
    // By age: one over the limit, an idle one, one at the very limit of idleness, an expired one, and one that stays.
    const earlier = [
      { createdAt: minutes(-50), lastUsedAt: minutes(-1), expiresAt: minutes(9), userAgent: 'a "b" \\ é' },
      { createdAt: minutes(-40), lastUsedAt: minutes(-11), expiresAt: minutes(9), ipAddress: "2001:db8::1" },
      { createdAt: minutes(-30), lastUsedAt: minutes(-10), expiresAt: minutes(9) },
      { createdAt: minutes(-20), lastUsedAt: minutes(-1), expiresAt: now },
      { createdAt: minutes(-5), lastUsedAt: minutes(-1), expiresAt: minutes(9) },
    ];

    /** Signs in at the limit; returns the events and receivers, with the ids of users and sessions replaced. */
    const toldBy = async (run: (write: Write) => Promise<unknown>) => {
      await runtime.database.write.delete(schema.webhookDeliveries);
      await runtime.database.write.delete(schema.events);
      const userId = await insertUser(runtime);
      const ids = earlier.map(() => randomUUID());
      const own = { tenantId: runtime.tenant.id, userId, authenticatedAt: now, factors: [], amr: [] };
      await runtime.database.write
        .insert(sessions)
        .values(earlier.map((row, index) => ({ ...own, ...row, id: ids[index] ?? "" })));
      const at = { ...requestContext(limited, { now }), flowId };
      const { session, write } = await issueSession(at, { ...person, userId, factors: [] });
      const login = emit(at, "user.login", userId);
      await run(
        Object.assign(
          async (tx: Transaction) => {
            await write(tx);
            await login(tx);
          },
          { parts: [...(write.parts ?? []), ...(login.parts ?? [])] },
        ),
      );
      const told = await storedEvents(runtime);
      const name = new Map([
        [userId, "user"],
        [session.id, "new"],
        ...ids.map((id, index) => [id, `${index}`] as const),
      ]);
      const plain = (value: unknown) =>
        JSON.stringify(value).replace(/[0-9a-f-]{36}/g, (id) => name.get(id) ?? id);
      const receivers = await Promise.all(
        webhookIds.map(async (webhook) =>
          (await storedDeliveries(runtime, webhook)).map((delivery) => {
            const event = told.find(({ id }) => id === delivery.eventId);
            expect(delivery).toMatchObject({ sequence: event?.sequence, subjectId: event?.subjectId });
            return told.findIndex(({ id }) => id === delivery.eventId);
          }),
        ),
      );
      for (const { name: event, data } of told)
        expect(events[event as "session.create.flow"].data.parse(data)).toEqual(data);
      const stored = told.map(({ id, sequence, createdAt, data, ...event }) =>
        plain({ ...event, data: event.name === "user.login" ? data?.id : data }),
      );
      const names = told.map((event) => event.name);
      return {
        stored,
        names,
        receivers,
        left: (await runtime.database.read.select().from(sessions).where(eq(sessions.userId, userId))).length,
      };
    };

    const inTransaction = await toldBy((write) => commitWrites(runtime, write));
    const inBatch = await toldBy(async (write) => {
      const { parts, delivered } = subscribedParts(write.parts ?? []);
      delivered(await runTogether<WrittenEvents>(runtime.database, parts));
    });

    expect(inBatch).toEqual(inTransaction);
    expect(inBatch.names).toEqual([
      "session.delete.passive.limit",
      "session.delete.passive.expire",
      "session.delete.passive.limit",
      "session.delete.passive.expire",
      "session.create.flow",
      "user.login",
    ]);
    expect(inBatch.receivers).toEqual([[0, 2], [1, 3, 4], [0, 1, 2, 3, 4], [0, 2], [1, 3, 5], [5]]);
    expect(inBatch.left).toBe(2);
  });
});

it("stores the data of a mail sealed, once for an id", async () => {
  await storeWebhook(runtime, ["email.send"]);
  const id = randomUUID();
  const data: EventData<"email.send"> = {
    type: "login",
    subject: "314159",
    body_plain: "314159",
    body: "314159",
    to_email_address: "ada@example.com",
    delivered_by_hanko: true,
    accept_language: "en",
    language: "en",
    data: { service_name: "Stile", otp_code: "314159", ttl: 300, valid_until: 2_000_000_000 },
  };
  const write = () =>
    commitWrites(runtime, emitMessage({ runtime, tenant: runtime.tenant }, "email.send", id, data));
  await write();
  await write();
  const stored = await storedEvents(runtime);
  expect(stored).toMatchObject([{ id, name: "email.send", subjectId: null, data: null }]);
  expect(stored[0]?.sealedData?.toString("latin1")).not.toContain("314159");
});
