import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { step } from "../flow/engine.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { adminOperator } from "../testing/admin-operator.ts";
import { walk } from "../testing/flow-walk.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { type TestRuntime, testClient } from "../testing/runtime.ts";
import { createRecorder } from "./recorder.ts";
import { supportNumber } from "./support-number.ts";

const password = "correct horse battery staple";
const settings = { STILE_EMAIL_REQUIRE_VERIFICATION: "false" };
const runtime = await runtimeForTests(settings);
const { $client: sql } = runtime.database.write;

/** A registration that meets a malformed input and a stale token on its way. */
async function registered(of: TestRuntime = runtime) {
  const email = `${randomUUID()}@example.com`;
  const registration = await walk(of, "registration");
  await registration.act("register_client_capabilities");
  await registration.act("register_login_identifier", { email: "" });
  await registration.act("register_login_identifier", { email });
  await registration.act("register_password", { new_password: password }, { token: "stale" });
  await registration.act("register_password", { new_password: password });
  await of.recorder.flush();
  return { ...registration, email };
}

describe("a recorded flow", () => {
  const made = { operator: {} as Awaited<ReturnType<typeof adminOperator>>, flowId: "" };

  beforeAll(async () => {
    made.operator = await adminOperator(runtime);
    made.flowId = (await registered()).flowId;
  });

  test("has each step with its verdict, its times and its client", async () => {
    const { status, body } = await made.operator.call("GET", `/flows/${made.flowId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: made.flowId,
      support_number: supportNumber(made.flowId),
      type: "registration",
      state: "success",
      outcome: "completed",
      steps: 6,
      user_id: expect.any(String),
    });
    const path = body.path.map((one: Record<string, unknown>) => [
      one.action,
      one.verdict,
      one.state,
      one.error,
    ]);
    expect(path).toEqual([
      [null, "started", "preflight", null],
      ["register_client_capabilities", "performed", "registration_init", null],
      ["register_login_identifier", "rejected_input", "registration_init", "value_missing_error"],
      ["register_login_identifier", "performed", expect.any(String), null],
      ["register_password", "refused", null, "operation_not_permitted_error"],
      ["register_password", "performed", "success", null],
    ]);
    expect(body.path[5]).toMatchObject({
      from: body.path[3].state,
      source: "192.0.2.0",
      request_id: "test",
      client: { platform: null, browser: null, embedding: "client", capabilities: [] },
      inputs: [{ name: "new_password", kind: "string", length: password.length }],
      milliseconds: { hash: expect.any(Number), provider: 0 },
    });
    expect(body.path[5].milliseconds.hash).toBeGreaterThan(0);
    expect(body.path[5].statements).toBeGreaterThan(0);
  });

  test("says why the rest was not offered, and which states were passed over", async () => {
    const { body } = await made.operator.call("GET", `/flows/${made.flowId}`);
    expect(body.path[1].not_offered.actions).toContainEqual({
      name: "thirdparty_oauth",
      reasons: [{ name: "!circumstance:providers", sentence: "No identity provider is enabled." }],
    });
    expect(body.path[5].not_offered.states).toContainEqual({
      name: "mfa_method_chooser",
      reasons: expect.arrayContaining([
        expect.objectContaining({ sentence: expect.stringMatching(/^.+\.$/) }),
      ]),
    });
  });

  test("says why an action failed where its user is not told", async () => {
    const { email } = await registered();
    const login = await walk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email });
    if (login.state.actions.continue_to_password_login) await login.act("continue_to_password_login");
    await login.act("password_login", { password: "another password" });
    await runtime.recorder.flush();
    const { body } = await made.operator.call("GET", `/flows/${login.flowId}`);
    expect(body.path.at(-1)).toMatchObject({
      error: "value_invalid_error",
      reason: { name: "wrong", sentence: "The password or code is wrong." },
    });
    expect(body.path.slice(0, -1).map(({ reason }: { reason: unknown }) => reason)).not.toContainEqual(
      expect.anything(),
    );
    // A former release has recorded none, a later one may record one of its own.
    await sql.query("update recorded_steps set reason = 'moon_phase' where flow_id = $1", [login.flowId]);
    const later = await made.operator.call("GET", `/flows/${login.flowId}`);
    expect(later.body.path.at(-1).reason).toEqual({ name: "moon_phase", sentence: "moon_phase" });
  });

  test("is found by its support number, its account, its state, its outcome, its type, its time and a request", async () => {
    const { body: shown } = await made.operator.call("GET", `/flows/${made.flowId}`);
    const number = shown.support_number;
    const inGroups = `${number.slice(0, 4)}%20${number.slice(4)}`.toLowerCase();
    for (const query of [
      `support_number=${number}`,
      `support_number=${inGroups}`,
      `user_id=${shown.user_id}`,
      `user_id=${shown.user_id}&state=success&outcome=completed&type=registration&request_id=test`,
      `user_id=${shown.user_id}&since=${shown.started_at}`,
    ]) {
      const { body } = await made.operator.call("GET", `/flows?${query}`);
      expect([query, body.map(({ id }: { id: string }) => id)]).toEqual([query, [made.flowId]]);
    }
    for (const query of [
      `until=${shown.started_at}`,
      "outcome=rejected",
      "type=consent",
      "request_id=other",
    ]) {
      const { body } = await made.operator.call("GET", `/flows?user_id=${shown.user_id}&${query}`);
      expect([query, body]).toEqual([query, []]);
    }
  });

  test("says whether its account exists: an unfinished registration has made none, and it may be deleted", async () => {
    const unfinished = await walk(runtime, "registration");
    await unfinished.act("register_client_capabilities");
    await unfinished.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
    const finished = await registered();
    const existing = async () => {
      await runtime.recorder.flush();
      const shown = await Promise.all(
        [unfinished, finished].map(({ flowId }) => made.operator.call("GET", `/flows/${flowId}`)),
      );
      const { body: listed } = await made.operator.call("GET", "/flows?per_page=2");
      return [shown.map(({ body }) => [body.user_id !== null, body.user_exists]), listed[0].user_exists];
    };
    expect(await existing()).toEqual([
      [
        [true, false],
        [true, true],
      ],
      true,
    ]);
    const { body } = await made.operator.call("GET", `/flows/${finished.flowId}`);
    await made.operator.call("DELETE", `/users/${body.user_id}`);
    // An account of another tenant that has the same id is another account.
    const { body: tenant } = await made.operator.call("POST", "/tenants", { name: "Other" });
    await runtime.database.write.insert(schema.users).values({ tenantId: tenant.id, id: body.user_id });
    expect((await existing())[0]).toEqual([
      [true, false],
      [true, false],
    ]);
  });

  test("is listed in pages", async () => {
    await registered();
    const { body, headers } = await made.operator.call("GET", "/flows?per_page=1&page=2");
    expect(body).toHaveLength(1);
    expect(Number(headers.get("x-total-count"))).toBeGreaterThan(1);
  });

  test("leads to the entries of the audit log by its requests, and they lead to it", async () => {
    const { flowId } = await registered();
    const { body: shown } = await made.operator.call("GET", `/flows/${flowId}`);
    const { body: entries } = await made.operator.call("GET", `/audit_logs?actor_user_id=${shown.user_id}`);
    const ofRequest = entries.map((entry: Record<string, unknown>) => entry.meta_http_request_id);
    expect(ofRequest).toContain(shown.path.at(-1).request_id);
    const { body: found } = await made.operator.call(
      "GET",
      `/flows?request_id=${ofRequest[0]}&user_id=${shown.user_id}`,
    );
    expect(found.map(({ id }: { id: string }) => id)).toEqual([flowId]);
  });

  test("A300 is unknown to the operator of another tenant", async () => {
    const tenant = await createTenant(runtime, { name: "Neighbour", hosts: [], settings: {} });
    const neighbour = await adminOperator(runtime, tenant);
    expect((await neighbour.call("GET", `/flows/${made.flowId}`)).status).toBe(404);
    for (const query of [`support_number=${supportNumber(made.flowId)}`, "request_id=test", ""])
      expect((await neighbour.call("GET", `/flows?${query}`)).body).toEqual([]);
  });

  test("A305 is not asked for by malformed filters", async () => {
    for (const query of [
      "support_number=AEIOUAEI",
      "support_number=%00",
      `support_number=${"B".repeat(4000)}`,
      "user_id=1",
      "state=%3Cscript%3E",
      "outcome=x",
      "type=x",
      `request_id=${"x".repeat(65)}`,
      "since=yesterday",
      "page=0",
    ]) {
      const { status } = await made.operator.call("GET", `/flows?${query}`);
      expect([query, status]).toEqual([query, 400]);
    }
    expect((await made.operator.call("GET", "/flows?request_id=%00")).status).toBeLessThan(500);
    expect((await made.operator.call("GET", "/flows/'--")).status).toBe(400);
  });

  test("A308 is shown although what is stored of a step is damaged or of a later version", async () => {
    const { flowId } = await registered();
    await sql.query(
      `update recorded_steps set not_offered = '\\x00', inputs = '{"x": 1}', verdict = 'dreamt', state = 'no_such_state'
      where flow_id = $1`,
      [flowId],
    );
    const { status, body } = await made.operator.call("GET", `/flows/${flowId}`);
    expect(status).toBe(200);
    expect(body.path[0]).toMatchObject({
      verdict: "dreamt",
      inputs: [],
      not_offered: { actions: [], states: [] },
    });
  });

  test("of 200 steps is shown in the order of time", async () => {
    const login = await walk(runtime, "login");
    await login.act("register_client_capabilities");
    for (let index = 0; index < 200; index += 1)
      await login.act("continue_with_login_identifier", { email: "x".repeat(index % 7) });
    await runtime.recorder.flush();
    const { body } = await made.operator.call("GET", `/flows/${login.flowId}`);
    expect(body.path).toHaveLength(202);
    const lengths = body.path
      .slice(2)
      .map((one: { inputs: { length: number }[] }) => one.inputs[0]?.length ?? 0);
    expect(lengths).toEqual(Array.from({ length: 200 }, (_, index) => index % 7));
    const times = body.path.map(({ at }: { at: string }) => at);
    expect(times).toEqual([...times].sort());
  });
});

describe("the recorder", () => {
  const stepsOf = async (flowId: string) =>
    (await sql.query("select * from recorded_steps where flow_id = $1", [flowId])).rows;

  test("records nothing where it is off", async () => {
    const off = runtime.configured({ STILE_RECORDER_ENABLED: "false" });
    const { flowId } = await registered(off);
    expect(await stepsOf(flowId)).toEqual([]);
  });

  test("keeps a flow and its steps for `recorder.retention`", async () => {
    const brief = runtime.configured({ STILE_RECORDER_RETENTION: "1h" });
    const { flowId } = await registered(brief);
    const seconds = await sql.query(
      "select round(extract(epoch from expires_at - at)) as seconds from recorded_steps where flow_id = $1",
      [flowId],
    );
    expect(new Set(seconds.rows.map((row) => Number(row.seconds)))).toEqual(new Set([3600]));
    await sql.query("update recorded_steps set expires_at = now() - interval '1 second' where flow_id = $1", [
      flowId,
    ]);
    await sql.query("update recorded_flows set expires_at = now() - interval '1 second' where id = $1", [
      flowId,
    ]);
    await runtime.purgeExpired();
    expect(await stepsOf(flowId)).toEqual([]);
    expect((await sql.query("select from recorded_flows where id = $1", [flowId])).rowCount).toBe(0);
  });

  test.each(["59m", "91d"])("refuses a retention of %s", (retention) => {
    expect(() => runtime.configured({ STILE_RECORDER_RETENTION: retention })).toThrow(
      /between 3600 and 7776000/,
    );
  });

  test("A302 records few refused steps of a flow, and none of flows that do not exist", async () => {
    const login = await walk(runtime, "login");
    const refused = {
      type: "login",
      action: "register_client_capabilities",
      token: "stale",
      input: {},
    } as const;
    const flowId = randomUUID();
    for (let index = 0; index < 50; index += 1) {
      await step(runtime, runtime.tenant, testClient, { ...refused, flowId: login.flowId });
      await step(runtime, runtime.tenant, testClient, { ...refused, flowId });
    }
    await runtime.recorder.flush();
    expect(await stepsOf(login.flowId)).toHaveLength(21);
    expect(await stepsOf(flowId)).toEqual([]);
  });

  test("A306 A309 stores no name that a client has made up, and no text of its User-Agent", async () => {
    const secret = `made-up-${randomUUID()}`;
    const client = { ...testClient, userAgent: `${secret} <script>`, origin: secret };
    const login = await walk(runtime, "login", { client });
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email: secret, [secret]: secret });
    await login.act(secret);
    await runtime.recorder.flush();
    const rows = await stepsOf(login.flowId);
    expect(rows).toHaveLength(4);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test("A304 drops steps and counts them while the table is locked, and logins go on", async () => {
    const lines: unknown[] = [];
    const log = { warn: (...line: unknown[]) => lines.push(line), error() {} } as never;
    const recorder = createRecorder({ ...runtime, log });
    const locked = { ...runtime, recorder, stepObservers: [recorder.observe] };
    const holder = new pg.Client({ connectionString: sql.options.connectionString });
    await holder.connect();
    await holder.query("begin; lock table recorded_steps in access exclusive mode");
    try {
      for (let round = 0; round < 3; round += 1) {
        const login = await walk(locked, "login");
        expect((await login.act("register_client_capabilities")).name).toBe("login_init");
        await recorder.flush();
      }
    } finally {
      await holder.query("rollback");
      await holder.end();
    }
    expect(recorder.dropped).toBe(6);
    expect(lines).toHaveLength(1);
    const login = await walk(locked, "login");
    await recorder.flush();
    expect(await stepsOf(login.flowId)).toHaveLength(1);
  });

  test("A303 does not let a tenant take the queue of the others", async () => {
    const lines: unknown[] = [];
    const log = { warn: (...line: unknown[]) => lines.push(line), error() {} } as never;
    const recorder = createRecorder({ ...runtime, log });
    const told: Parameters<typeof recorder.observe>[] = [];
    runtime.stepObservers.push((...observed) => void told.push(observed));
    const login = await walk(runtime, "login");
    runtime.stepObservers.pop();
    const [[observed, tenant] = []] = told;
    if (!observed || !tenant) throw new Error("no step was observed");
    for (let index = 0; index < 5_000; index += 1)
      recorder.observe({ ...observed, flowId: randomUUID() }, tenant);
    expect(recorder.dropped).toBe(3_000);
    expect(lines).toHaveLength(1);
    const other = { ...tenant, id: randomUUID() };
    recorder.observe({ ...observed, tenantId: other.id }, other);
    expect(recorder.dropped).toBe(3_000);
    await recorder.flush();
    const { rows } = await sql.query("select tenant_id from recorded_flows where id = $1", [login.flowId]);
    expect(rows.map(({ tenant_id }) => tenant_id)).toContain(other.id);
    await sql.query("delete from recorded_steps where expires_at > now() and flow_id <> $1", [login.flowId]);
  });

  test("writes what waits before it stops, and takes no more", async () => {
    const recorder = createRecorder(runtime);
    const stopping = { ...runtime, recorder, stepObservers: [recorder.observe] };
    const login = await walk(stopping, "login");
    expect(recorder.isWaiting()).toBe(true);
    await recorder.stop();
    await login.act("register_client_capabilities");
    expect(recorder.isWaiting()).toBe(false);
    expect(await stepsOf(login.flowId)).toHaveLength(1);
  });

  test("takes at most a kilobyte on disk for a step", async () => {
    await sql.query("truncate recorded_steps, recorded_flows");
    for (let index = 0; index < 60; index += 1) {
      await registered();
      const { email } = await registered();
      const login = await walk(runtime, "login");
      await login.act("register_client_capabilities", { webauthn_available: true });
      await login.act("continue_with_login_identifier", { email });
      await login.act("continue_to_password_login");
      await login.act("password_login", { password: "wrong wrong wrong" });
      await login.act("password_login", { password });
    }
    await runtime.recorder.flush();
    const { rows } = await sql.query(`select (select count(*)::int from recorded_steps) as steps,
      pg_total_relation_size('recorded_steps') + pg_total_relation_size('recorded_flows') as bytes,
      (select max(pg_column_size(s)) from recorded_steps s) as longest`);
    const [{ steps, bytes, longest }] = rows;
    expect(Number(bytes) / steps).toBeLessThan(1_000);
    expect(longest).toBeLessThan(1_000);
  });
});
