import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type AccessFields, loggedFields } from "../../observability/access-fields.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { handle } from "../dispatch.ts";

/** What the line of a request in the access log tells of a flow. */

const runtime = await runtimeForTests();

/** Sends a request; returns the answer and the fields of its line. */
async function post(path: string, body?: object) {
  const accessFields: AccessFields = {};
  const request = new Request(new URL(path, "http://localhost:3000"), {
    method: "POST",
    ...(body ? { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : {}),
  });
  const response = await handle(request, { peer: "192.0.2.1", requestId: "test", accessFields }, runtime);
  return { state: await response?.json(), fields: loggedFields(accessFields) };
}

const tenant = () => runtime.tenant.id;

/** Walks to the password of an identifier. */
async function toPassword(email: string) {
  let { state, fields } = await post("/login");
  const begun = fields;
  for (const [action, input_data] of [
    ["register_client_capabilities", { webauthn_available: false }],
    ["continue_with_login_identifier", { email }],
    ["continue_to_password_login", {}],
  ] as const)
    ({ state, fields } = await post(state.actions[action].href, {
      csrf_token: state.csrf_token,
      input_data,
    }));
  return { state, fields, begun };
}

test("names tenant, flow, action, state and error of each step", async () => {
  const { state, fields, begun } = await toPassword(newAddress());
  const flow = begun.flow ?? "";
  expect(flow).toMatch(/^[0-9a-f-]{36}$/);
  expect(begun).toEqual({ tenant: tenant(), flow, flow_type: "login", state: "preflight" });
  const named = { tenant: tenant(), flow, flow_type: "login", state: "login_password" };
  expect(fields).toEqual({ ...named, action: "continue_to_password_login" });
  const { csrf_token, actions } = state;
  const wrong = await post(actions.password_login.href, { csrf_token, input_data: { password: "no" } });
  expect(wrong.fields).toEqual({ ...named, action: "password_login", error: "value_invalid_error" });
});

test("names a flow that the request may not step, and its error", async () => {
  const flow = randomUUID();
  const { fields } = await post(`/login?action=back%40${flow}`, { csrf_token: "x".repeat(32) });
  const error = "operation_not_permitted_error";
  expect(fields).toEqual({
    tenant: tenant(),
    flow,
    flow_type: "login",
    action: "back",
    state: "error",
    error,
  });
});

test("A160 tells of an unknown account what it tells of a known one, and nothing that was entered", async () => {
  const email = newAddress();
  const { state } = await toPassword(email);
  const { csrf_token, actions } = state;
  const { fields } = await post(actions.password_login.href, {
    csrf_token,
    input_data: { password: "sesame" },
  });
  expect(Object.keys(fields).sort()).toEqual(["action", "error", "flow", "flow_type", "state", "tenant"]);
  expect(JSON.stringify(fields)).not.toMatch(/@|sesame/);
});

test("names the tenant of any other request", async () => {
  const { fields } = await post("/logout");
  expect(fields).toEqual({ tenant: tenant() });
});
