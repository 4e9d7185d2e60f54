import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { consoleAccount } from "../../testing/console-account.ts";
import { walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const password = "correct horse battery staple";
const runtime = await runtimeForTests({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
const { $client: sql } = runtime.database.write;
const operator = await adminOperator(runtime);

/** A registration, with a malformed input, a stale token and an action that is not offered on its way. */
async function registered() {
  const email = `${randomUUID()}@example.com`;
  const registration = await walk(runtime, "registration");
  await registration.act("register_client_capabilities");
  await registration.act("register_login_identifier", { email: "" });
  await registration.act("register_login_identifier", { email });
  await registration.act("register_password", { new_password: password }, { token: "stale" });
  await registration.act("skip");
  await registration.act("register_password", { new_password: password });
  await runtime.recorder.flush();
  return { ...registration, email };
}

const flow = await registered();
const replayed = (body: object = {}, flowId = flow.flowId) =>
  operator.call("POST", `/flows/${flowId}/replay`, body);

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0)) await one();
});

test("a recorded flow is exported, and does not differ when it is performed again", async () => {
  const { status, body } = await operator.call("GET", `/flows/${flow.flowId}/bundle`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ format: 1, type: "registration" });
  expect(body.steps.map(({ verdict }: { verdict: string }) => verdict)).toEqual([
    "started",
    "performed",
    "rejected_input",
    "performed",
    "refused",
    "refused",
    "performed",
  ]);
  const { body: told } = await replayed();
  expect(told).toMatchObject({ first_difference: null, differences: [], settings: [] });
  const [, , malformed, , stale, unoffered, last] = told.steps;
  expect(malformed.now).toEqual(malformed.recorded);
  // The token was not the newest: nothing was judged.
  expect(stale.now).toBeNull();
  expect(unoffered.now).toMatchObject({ verdict: "refused", state: null });
  expect(last.now).toMatchObject({ verdict: "performed", state: "success" });
  expect((await replayed({ settings: "current" })).body).toMatchObject({ first_difference: null });
});

test("a change of the settings shows the first difference, and what decides", async () => {
  const { body } = await replayed({
    config: { password: { min_length: 20 }, email: { require_verification: true } },
  });
  expect(body.first_difference).toMatchObject({
    step: 4,
    kind: "state",
    now: "passcode_confirmation",
    settings: expect.arrayContaining([{ name: "email.require_verification", before: "false", now: "true" }]),
  });
  expect(body.settings.map(({ name }: { name: string }) => name)).toEqual([
    "email.require_verification",
    "password.min_length",
  ]);
  const invalid = await replayed({ config: { password: { min_length: -1 } } });
  expect(invalid).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("password.min_length") },
  });
});

test("a replay changes nothing", async () => {
  await Promise.all([runtime.recorder.flush(), runtime.counters.flush()]);
  const rows = async () => {
    const tables = ["users", "flows", "sessions", "recorded_steps", "recorded_settings", "audit_logs"];
    const counts = tables.map((table) =>
      sql.query(
        `select count(*)::int as n, md5(string_agg(t::text, '' order by t::text)) as digest from ${table} t`,
      ),
    );
    return (await Promise.all(counts)).map(({ rows: [row] }) => row);
  };
  const before = await rows();
  await replayed({ config: { mfa: { optional: false } } });
  expect(await rows()).toEqual(before);
});

test("a flow is exported with the settings that it was recorded with", async () => {
  const tenant = await createTenant(runtime, {
    name: "Acme",
    hosts: [],
    settings: { password: { min_length: 10 } },
  });
  const own = await adminOperator(runtime, tenant);
  const found = await runtime.tenants.byId(tenant.id);
  if (!found) throw new Error("the tenant is missing");
  const of = await walk({ ...runtime, tenant: found }, "login");
  await of.act("register_client_capabilities");
  await runtime.recorder.flush();
  await own.call("PATCH", "/tenant", { config: { password: { min_length: 14 } } });
  const { body } = await own.call("GET", `/flows/${of.flowId}/bundle`);
  expect(body.settings).toHaveLength(1);
  expect(body.settings[0].password.min_length).toBe(10);
});

test("a flow that a former release recorded in part is not exported, and says so", async () => {
  const { flowId } = await registered();
  await sql.query("update recorded_steps set decided_by = null where flow_id = $1 and action is not null", [
    flowId,
  ]);
  const fault = /^Step 2 was recorded by a former release, .* cannot be replayed\.$/;
  for (const answer of [await operator.call("GET", `/flows/${flowId}/bundle`), await replayed({}, flowId)])
    expect(answer).toMatchObject({ status: 409, body: { code: 409, message: expect.stringMatching(fault) } });
});

test("a flow whose steps were dropped is not exported, and says so", async () => {
  const { flowId } = await registered();
  await sql.query(
    "delete from recorded_steps where flow_id = $1 and action = 'register_login_identifier' and verdict = 'performed'",
    [flowId],
  );
  expect(await operator.call("GET", `/flows/${flowId}/bundle`)).toMatchObject({
    status: 409,
    body: { message: "Steps between 4 and 5 were not recorded, so the flow cannot be replayed." },
  });
  const { flowId: second } = await registered();
  await sql.query("delete from recorded_steps where flow_id = $1 and verdict = 'started'", [second]);
  expect((await operator.call("GET", `/flows/${second}/bundle`)).body.message).toMatch(/^The first step/);
  const { flowId: third } = await registered();
  await sql.query("update recorded_steps set decided_by = '\\x01'::bytea where flow_id = $1", [third]);
  expect(await operator.call("GET", `/flows/${third}/bundle`)).toMatchObject({ status: 409 });
});

test("A342 a flow of another tenant is neither exported nor performed again", async () => {
  const neighbour = await adminOperator(
    runtime,
    await createTenant(runtime, { name: "Next", hosts: [], settings: {} }),
  );
  expect((await neighbour.call("GET", `/flows/${flow.flowId}/bundle`)).status).toBe(404);
  expect((await neighbour.call("POST", `/flows/${flow.flowId}/replay`, {})).status).toBe(404);
  const auditor = await consoleAccount(runtime, "auditor", {
    tenant: (await runtime.tenants.byId(neighbour.tenant.id)) as never,
  });
  expect((await auditor.call("exportFlow", { tenant: runtime.tenant.id, id: flow.flowId })).reason).toBe(
    "not_found",
  );
});

test("A342 unknown flows and malformed bodies have clear errors", async () => {
  expect((await operator.call("GET", `/flows/${randomUUID()}/bundle`)).status).toBe(404);
  expect((await replayed({}, randomUUID())).status).toBe(404);
  for (const body of [{ settings: "former" }, { config: 5 }, { config: { no_such: 1 } }, { settings: null }])
    expect((await replayed(body)).status).toBe(400);
});
