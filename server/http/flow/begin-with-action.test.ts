import { randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { executePart } from "#db/part";
import type { Write } from "#db/write";
import { revokeAccess } from "../../account/access-revocation.ts";
import { blockAccount } from "../../account/blocking.ts";
import { deleteAccount } from "../../account/deletion.ts";
import { firstRecord } from "../../flow/first-state.ts";
import { type FlowKey, insertedFlow, type SavedFlow, wasInserted } from "../../flow/store.ts";
import type { FlowState } from "../../flow/wire.ts";
import { sha256 } from "../../lib/sha256.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { mailedCode, password, restRegistration } from "../../testing/rest-walk.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

const runtime = await runtimeForTests({ STILE_MFA_ENABLED: "false" });
const { database, tenant } = runtime;

const newAddress = () => `${randomUUID()}@example.com`;
const capabilities = { webauthn_available: true };

/** Starts a flow with a body. */
async function begin(
  body: unknown,
  { type = "login", as = visitor(runtime) }: { type?: string; as?: Visitor } = {},
): Promise<FlowState> {
  return (await (await as.post(`/${type}`, body)).json()) as FlowState;
}

/** Performs an action of a state. */
async function act(state: FlowState, action: string, input: object = {}, as = visitor(runtime)) {
  const { href } = state.actions[action] ?? { href: "" };
  const answer = await as.post(href, { csrf_token: state.csrf_token, input_data: input });
  return (await answer.json()) as FlowState;
}

/** An account, and a browser with a session of it. */
async function signedIn(server = runtime) {
  const { userId, sessionToken } = await accountOwner(runtime, { password: true });
  const as = visitor(server);
  as.cookies.set(runtime.config.session.cookie.name, sessionToken);
  return { userId, as };
}

async function passwordOf(userId: string): Promise<string | undefined> {
  const { passwords } = schema;
  const [row] = await database.read.select().from(passwords).where(eq(passwords.userId, userId));
  return row?.hash;
}

/** A server before whose first transaction another one commits. */
function beforeFirstTransaction(interrupt: () => Promise<unknown>): typeof runtime {
  const { write } = database;
  let isInterrupted = false;
  const transaction: typeof write.transaction = async (...call) => {
    if (!isInterrupted) {
      isInterrupted = true;
      await interrupt();
    }
    return write.transaction(...call);
  };
  const changed = new Proxy(write, {
    get: (target, name) => (name === "transaction" ? transaction : Reflect.get(target, name, target)),
  });
  return { ...runtime, database: { ...database, write: changed } };
}

const storedFlows = () => database.read.$count(schema.flows, eq(schema.flows.tenantId, tenant.id));

describe("a flow that begins with an action", () => {
  test("answers as the action does after a start, and goes on", async () => {
    const email = newAddress();
    await restRegistration(runtime, email);
    const as = visitor(runtime);
    const chooser = await begin(
      { capabilities: {}, action: "continue_with_login_identifier", input: { email } },
      { as },
    );
    expect(chooser).toMatchObject({
      name: "login_method_chooser",
      status: 200,
      payload: { identifier: email },
    });
    const asked = await act(chooser, "continue_to_password_login", {}, as);
    expect(await act(asked, "password_login", { password }, as)).toMatchObject({ name: "success" });
  });

  test("signs up, and mails the code once", async () => {
    const email = newAddress();
    const state = await begin(
      { capabilities, action: "register_login_identifier", input: { email } },
      { type: "registration" },
    );
    expect(state).toMatchObject({ name: "passcode_confirmation", payload: { identifier: email } });
    expect(runtime.enqueued.filter(({ to }) => to === email)).toHaveLength(1);
    const verified = await act(state, "verify_passcode", { code: mailedCode(runtime, email) });
    expect(verified.status).toBe(200);
  });

  test("signs in by a passkey in two requests", async () => {
    const { base_url: origin } = runtime.config;
    const authenticator = softwareAuthenticator();
    const email = newAddress();
    const registering = await begin(
      { capabilities, action: "register_login_identifier", input: { email } },
      { type: "registration" },
    );
    let state = await act(registering, "verify_passcode", { code: mailedCode(runtime, email) });
    state = await act(state, "register_password", { new_password: password });
    state = await act(state, "webauthn_generate_creation_options");
    const created = authenticator.create(state.payload.creation_options, { origin });
    await act(state, "webauthn_verify_attestation_response", { public_key: created });

    const options = await begin({ capabilities, action: "webauthn_generate_request_options" });
    expect(options.name).toBe("login_passkey");
    const assertion_response = authenticator.get(options.payload.request_options, { origin });
    const done = await act(options, "webauthn_verify_assertion_response", { assertion_response });
    expect(done).toMatchObject({ name: "success", status: 200 });
  });

  test("changes an account with the session of its owner, and is refused without one", async () => {
    const first = { capabilities, action: "patch_metadata", input: { patch_metadata: { colour: "blue" } } };
    expect(await begin(first, { type: "profile" })).toMatchObject({ name: "error", status: 401 });
    const { as } = await signedIn();
    const changed = await begin(first, { type: "profile", as });
    expect(changed).toMatchObject({ name: "profile_init", status: 200 });
    expect(JSON.stringify(changed.payload)).toContain("blue");
  });

  test("begins with the report of capabilities where they come without an action", async () => {
    expect(await begin({ capabilities: {} })).toMatchObject({ name: "login_init", status: 200 });
    const autofilled = await begin({
      capabilities: { ...capabilities, webauthn_conditional_mediation_available: true },
    });
    expect(autofilled.payload.request_options).toBeDefined();
    const { as } = await signedIn();
    const account = await begin({ capabilities }, { type: "profile", as });
    expect(account).toMatchObject({ name: "profile_init", payload: { user: expect.any(Object) } });
    expect(Object.keys(account.actions)).toContain("patch_metadata");
    expect(await begin({ capabilities: null, action: null })).toMatchObject({ name: "preflight" });
  });

  test("performs nothing of a body that a page of another origin can send without asking", async () => {
    const body = JSON.stringify({
      capabilities,
      action: "continue_with_login_identifier",
      input: { email: newAddress() },
    });
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const answer = await visitor(runtime).post("/login", body, { "content-type": type });
      expect(await answer.json()).toMatchObject({ name: "preflight", status: 200 });
    }
    const foreign = await visitor(runtime).post("/login", body, { origin: "https://attacker.example" });
    expect(await foreign.json()).toMatchObject({ name: "error", status: 403 });
  });

  test("takes the report of capabilities as its action", async () => {
    const input = { ...capabilities, webauthn_conditional_mediation_available: false };
    const state = await begin({ action: "register_client_capabilities", input });
    expect(state).toMatchObject({ name: "login_init", status: 200 });
  });

  test("shows what is wrong with an input in a flow that goes on", async () => {
    const email = newAddress();
    const wrong = await begin({
      capabilities,
      action: "continue_with_login_identifier",
      input: { email: "no" },
    });
    expect(wrong).toMatchObject({ name: "login_init", status: 400 });
    expect(wrong.actions.continue_with_login_identifier?.inputs.email?.error?.code).toBe(
      "value_too_short_error",
    );
    const right = await act(wrong, "continue_with_login_identifier", { email });
    expect(right.name).toBe("login_method_chooser");
  });

  test("is stored with what its step is charged, and told to wait beyond the budget", async () => {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STEPS_PER_SOURCE: "20",
    });
    const states: FlowState[] = [];
    for (let count = 0; count < 12; count += 1)
      states.push(
        await begin(
          { capabilities, action: "continue_with_login_identifier", input: { email: newAddress() } },
          { as: visitor(limited, "192.0.2.77") },
        ),
      );
    expect(states[0]).toMatchObject({ name: "login_method_chooser", status: 200 });
    expect(states.at(-1)).toMatchObject({
      name: "login_init",
      status: 429,
      payload: { retry_after: expect.any(Number) },
    });
  });
});

