import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { thisRelease } from "../../database/releases.ts";
import { HOUR_MS } from "../../funnel/measures.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { chooseMethod, mailedCode, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";

/** A runtime whose counts no other test changes, at the start of an hour. */
async function runtimeOfTest(settings: Record<string, string> = {}): Promise<TestRuntime> {
  const made = await testRuntime(settings);
  onTestFinished(() => made.close());
  made.advanceClock((HOUR_MS - (Date.now() % HOUR_MS)) / 1000);
  return made;
}

async function overviewOf(runtime: TestRuntime, query = "") {
  const operator = await adminOperator(runtime);
  await runtime.counters.flush();
  const { status, body } = await operator.call("GET", `/overview${query}`);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}

/** Signs in by a password, after some wrong ones. */
async function signIn(runtime: TestRuntime, email: string, { wrong = 0 } = {}) {
  const walk = await restWalk(runtime, "login");
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email });
  await chooseMethod(walk, "continue_to_password_login");
  for (let each = 0; each < wrong; each += 1) await walk.act("password_login", { password: "wrong" });
  runtime.advanceClock(30);
  await walk.act("password_login", { password });
  expect(walk.state.name).toBe("success");
}

test("counts sign-ins, sign-ups and failures by hour, method and cause, and compares them with the time before", async () => {
  const runtime = await runtimeOfTest();
  const email = `${randomUUID()}@example.com`;
  await restRegistration(runtime, email);
  await signIn(runtime, email, { wrong: 1 });
  runtime.advanceClock(86_400);
  for (let each = 0; each < 2; each += 1) await signIn(runtime, email);
  const byCode = await restWalk(runtime, "login");
  await byCode.act("register_client_capabilities");
  await byCode.act("continue_with_login_identifier", { email });
  await chooseMethod(byCode, "continue_to_passcode_confirmation");
  await byCode.act("verify_passcode", {
    code: mailedCode(runtime, email) === "000000" ? "111111" : "000000",
  });
  await byCode.act("verify_passcode", { code: mailedCode(runtime, email) });
  const unknown = await restWalk(runtime, "login");
  await unknown.act("register_client_capabilities");
  await unknown.act("continue_with_login_identifier", { email: `${randomUUID()}@example.com` });
  await chooseMethod(unknown, "continue_to_password_login");
  await unknown.act("password_login", { password });

  const { step, current, previous, active_sessions } = await overviewOf(runtime);
  expect(step).toBe("hour");
  expect(current).toMatchObject({
    sign_ins: 3,
    sign_ups: 0,
    failures: 2,
    failures_by_cause: { unknown_identifier: 1, wrong: 1 },
  });
  expect(current.steps).toEqual([
    {
      at: expect.any(String),
      sign_ins: 3,
      sign_ups: 0,
      failures: 2,
      methods: {
        password: { sign_ins: 2, sign_ups: 0, failures: 1 },
        passcode: { sign_ins: 1, sign_ups: 0, failures: 1 },
      },
    },
  ]);
  // Two of the three took half a minute.
  expect(current.time_to_sign_in.p95_ms).toBeGreaterThan(30_000 / 1.6);
  expect(current.time_to_sign_in.p95_ms).toBeLessThan(30_000 * 1.6);
  expect(current.from).toBe(previous.to);
  expect(previous).toMatchObject({
    sign_ins: 1,
    sign_ups: 1,
    failures: 1,
    failures_by_cause: { wrong: 1 },
  });
  expect(previous.steps[0].methods).toMatchObject({
    password: { sign_ins: 1, sign_ups: 1, failures: 1 },
    passcode: { sign_ups: 1 },
  });
  // Those of the day before have expired.
  expect(active_sessions).toEqual({ count: 3, more: false });

  const days = await overviewOf(runtime, "?step=day");
  expect(days.current).toMatchObject({ sign_ins: 4, sign_ups: 1, failures: 3 });
  expect(days.current.steps).toHaveLength(2);
});

test("counts the limits that were exceeded", async () => {
  const runtime = await runtimeOfTest({
    STILE_RATE_LIMITER_ENABLED: "true",
    STILE_RATE_LIMITER_STARTS_PER_MINUTE: "2",
    STILE_RATE_LIMITER_STEPS_PER_SOURCE: "10",
  });
  const one = visitor(runtime);
  for (let each = 0; each < 4; each += 1) await one.post("/login", {});
  const { current } = await overviewOf(runtime);
  expect(current.limits).toEqual({ flow_start: 2 });
});

test("counts messages and deliveries, and those that wait", async () => {
  const runtime = await runtimeOfTest();
  const at = Date.now() + runtime.platform.clockShift();
  const { counters, tenant, database } = runtime;
  for (const target of ["sent", "sent", "failed"])
    counters.count(tenant.id, { measure: "message", name: "mail", target, at });
  for (const name of ["delivered", "retried", "failed"])
    counters.count(tenant.id, { measure: "delivery", name, at, durationMs: 10 });
  await database.write.execute(sql`
    insert into mail_outages (tenant_id, since, last_failed_at, failure)
    values (${tenant.id}, '2026-01-01T00:00:00Z', now(), 'ECONNREFUSED')`);
  await database.write.execute(sql`
    insert into webhook_deliveries (tenant_id, id, webhook, event_id, sequence, state, attempts)
    select ${tenant.id}, gen_random_uuid(), 'x', gen_random_uuid(), i, case when i < 3 then 'waiting' else 'delivered' end, i - 1
    from generate_series(1, 3) as i`);
  const { current, previous, messages, deliveries, version } = await overviewOf(runtime);
  expect(current.messages).toEqual({ mail: { sent: 2, failed: 1 }, sms: { sent: 0, failed: 0 } });
  expect(current.deliveries).toEqual({ delivered: 1, retried: 1, failed: 1 });
  expect(previous.messages.mail).toEqual({ sent: 0, failed: 0 });
  expect(messages.mail).toEqual({
    waiting: { count: 0, more: false },
    failing_since: "2026-01-01T00:00:00.000Z",
    set_up: true,
  });
  expect(messages.sms.failing_since).toBeNull();
  expect(messages.sms.set_up).toBe(false);
  expect(deliveries).toEqual({ waiting: { count: 2, more: false }, failing: 1 });
  expect(version).toEqual({ service: thisRelease().version, schema: expect.any(Number) });
  expect(version.schema).toBeGreaterThan(40);
});

const shared = await adminOperator(await runtimeForTests());

test.each([
  "step=second",
  "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
  "from=2026-01-01T00:00:00Z&to=2026-01-31T00:00:00Z",
  "step=day&from=2025-01-01T00:00:00Z&to=2026-01-31T00:00:00Z",
  "from=1900-01-01T00:00:00Z&to=1900-01-02T00:00:00Z",
  "type=login",
])("A311 rejects the query %s with 400", async (query) => {
  expect((await shared.call("GET", `/overview?${query}`)).status).toBe(400);
});
