import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import type { FlowState } from "../../flow/wire.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

const runtime = await runtimeForTests({ STILE_MFA_ENABLED: "false" });
const { database, tenant } = runtime;
const { base_url: origin } = runtime.config;
const capabilities = { webauthn_available: true };
const authenticator = softwareAuthenticator();
const email = `${randomUUID()}@example.com`;
await signUp();

/** Registers an account with a passkey of the authenticator. */
async function signUp(): Promise<void> {
  const as = visitor(runtime);
  const input = { capabilities, action: "register_login_identifier", input: { email } };
  let state = (await (await as.post("/registration", input)).json()) as FlowState;
  const act = async (action: string, input: object = {}) => {
    const body = { csrf_token: state.csrf_token, input_data: input };
    state = (await (await as.post(state.actions[action]?.href ?? "", body)).json()) as FlowState;
  };
  await act("verify_passcode", { code: mailedCode(runtime, email) });
  await act("register_password", { new_password: password });
  await act("webauthn_generate_creation_options");
  const public_key = authenticator.create(state.payload.creation_options, { origin });
  await act("webauthn_verify_attestation_response", { public_key });
  expect(state.name).toBe("success");
}

const ask = (as: Visitor, headers: Record<string, string> = {}) =>
  as.request("/login/request_options", { headers });

/** The response of a passkey to options that this browser has asked for. */
async function assertionFor(as: Visitor): Promise<object> {
  const { request_options } = (await (await ask(as)).json()) as { request_options: unknown };
  return authenticator.get(request_options, { origin });
}

/** Begins a login with the response of a passkey. */
async function signIn(as: Visitor, assertion_response: object): Promise<FlowState> {
  const action = "webauthn_verify_assertion_response";
  const answer = await as.post("/login", { capabilities, action, input: { assertion_response } });
  return (await answer.json()) as FlowState;
}

/** A browser that an account has signed in with before. */
async function knownBrowser(): Promise<Visitor> {
  const as = visitor(runtime);
  expect(await signIn(as, await assertionFor(as))).toMatchObject({ name: "success" });
  return as;
}

const refused = { name: "login_init", error: { code: "passkey_invalid" } };

test("a passkey signs in with one request, and its options store nothing", async () => {
  const stored = () =>
    Promise.all([
      database.read.$count(schema.flows, eq(schema.flows.tenantId, tenant.id)),
      database.read.$count(schema.webauthnChallenges, eq(schema.webauthnChallenges.tenantId, tenant.id)),
      database.read.$count(schema.seenAssertions, eq(schema.seenAssertions.tenantId, tenant.id)),
    ]);
  const as = visitor(runtime);
  const before = await stored();
  const response = await assertionFor(as);
  expect(await stored()).toEqual(before);
  runtime.advanceClock(60);
  expect(await signIn(as, response)).toMatchObject({ name: "success", status: 200 });
  expect((await as.request("/sessions/validate")).status).toBe(200);
});

test("a page whose flow is not started signs in with the options that it shows", async () => {
  const as = visitor(runtime);
  const shown = await as.mutate("flow.current", { type: "login" });
  const { result } = (await shown.json()) as { result: { data: { version: number; state: FlowState } } };
  const { version, state } = result.data;
  expect({ version, name: state.name }).toEqual({ version: 0, name: "login_init" });
  const assertion_response = authenticator.get(state.payload.request_options, { origin });
  const action = "webauthn_verify_assertion_response";
  const acted = await as.mutate("flow.act", {
    type: "login",
    action,
    version,
    capabilities,
    input: { assertion_response },
  });
  expect(await acted.json()).toMatchObject({ result: { data: { state: { name: "success" } } } });
});

test("A195 a sealed challenge that was used is refused, in a flow that goes on", async () => {
  const as = visitor(runtime);
  const response = await assertionFor(as);
  expect(await signIn(as, response)).toMatchObject({ name: "success" });
  expect(await signIn(visitor(runtime), response)).toMatchObject(refused);
});

test("A195 of fifty logins with one sealed challenge, one succeeds", async () => {
  const response = await assertionFor(visitor(runtime));
  const states = await Promise.all(
    Array.from({ length: 50 }, (_, index) => signIn(visitor(runtime, `192.0.2.${index + 10}`), response)),
  );
  expect(states.filter(({ name }) => name === "success")).toHaveLength(1);
  const others = states.filter(({ name }) => name !== "success");
  for (const state of others) expect(state.error?.code).toMatch(/^(passkey_invalid|rate_limit_exceeded)$/);
});

test("A196 a sealed challenge serves no other tenant", async () => {
  const { id } = await createTenant(runtime, { name: "Another", hosts: [], settings: {} });
  const other = await runtime.tenants.byId(id);
  if (!other) throw new Error("the tenant was not created");
  const [own, foreign] = [visitor(runtime), tenantVisitor(runtime, other)];
  expect(await signIn(own, await assertionFor(foreign))).toMatchObject(refused);
});