describe("nothing is stored", () => {
  test.each<[string, unknown, number]>([
    [
      "by an action that the first state does not offer",
      { capabilities, action: "password_login", input: {} },
      403,
    ],
    [
      "by an action of the state after preflight, without capabilities",
      { action: "continue_with_login_identifier" },
      403,
    ],
    [
      "by a passkey, where the browser has none",
      { capabilities: {}, action: "webauthn_generate_request_options" },
      403,
    ],
    ["by an action that is no text", { action: 5 }, 400],
    ["by an action with a name of no action", { action: "back@0" }, 400],
    ["by a member that is unknown", { action: "back", csrf_token: "x" }, 400],
    ["by an input that is no object", { capabilities, action: "back", input: [] }, 400],
    ["by capabilities that are none", { capabilities: { webauthn_available: "yes" } }, 400],
  ])("%s", async (_, body, status) => {
    const before = await storedFlows();
    expect(await begin(body)).toMatchObject({ name: "error", status, actions: {}, csrf_token: "" });
    expect(await storedFlows()).toBe(before);
  });

  test.each<[string, string, Record<string, string>]>([
    [
      "that is too large",
      JSON.stringify({ capabilities, action: "back", input: { a: "x".repeat(70_000) } }),
      {},
    ],
    ["with a member twice", '{ "capabilities": {}, "action": "back", "action": "skip" }', {}],
    ["that is compressed", "{}", { "content-encoding": "gzip" }],
    ["in another charset", "{}", { "content-type": "application/json; charset=iso-8859-1" }],
  ])("by JSON %s", async (_, body, headers) => {
    const before = await storedFlows();
    const answer = await visitor(runtime).post("/login", body, headers);
    expect([400, 413]).toContain(answer.status);
    expect(await storedFlows()).toBe(before);
  });

  test.each<[string, (userId: string) => Write]>([
    [
      "was blocked",
      (userId) => async (tx) => {
        await blockAccount(tx, requestContext(runtime), userId);
      },
    ],
    ["was deleted", (userId) => deleteAccount(requestContext(runtime), userId, null)],
    [
      "was recovered",
      (userId) => async (tx) => {
        await revokeAccess(tx, requestContext(runtime), userId, null);
      },
    ],
  ])("A180 in an account that %s while its first step was judged", async (_, change) => {
    for (const [action, input] of [
      ["patch_metadata", { patch_metadata: { colour: "red" } }],
      ["password_update", { password: "another good password 1" }],
    ] as const) {
      let userId = "";
      const interrupted = beforeFirstTransaction(() => database.write.transaction(change(userId)));
      const owner = await signedIn(interrupted);
      userId = owner.userId;
      const [before, passwordBefore] = [await storedFlows(), await passwordOf(userId)];
      const refused = await begin({ capabilities, action, input }, { type: "profile", as: owner.as });
      expect(refused, action).toMatchObject({ name: "error", status: 403 });
      expect(await storedFlows()).toBe(before);
      expect([undefined, passwordBefore]).toContain(await passwordOf(userId));
    }
  });

  test("in a tenant that was deleted meanwhile", async () => {
    const { id } = await createTenant(runtime, { name: "Short-lived", hosts: [], settings: {} });
    const deleted = await runtime.tenants.byId(id);
    if (!deleted) throw new Error("the tenant was not created");
    const as = tenantVisitor(runtime, deleted);
    await database.write.delete(schema.tenants).where(eq(schema.tenants.id, id));
    const body = { capabilities, action: "continue_with_login_identifier", input: { email: newAddress() } };
    const answer = await as.post("/login", body);
    expect(answer.status).toBe(404);
    expect((await as.post("/login")).status).toBe(404);
  });
});

