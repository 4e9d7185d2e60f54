import { expect, test } from "vitest";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { type RestWalk, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { visitor } from "../../testing/visitor.ts";

const runtime = await runtimeForTests();

const flowIdOf = (flow: RestWalk) =>
  /%40([0-9a-f-]+)$/.exec(Object.values(flow.state.actions)[0]?.href ?? "")?.[1];

/** Changes what is stored of a flow. */
const store = (flow: RestWalk, assignment: string) =>
  runtime.database.write.$client.query(`update flows set ${assignment} where id = $1`, [flowIdOf(flow)]);

const malformations = [
  "data = '[]'",
  `data = jsonb_set(data, '{factors}', '"none"')`,
  "history = '{}'",
  "payload = '1'",
  "state = 'no_such_state'",
  "state = 'passcode_confirmation'",
  `data = '{"passcode": {"purpose": "login"}}', state = 'passcode_confirmation'`,
];

test.each(malformations)("A164 a flow with %s has expired, and a new one begins", async (assignment) => {
  const flow = await restWalk(runtime, "login");
  await store(flow, assignment);
  const state = await flow.act("register_client_capabilities");
  expect([flow.response.status, state.error?.code]).toEqual([410, "flow_expired_error"]);
  await restRegistration(runtime, `${crypto.randomUUID()}@example.com`);
});

test.each(malformations)("A164 a page whose flow has %s begins a new one", async (assignment) => {
  const page = visitor(runtime);
  const call = async (procedure: string) => {
    const response = await page.mutate(procedure, { type: "login" });
    const { result } = (await response.json()) as { result: { data: { state: RestWalk["state"] } } };
    return result.data.state;
  };
  const started = await call("flow.start");
  await store({ state: started } as RestWalk, assignment);
  expect(await call("flow.current")).toMatchObject({ name: "error", error: { code: "flow_expired_error" } });
  expect((await call("flow.start")).name).toBe("preflight");
});

test("A164 a flow of a later version is left as it is, and the client is asked to come back", async () => {
  const flow = await restWalk(runtime, "login");
  const later = `data || '{"format": 99, "readableFrom": 99}'`;
  await store(flow, `data = ${later}`);
  const { csrf_token, actions } = flow.state;
  const state = await flow.act("register_client_capabilities");
  expect([flow.response.status, flow.response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(state).toMatchObject({ name: "error", error: { code: "technical_error" } });
  const { rows } = await runtime.database.read.$client.query(
    "select data, claimed_until from flows where id = $1",
    [/%40([0-9a-f-]+)$/.exec(actions.register_client_capabilities?.href ?? "")?.[1]],
  );
  expect(rows).toEqual([
    { data: expect.objectContaining({ format: 99, readableFrom: 99 }), claimed_until: null },
  ]);

  // At a server that reads it, the token still holds.
  await runtime.database.write.$client.query(
    `update flows set data = data || '{"format": 2, "readableFrom": 1}'`,
  );
  const again = await flow.visitor.post(actions.register_client_capabilities?.href ?? "", {
    csrf_token,
    input_data: {},
  });
  expect(((await again.json()) as RestWalk["state"]).name).toBe("login_init");
});