test("A196 a sealed challenge serves no browser that other accounts have signed in with, and no other of theirs", async () => {
  const [known, unknown] = [await knownBrowser(), visitor(runtime)];
  expect(await signIn(visitor(runtime), await assertionFor(known))).toMatchObject(refused);
  expect(await signIn(known, await assertionFor(unknown))).toMatchObject(refused);
  // A sign-in in another tab of the browser changes nothing.
  const response = await assertionFor(known);
  expect(await signIn(known, await assertionFor(known))).toMatchObject({ name: "success" });
  expect(await signIn(known, response)).toMatchObject({ name: "success" });
});

test("A196 a sealed challenge signs in, and is no proof for an account that the flow knows", async () => {
  const as = await knownBrowser();
  runtime.advanceClock(3_600);
  let state = (await (await as.post("/profile", { capabilities })).json()) as FlowState;
  const act = async (action: string, input: object = {}) => {
    const body = { csrf_token: state.csrf_token, input_data: input };
    state = (await (await as.post(state.actions[action]?.href ?? "", body)).json()) as FlowState;
  };
  await act("email_create", { email: `${randomUUID()}@example.com` });
  await act("webauthn_generate_request_options");
  expect(state.name).toBe("login_passkey");
  await act("webauthn_verify_assertion_response", { assertion_response: await assertionFor(as) });
  expect(state).toMatchObject({ name: "login_passkey", error: { code: "passkey_invalid" } });
});

test("A197 a challenge is not used by an action that the flow does not offer, or of an old version of the page", async () => {
  const as = visitor(runtime);
  const response = await assertionFor(as);
  const action = "webauthn_verify_assertion_response";
  const first = { action, input: { assertion_response: response } };
  expect((await as.post("/login", first)).status).toBe(403);
  expect((await as.post("/registration", { capabilities, ...first })).status).toBe(403);
  expect(await signIn(as, response)).toMatchObject({ name: "success" });

  const page = visitor(runtime);
  const call = async (procedure: string, input: object) => {
    const answer = (await (await page.mutate(procedure, { type: "login", ...input })).json()) as {
      result: { data: { version: number; state: FlowState } };
    };
    return answer.result.data;
  };
  const able = { ...capabilities, webauthn_conditional_mediation_available: true };
  const { version, state } = await call("flow.start", { capabilities: able });
  const assertion_response = authenticator.get(state.payload.request_options, { origin });
  const step = { action, input: { assertion_response } };
  expect((await call("flow.act", { ...step, version: version + 1 })).state.status).toBe(403);
  expect((await call("flow.act", { ...step, version })).state.name).toBe("success");
});

test("A197 a sealed challenge of yesterday, or of six minutes ago, is refused", async () => {
  for (const seconds of [360, 86_400]) {
    const as = visitor(runtime);
    const response = await assertionFor(as);
    runtime.advanceClock(seconds);
    expect(await signIn(as, response)).toMatchObject(refused);
  }
});

test.each([
  ["with a byte changed", (sealed: Buffer) => sealed.map((byte, index) => (index === 9 ? byte ^ 1 : byte))],
  ["that is cut off", (sealed: Buffer) => sealed.subarray(0, -1)],
  ["of random bytes", (sealed: Buffer) => Buffer.alloc(sealed.length, 7)],
])("A197 a challenge %s is refused", async (_, change) => {
  const as = visitor(runtime);
  const { request_options } = (await (await ask(as)).json()) as {
    request_options: { publicKey: { challenge: string } };
  };
  const { publicKey } = request_options;
  const challenge = Buffer.from(change(Buffer.from(publicKey.challenge, "base64url"))).toString("base64url");
  const response = authenticator.get({ publicKey: { ...publicKey, challenge } }, { origin });
  expect(await signIn(as, response)).toMatchObject(refused);
});

test("options are refused to a page of another origin, without passkeys, and beyond the limit of starts", async () => {
  expect((await ask(visitor(runtime), { origin: "https://evil.example" })).status).toBe(403);
  const asked = (settings: Record<string, string>): TestRuntime => runtime.configured(settings);
  expect((await ask(visitor(asked({ STILE_PASSKEY_ENABLED: "false" })))).status).toBe(404);
  const limited = visitor(
    asked({ STILE_RATE_LIMITER_ENABLED: "true", STILE_RATE_LIMITER_STARTS_PER_MINUTE: "2" }),
    "192.0.2.99",
  );
  const statuses = [];
  for (let times = 0; times < 3; times += 1) statuses.push((await ask(limited)).status);
  expect(statuses).toEqual([200, 200, 429]);
});