test("two presses of one button begin two flows, of which each goes on", async () => {
  const body = { capabilities, action: "continue_with_login_identifier", input: { email: newAddress() } };
  const states = await Promise.all([begin(body), begin(body)]);
  const next = await Promise.all(states.map((state) => act(state, "continue_to_password_login")));
  expect(next.map(({ name }) => name)).toEqual(["login_password", "login_password"]);
});

describe("a first step whose connection was lost", () => {
  const saved = (): { key: FlowKey; content: SavedFlow } => {
    const flowId = randomUUID();
    const content: SavedFlow = {
      record: firstRecord(tenant, "login", flowId, {}).record,
      before: null,
      sealedPayload: null,
      error: null,
      tokenHash: sha256(randomUUID()),
      resume: { current: sha256(randomUUID()), previous: null },
      finishedAt: null,
      sessionId: null,
    };
    return { key: { tenantId: tenant.id, flowId, type: "login" }, content };
  };
  const lifetime = { seconds: 60, clockShift: 0 };

  test("has begun its flow if it was committed", async () => {
    const { key, content } = saved();
    await database.write.transaction((tx) => executePart(tx, insertedFlow(key, content, lifetime, false)));
    expect(await wasInserted(database, key, content)).toBe(true);
  });

  test("is waited for while it is being written", async () => {
    const { key, content } = saved();
    let found: Promise<boolean> | undefined;
    await database.write.transaction(async (tx) => {
      await executePart(tx, insertedFlow(key, content, lifetime, true));
      found = wasInserted(database, key, content);
    });
    expect(await found).toBe(true);
  });

  test("writes nothing that arrives after it was given up", async () => {
    const { key, content } = saved();
    expect(await wasInserted(database, key, content)).toBe(false);
    const late = database.write.transaction((tx) =>
      executePart(tx, insertedFlow(key, content, lifetime, false)),
    );
    await expect(late).rejects.not.toBeInstanceOf(ConflictError);
    const [row] = await database.read
      .select({ tokenHash: schema.flows.tokenHash })
      .from(schema.flows)
      .where(and(eq(schema.flows.tenantId, tenant.id), eq(schema.flows.id, key.flowId)));
    expect(row?.tokenHash).toEqual(Buffer.alloc(0));
  });
});
