import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { configWebhookId } from "../../events/config-webhooks.ts";
import { emit } from "../../events/emit.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type AdminOperator, adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { insertUser } from "../../testing/users.ts";
import { startReceiver, type WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { commitWrites } from "../../testing/writes.ts";
import { createReceiverClient } from "../../webhooks/receiver-client.ts";
import { createWebhookDelivery } from "../../webhooks/webhook-delivery.ts";

const callback = "https://app.example.com/events";
const hook = { callback: "https://app.example.com/configured", events: ["user", "email.send"] };
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const runtime = await runtimeForTests({
  STILE_WEBHOOKS_ENABLED: "true",
  STILE_WEBHOOKS_HOOKS: JSON.stringify([{ ...hook, secret: `whsec_${"a".repeat(40)}` }]),
});
const operator = await adminOperator(runtime);
const call = operator.call;

const stored = (over: object = {}) => ({
  id: uuid,
  callback,
  enabled: true,
  failures: 0,
  expires_at: time,
  expires: false,
  events: [{ id: uuid, event: "user.login" }],
  created_at: time,
  updated_at: time,
  ...over,
});

const create = async (events = ["user.login"], to = callback): Promise<{ id: string; secret: string }> => {
  const { status, body } = await call("POST", "/webhooks", { callback: to, events });
  expect(status).toBe(201);
  return body;
};

describe("webhooks", () => {
  test("say whether they expire", async () => {
    const tenant = await createTenant(runtime, {
      name: "Expiring",
      hosts: [],
      settings: { webhooks: { allow_time_expiration: true } },
    });
    const own = await adminOperator(runtime, tenant);
    const { body } = await own.call("POST", "/webhooks", { callback, events: ["user"] });
    const { body: read } = await own.call("GET", `/webhooks/${body.id}`);
    expect([body.expires, read.expires]).toEqual([true, true]);
  });

  test("are at most 100 in a tenant, also of requests at once", async () => {
    const own = await adminOperator(
      runtime,
      await createTenant(runtime, { name: "Many", hosts: [], settings: {} }),
    );
    const create = () => own.call("POST", "/webhooks", { callback, events: ["user"] });
    const answers = [];
    for (let round = 0; round < 11; round += 1)
      answers.push(...(await Promise.all(Array.from({ length: 10 }, create))));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
    const [refused] = answers.filter(({ status }) => status !== 201);
    expect(refused).toMatchObject({ status: 409, body: { message: "A tenant has at most 100 webhooks." } });
    const { body } = await own.call("GET", "/webhooks");
    expect(body.database).toHaveLength(100);
    await own.call("DELETE", `/webhooks/${body.database[0].id}`);
    expect((await create()).status).toBe(201);
  });

  test("are created, listed, read, changed and deleted in the published shapes", async () => {
    const created = await call("POST", "/webhooks", { callback, events: ["user.login"] });
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({ ...stored(), secret: expect.stringMatching(/^whsec_/) });
    const { id } = created.body;
    expect((await call("GET", `/webhooks/${id}`)).body).toEqual(stored({ id }));
    const listed = await call("GET", "/webhooks");
    expect(listed.status).toBe(200);
    expect(listed.body.database).toEqual([stored({ id })]);
    expect(listed.body.config).toEqual([{ id: configWebhookId(hook), ...hook }]);
    expect(listed.text).not.toContain("whsec_");

    const change = {
      callback: `${callback}/2`,
      events: ["user.login", "session", "session"],
      enabled: false,
    };
    const changed = await call("PUT", `/webhooks/${id}`, change);
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual(
      stored({
        id,
        callback: `${callback}/2`,
        enabled: false,
        events: [
          { id: created.body.events[0].id, event: "user.login" },
          { id: uuid, event: "session" },
        ],
      }),
    );
    expect(await call("DELETE", `/webhooks/${id}`)).toMatchObject({ status: 204, text: "" });
    expect((await call("DELETE", `/webhooks/${id}`)).status).toBe(404);
    expect((await call("GET", "/webhooks")).body.database).toEqual([]);
  });

  test("begin anew with their failures and their expiry when they are changed", async () => {
    const { id } = await create();
    await runtime.database.write.execute(
      sql`update webhooks set failures = 6, enabled = false, expires_at = now() - interval '1 day' where id = ${id}`,
    );
    expect((await call("GET", `/webhooks/${id}`)).body).toMatchObject({ failures: 6, enabled: false });
    const { body } = await call("PUT", `/webhooks/${id}`, {
      callback,
      events: ["user.login"],
      enabled: true,
    });
    expect(body).toMatchObject({ failures: 0, enabled: true });
    expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  });

  test.each([
    ["an unknown event", { callback, events: ["user.sneeze"] }],
    ["the event of tests", { callback, events: ["test"] }],
    ["a name of Object", { callback, events: ["constructor"] }],
    ["no events", { callback, events: [] }],
    ["no list of events", { callback, events: "user" }],
    ["no callback", { events: ["user"] }],
    ["failures", { callback, events: ["user"], failures: 0 }],
    ["an id", { callback, events: ["user"], id: randomUUID() }],
    ["an expiry", { callback, events: ["user"], expires_at: "2030-01-01T00:00:00.000Z" }],
    ["a tenant", { callback, events: ["user"], tenant_id: randomUUID() }],
    ["a secret", { callback, events: ["user"], secret: "whsec_" }],
    ["more events than there are", { callback, events: Array.from({ length: 101 }, () => "user") }],
    ["nothing", {}],
    ["no JSON", "{"],
  ])("A87 reject a body with %s", async (_, body) => {
    const { id } = await create();
    const before = (await call("GET", `/webhooks/${id}`)).body;
    expect((await call("POST", "/webhooks", body)).status).toBe(400);
    const change = typeof body === "string" ? body : { enabled: true, ...body };
    expect((await call("PUT", `/webhooks/${id}`, change)).status).toBe(400);
    expect((await call("GET", `/webhooks/${id}`)).body).toEqual(before);
  });

  test("A87 need `enabled` in a change", async () => {
    const { id } = await create();
    expect((await call("PUT", `/webhooks/${id}`, { callback, events: ["user"] })).status).toBe(400);
  });

  test.each([
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://169.254.169.254/latest",
    "https://10.0.0.1/",
    "https://[64:ff9b::7f00:1]/",
    "https://2130706433/",
    "https://localhost./",
    "http://app.example.com/",
    "https://anna:b@app.example.com/",
    "file:///etc/passwd",
    "gopher://app.example.com/",
    "not an address",
    "https://app.example.com:22/",
    "https://app.example.com:25/",
    "https://metadata.google.internal/",
  ])("A81 reject the callback %s", async (to) => {
    const { id } = await create();
    const body = { callback: to, events: ["user"] };
    const rejected = await call("POST", "/webhooks", body);
    expect([rejected.status, rejected.body.message]).toEqual([400, expect.stringContaining("callback")]);
    expect((await call("PUT", `/webhooks/${id}`, { ...body, enabled: true })).status).toBe(400);
  });

  test("A68 A87 of another tenant, and ids that nothing has, are not found", async () => {
    const tenant = await createTenant(runtime, { name: "Other", hosts: [], settings: {} });
    const other = await adminOperator(runtime, tenant);
    const { id } = await create();
    const test = await call("POST", `/webhooks/${id}/test`);
    const body = { callback, events: ["user"], enabled: true };
    const start_time = "2020-01-01T00:00:00Z";
    const calls = (webhook: string, delivery: string): [string, string, unknown?][] => [
      ["GET", `/webhooks/${webhook}`],
      ["PUT", `/webhooks/${webhook}`, body],
      ["DELETE", `/webhooks/${webhook}`],
      ["POST", `/webhooks/${webhook}/rotate_secret`, {}],
      ["POST", `/webhooks/${webhook}/test`],
      ["GET", `/webhooks/${webhook}/deliveries`],
      ["GET", `/webhooks/${webhook}/deliveries/${delivery}`],
      ["POST", `/webhooks/${webhook}/deliveries/${delivery}/replay`],
      ["POST", `/webhooks/${webhook}/replay`, { start_time }],
    ];
    const answers = async (webhook: string, delivery: string) => {
      const texts = [];
      for (const [method, path, given] of calls(webhook, delivery)) {
        const answer = await other.call(method, path, given);
        texts.push([answer.status, answer.text]);
      }
      return texts;
    };
    const foreign = await answers(id, test.body.id);
    expect(foreign.every(([status]) => status === 404)).toBe(true);
    expect(foreign).toEqual(await answers(randomUUID(), randomUUID()));
    expect((await other.call("GET", `/webhooks/${configWebhookId(hook)}/deliveries`)).status).toBe(404);
    const malformed = await call("GET", "/webhooks/1");
    expect(malformed.status).toBe(400);
    expect((await other.call("GET", "/webhooks")).body).toEqual({ database: [], config: [] });
    expect((await call("GET", `/webhooks/${id}`)).body).toMatchObject({ id, enabled: true });
    expect((await call("GET", `/webhooks/${id}/deliveries`)).body).toHaveLength(1);
  });
});

describe("deliveries", () => {
  let local: TestRuntime;
  let receiver: WebhookReceiver;
  let own: AdminOperator;

  beforeAll(async () => {
    local = await testRuntime({
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_AUDIT_LOG_CONSOLE_OUTPUT_ENABLED: "true",
    });
    own = await adminOperator(local);
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(204).end();
    await local.database.write.execute(sql`truncate webhooks, webhook_deliveries, webhook_attempts, events`);
  });
  afterAll(async () => {
    await receiver.close();
    await local.close();
  });

  const deliver = async () => {
    const client = createReceiverClient({ allowPrivate: true });
    const delivery = createWebhookDelivery({ ...local, client, log: pino({ level: "silent" }) });
    onTestFinished(() => delivery.stop(0));
    return delivery.runDue(100);
  };

  const createLocal = async (events = ["user.login"]): Promise<{ id: string; secret: string }> =>
    (await own.call("POST", "/webhooks", { callback: receiver.url, events })).body;

  test("that are given up too often disable the webhook once, and the audit log says so", async () => {
    receiver.answer = (response) => response.writeHead(500).end();
    const { id } = await createLocal();
    for (let count = 1; count <= 7; count += 1) {
      await commitWrites(local, emit(requestContext(local), "user.login", await insertUser(local)));
    }
    await local.database.write.execute(sql`update webhook_deliveries set attempts = 10`);
    expect(await deliver()).toBe(7);
    expect((await own.call("GET", `/webhooks/${id}`)).body).toMatchObject({ enabled: false });
    const { body } = await own.call("GET", "/audit_logs?type=webhook_disabled");
    expect(body).toMatchObject([
      {
        type: "webhook_disabled",
        meta_source_ip: "",
        meta_user_agent: "",
        details: { webhook: id, failures: expect.any(Number) },
      },
    ]);
    expect(body[0].details.failures).toBeGreaterThan(5);
    expect(local.audited.filter((line) => line.includes("webhook_disabled"))).toHaveLength(1);
  });

  test("are listed with every attempt, and repeated one by one under the same webhook-id", async () => {
    receiver.received.length = 0;
    receiver.answer = (response) => response.writeHead(500).end("not now");
    const { id } = await createLocal();
    const userId = await insertUser(local);
    const flowId = randomUUID();
    await commitWrites(local, emit({ ...requestContext(local), flowId }, "user.login", userId));
    await deliver();
    const path = `/webhooks/${id}/deliveries`;
    const { body, headers } = await own.call("GET", path);
    expect(headers.get("x-total-count")).toBe("1");
    const failed = {
      id: uuid,
      webhook_id: id,
      event_id: receiver.received[0]?.id,
      event: "user.login",
      subject_id: userId,
      flow_id: flowId,
      state: "waiting",
      attempts: [
        {
          number: 1,
          at: time,
          duration_ms: expect.any(Number),
          status: 500,
          error: "status",
          answer: "not now",
        },
      ],
      next_attempt_at: time,
      replay_of: null,
      created_at: time,
      finished_at: null,
    };
    expect(body).toEqual([failed]);
    const replay = `${path}/${body[0].id}/replay`;
    expect((await own.call("POST", replay)).status).toBe(409);
    await local.database.write.execute(
      sql`update webhook_deliveries set state = 'failed' where webhook = ${id}`,
    );

    receiver.answer = (response) => response.writeHead(204).end();
    const replayed = await own.call("POST", replay);
    expect(replayed).toMatchObject({
      status: 202,
      body: { replay_of: body[0].id, state: "waiting", attempts: [] },
    });
    expect((await own.call("POST", replay)).status).toBe(409);
    await deliver();
    expect(new Set(receiver.received.map((each) => each.id)).size).toBe(1);
    expect((await own.call("GET", `${path}/${replayed.body.id}`)).body).toMatchObject({
      state: "delivered",
      attempts: [{ status: 204, error: null, answer: null }],
      next_attempt_at: null,
      finished_at: time,
      data: expect.any(Object),
    });
    expect((await own.call("GET", `${path}?state=failed`)).body).toHaveLength(1);
    expect((await own.call("GET", `${path}?flow_id=${flowId}&per_page=1`)).body).toHaveLength(1);
    expect((await own.call("GET", `${path}?flow_id=${randomUUID()}`)).body).toEqual([]);
    for (const wrong of [
      "per_page=101",
      "page=0",
      "page=1e9",
      "state=lost",
      "start_time=yesterday",
      "flow_id=1",
    ])
      expect((await own.call("GET", `${path}?${wrong}`)).status).toBe(400);
  });

  test("are repeated by flow and by time, each event once and in its order", async () => {
    const { id } = await createLocal(["user"]);
    const userId = await insertUser(local);
    const flows = [randomUUID(), randomUUID()];
    for (const flowId of flows)
      for (const name of ["user.create", "user.login"] as const)
        await commitWrites(local, emit({ ...requestContext(local), flowId }, name, userId));
    receiver.answer = (response) => response.writeHead(204).end();
    while ((await deliver()) > 0);
    receiver.received.length = 0;
    const replay = (body: object) => own.call("POST", `/webhooks/${id}/replay`, body);
    expect(await replay({ flow_id: flows[1] })).toMatchObject({ status: 202, body: { deliveries: 2 } });
    expect(await replay({ flow_id: flows[1] })).toMatchObject({ body: { deliveries: 0 } });
    while ((await deliver()) > 0);
    expect(receiver.received.map(({ event }) => event)).toEqual(["user.create", "user.login"]);
    const start_time = new Date(Date.now() - 3_600_000).toISOString();
    expect((await replay({ start_time, state: "failed" })).body).toEqual({ deliveries: 0 });
    expect((await replay({ start_time, end_time: start_time })).body).toEqual({ deliveries: 0 });
    expect((await replay({ start_time })).body).toEqual({ deliveries: 4 });
    receiver.received.length = 0;
    while ((await deliver()) > 0);
    expect(receiver.received.map(({ event }) => event)).toEqual([
      "user.create",
      "user.login",
      "user.create",
      "user.login",
    ]);
    for (const wrong of [{}, { state: "failed" }, { start_time: "soon" }, { flow_id: flows[0], more: 1 }])
      expect((await replay(wrong)).status).toBe(400);
  });

  test("of a test carry an event that nothing else emits, and go to enabled webhooks only", async () => {
    receiver.received.length = 0;
    const { id, secret } = await createLocal();
    expect((await own.call("POST", `/webhooks/${id}/test`)).status).toBe(202);
    await deliver();
    const [delivery] = receiver.received;
    expect(new Webhook(secret).verify(delivery?.body ?? "", delivery?.headers ?? {})).toMatchObject({
      event: "test",
    });
    await own.call("PUT", `/webhooks/${id}`, { callback: receiver.url, events: ["user"], enabled: false });
    expect((await own.call("POST", `/webhooks/${id}/test`)).status).toBe(409);
  });

  test("are signed by both secrets during the overlap of a rotation, then by the new one", async () => {
    receiver.received.length = 0;
    const { id, secret } = await createLocal();
    const rotated = await own.call("POST", `/webhooks/${id}/rotate_secret`, { overlap_seconds: 60 });
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret).not.toBe(secret);
    await own.call("POST", `/webhooks/${id}/test`);
    await deliver();
    const [both] = receiver.received;
    for (const known of [secret, rotated.body.secret])
      expect(new Webhook(known).verify(both?.body ?? "", both?.headers ?? {})).toBeTruthy();
    const last = await own.call("POST", `/webhooks/${id}/rotate_secret`, { overlap_seconds: 0 });
    await own.call("POST", `/webhooks/${id}/test`);
    await deliver();
    const alone = receiver.received[1];
    expect(new Webhook(last.body.secret).verify(alone?.body ?? "", alone?.headers ?? {})).toBeTruthy();
    expect(() => new Webhook(rotated.body.secret).verify(alone?.body ?? "", alone?.headers ?? {})).toThrow();
    for (const overlap_seconds of [-1, 30 * 86_400 + 1, "60", null])
      expect((await own.call("POST", `/webhooks/${id}/rotate_secret`, { overlap_seconds })).status).toBe(400);
  });

  test("of a webhook of the configuration are found by its id", async () => {
    const path = `/webhooks/${configWebhookId(hook)}`;
    expect((await call("GET", `${path}/deliveries`)).status).toBe(200);
    expect((await call("POST", `${path}/test`)).body).toMatchObject({ event: "test", state: "waiting" });
    expect((await call("GET", `${path}/deliveries`)).body).toMatchObject([{ event: "test" }]);
    await runtime.database.write.execute(
      sql`delete from webhook_deliveries where webhook = ${configWebhookId(hook)}`,
    );
  });
});
