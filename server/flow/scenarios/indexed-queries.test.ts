import { createHash, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { releaseInstance } from "../../database/instances.ts";
import {
  findProviderSignOut,
  handleOf,
  leaveProviderSession,
  providerSessionOf,
  renewProviderSession,
  sessionsOfNameId,
  storeProviderSession,
  takeNamedSessions,
  takeProviderSignOut,
} from "../../sessions/provider-sessions.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { authenticatorApplication } from "../../testing/authenticator-application.ts";
import type { Walk } from "../../testing/flow-walk.ts";
import { grow, growingTables } from "../../testing/growth.ts";
import { testJobs } from "../../testing/jobs.ts";
import { passkeyApplication } from "../../testing/passkey-application.ts";
import { codeFor, newAddress, newName, origin, password, people } from "../../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../../testing/provider-people.ts";
import { explainedQueries, explainQueries, type PlanNode } from "../../testing/query-plans.ts";
import { password as restPassword, restRegistration } from "../../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import { visitor } from "../../testing/visitor.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { startReceiver, type WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { replayDeliveries } from "../../webhooks/delivery-list.ts";
import { createReceiverClient } from "../../webhooks/receiver-client.ts";
import { createWebhookDelivery } from "../../webhooks/webhook-delivery.ts";

/**
 * PostgreSQL itself reports the plan of every statement that these walks make it run, in a database with thousands of
 * rows in each growing table: no list of statements is kept by hand.
 */

let receiver: WebhookReceiver;
let runtime: TestRuntime;
let database: string;

beforeAll(async () => {
  receiver = await startReceiver();
  runtime = await testRuntime({
    STILE_ACCOUNT_ALLOW_DELETION: "true",
    STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://shop.test/back",
    STILE_WEBHOOKS_ENABLED: "true",
    STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
    STILE_WEBHOOKS_HOOKS: JSON.stringify([
      {
        callback: receiver.url,
        events: ["user", "session"],
        secret: `whsec_${Buffer.alloc(32, 5).toString("base64")}`,
      },
    ]),
    ...acme(),
  });
  const { connectionString = "" } = runtime.database.write.$client.options;
  database = connectionString.replace(/^.*\//, "");
  const client = new pg.Client({ connectionString });
  await client.connect();
  await grow(client, runtime.tenant.id, {
    users: 6_000,
    flows: 6_000,
    sessions: 6_000,
    auditEntries: 6_000,
    others: 6_000,
  });
  await client.end();
  await explainQueries(database);
});

afterAll(async () => {
  await runtime.close();
  await receiver.close();
});

const { begin, register, signIn } = people();

async function create(flow: Walk, authenticator = softwareAuthenticator()) {
  const public_key = authenticator.create(flow.state.payload.creation_options, { origin });
  await flow.act("webauthn_verify_attestation_response", { public_key });
  return authenticator;
}

async function assert(flow: Walk, authenticator: ReturnType<typeof softwareAuthenticator>) {
  const assertion_response = authenticator.get(flow.state.payload.request_options, { origin });
  await flow.act("webauthn_verify_assertion_response", { assertion_response });
}

/** What is done, and how it ends. */
const walks: Record<string, () => Promise<void>> = {
  async "a registration with a username, a password and a passkey, and a login by the passkey"() {
    const authenticator = softwareAuthenticator();
    const named = runtime.configured({ STILE_USERNAME_ENABLED: "true" });
    const person = await register(named, { authenticator, username: newName() });
    const flow = await begin(named, "login");
    await flow.act("webauthn_generate_request_options");
    await assert(flow, authenticator);
    const typed = await begin(named, "login");
    await typed.act("continue_with_login_identifier", { identifier: person.username });
    expect(flow.state.name).toEqual("success");
  },
  async "a session at a provider, which the sign-out ends"() {
    const logout = { rp_initiated_logout: true, end_session_endpoint: "https://acme.example/logout" };
    const at = runtime.configured(acme(logout));
    const { tenant } = at;
    const context = { runtime: at, tenant };
    const owner = await accountOwner(at);
    const elsewhere = await owner.signInElsewhere();
    const comesBack = async (nameId: string) => {
      const exchangeToken = randomUUID();
      const session = { nameId: { value: nameId }, sessionIndexes: ["1"] };
      await storeProviderSession(at, tenant, { exchangeToken, provider: "saml:acme", session });
      return handleOf(exchangeToken);
    };
    const signedIn = async (nameId: string, sessionId: string) => {
      const joined = { handle: await comesBack(nameId), sessionId };
      await at.database.write.transaction(renewProviderSession(context, joined));
    };
    const nameId = randomUUID();
    await signedIn(nameId, owner.sessionId);
    await signedIn(nameId, elsewhere);
    const ofName = { provider: "saml:acme", nameId, sessionIndexes: ["1"] };
    await comesBack(nameId);
    const named = await sessionsOfNameId(context, ofName);
    const { sessions, waiting } = named;
    await at.database.write.transaction((tx) => takeNamedSessions(tx, tenant, named));
    const state = await at.database.write.transaction(async (tx) => {
      const carry = await providerSessionOf(tx, tenant, owner.sessionId);
      await carry(owner.sessionId);
      return leaveProviderSession(tx, context, { sessionId: elsewhere, redirectTo: null });
    });
    const now = new Date();
    const found = await findProviderSignOut(context, state ?? "", now);
    expect([sessions.length, waiting.length, found?.provider]).toEqual([2, 1, "saml:acme"]);
    expect(await takeProviderSignOut(context, state ?? "", now)).toEqual({ redirectTo: null });
  },
  async "a login by a code"() {
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    await flow.act("verify_passcode", { code: "nothing" });
    await flow.act("resend_passcode");
    await flow.act("verify_passcode", { code: codeFor(runtime, email) });
    expect(flow.state.name).toEqual("success");
  },
  async "a login by a password, after wrong ones"() {
    const limited = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const { email } = await register(limited);
    const flow = await begin(limited, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password: "wrong" });
    await flow.act("password_login", { password });
    expect(flow.state.name).toEqual("success");
  },
  async "an unknown address"() {
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email: newAddress() });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state.name).toEqual("login_password");
  },
  async "the recovery of a password"() {
    const owner = await accountOwner(runtime, { password: true, trustedBrowser: true });
    const [email = ""] = owner.addresses;
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_password_login");
    await flow.act("continue_to_passcode_confirmation_recovery");
    await flow.act("verify_passcode", { code: codeFor(runtime, email) });
    await flow.act("password_recovery", { new_password: "another horse battery" });
    expect(flow.state.name).toEqual("success");
  },
  async "the first proof of an address that was registered without one"() {
    const open = runtime.configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
    const address = newAddress();
    await accountOwner(open, { emails: 0, unverified: address, password: true, passkeys: 1, totp: true });
    const flow = await begin(open, "login", {});
    await flow.act("continue_with_login_identifier", { email: address });
    await flow.act("continue_to_passcode_confirmation");
    await flow.act("verify_passcode", { code: codeFor(open, address) });
    expect(flow.state.name).toEqual("success");
  },
  async "a second factor from an app, a trusted browser, and recovery codes"() {
    const asking = runtime.configured({
      STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
      STILE_PASSKEY_ENABLED: "false",
    });
    const email = newAddress();
    const clock = () => Date.now() + runtime.platform.clockShift();
    const first = await begin(asking, "registration", {});
    await first.act("register_login_identifier", { email });
    await first.act("verify_passcode", { code: codeFor(runtime, email) });
    await first.act("register_password", { new_password: password });
    if (first.state.actions.continue_to_otp_secret_creation)
      await first.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(first.state.payload.otp_secret));
    await first.act("otp_code_verify", { otp_code: app.code(clock()) });
    const [recovery] = first.state.payload.recovery_codes as string[];
    const flow = await signIn(asking, { email });
    await flow.act("otp_code_validate", { otp_code: "000000" });
    runtime.advanceClock(60);
    await flow.act("otp_code_validate", { otp_code: app.code(clock()) });
    await flow.act("trust_device");
    const other = await signIn(asking, { email });
    await other.act("recovery_code_validate", { recovery_code: recovery });
    expect([flow.state.name, other.state.name]).toEqual(["success", "device_trust"]);
  },
  async "a security key"() {
    const asking = runtime.configured({
      STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
      STILE_PASSKEY_ENABLED: "false",
    });
    const email = newAddress();
    const first = await begin(asking, "registration", { webauthn_available: true });
    await first.act("register_login_identifier", { email });
    await first.act("verify_passcode", { code: codeFor(runtime, email) });
    await first.act("register_password", { new_password: password });
    await first.act("continue_to_security_key_creation");
    await first.act("webauthn_generate_creation_options");
    const key = await create(first, softwareAuthenticator({ userVerification: false, backup: "no" }));
    const flow = await signIn(asking, { email }, { webauthn_available: true });
    await flow.act("webauthn_generate_request_options");
    await assert(flow, key);
    expect(flow.state.name).toEqual("device_trust");
  },
  async "a provider that registers, signs in and links"() {
    const facts = acmePerson();
    const names = [];
    for (const type of ["registration", "login"] as const) {
      const flow = await begin(runtime, type, {});
      await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: `${origin}/` });
      await flow.act("exchange_token", {
        token: await returnFromProvider(runtime, { flowId: flow.flowId, facts }),
      });
      if (flow.state.actions.skip) await flow.act("skip");
      names.push(flow.state.name);
    }
    await visitor(runtime).request("/thirdparty/callback?state=unknown&code=x");
    expect(names).toEqual(["success", "success"]);
  },
  async "the account"() {
    const settings = { STILE_USERNAME_ENABLED: "true", STILE_PASSWORD_OPTIONAL: "true" };
    const own = runtime.configured(settings);
    const owner = await accountOwner(own, {
      emails: 3,
      password: true,
      passkeys: 2,
      securityKeys: 1,
      totp: true,
      recoveryCodes: true,
      phones: 1,
      trustedBrowser: true,
      identities: ["custom_acme", "google"],
      username: newName(),
    });
    const elsewhere = await owner.signInElsewhere();
    await owner.signInElsewhere();
    const flow = await owner.manage();
    const { emails = [], identities = [] } = flow.state.payload.user as {
      emails: { id: string; is_primary: boolean }[];
      identities: { identity_id: string }[];
    };
    const [primary, second, third] = emails;
    const address = newAddress();
    await flow.act("email_create", { email: address });
    await flow.act("verify_passcode", { code: codeFor(own, address) });
    const acts: [string, Record<string, unknown>?][] = [
      ["email_set_primary", { email_id: second?.id }],
      ["email_delete", { email_id: third?.id }],
      ["email_delete", { email_id: primary?.id }],
      ["name_update", { name: "Ada" }],
      ["patch_metadata", { patch_metadata: { theme: "dark" } }],
      ["password_update", { password: "another horse battery" }],
      ["username_update", { username: newName() }],
      ["username_delete"],
      ["webauthn_credential_rename", { passkey_id: owner.passkeys[0], passkey_name: "Laptop" }],
      ["webauthn_credential_delete", { passkey_id: owner.passkeys[0] }],
      ["security_key_delete", { security_key_id: owner.securityKeys[0] }],
      ["disconnect_thirdparty_oauth_provider", { identity_id: identities[0]?.identity_id }],
      ["recovery_codes_create"],
      ["otp_secret_delete"],
      ["session_delete", { session_id: elsewhere }],
      ["session_delete_others"],
      ["password_delete"],
    ];
    const failed: string[] = [];
    for (const [action, input] of acts) {
      await flow.act(action, input);
      if (flow.state.status !== 200 || flow.errors().length > 0) failed.push(`${action} ${flow.errors()}`);
      if (flow.state.actions.continue_to_profile) await flow.act("continue_to_profile");
    }
    await flow.act("webauthn_credential_create");
    await create(flow);
    await flow.act("account_delete");
    expect([flow.state.name, failed]).toEqual(["account_deleted", []]);
  },
  async "the session"() {
    const { visitor: browser } = await restRegistration(runtime, newAddress());
    const session_token = browser.cookies.get("service");
    const statuses = [];
    for (const path of ["/me", "/sessions/validate"]) statuses.push((await browser.request(path)).status);
    statuses.push((await visitor(runtime).post("/sessions/validate", { session_token })).status);
    statuses.push((await browser.post("/logout")).status);
    expect(statuses).toEqual([200, 200, 200, 204]);
  },
  async "the hosted page and the code of its application"() {
    const email = newAddress();
    await restRegistration(runtime, email);
    const browser = visitor(runtime);
    const code_verifier = "v".repeat(43);
    const redirect_to = "https://shop.test/back";
    const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
    await browser.request(
      `/login?${new URLSearchParams({ redirect_to, code_challenge, code_challenge_method: "S256", state: "1" })}`,
    );
    const call = async (procedure: string, input: object) =>
      (await (await browser.mutate(`flow.${procedure}`, { type: "login", ...input })).json()).result.data;
    let page = await call("start", {});
    for (const [action, input] of Object.entries({
      register_client_capabilities: {},
      continue_with_login_identifier: { email },
      continue_to_password_login: {},
      password_login: { password: restPassword },
    }))
      page = await call("act", { version: page.version, action, input });
    await call("current", {});
    const code = new URL(page.redirect_to).searchParams.get("code");
    expect((await visitor(runtime).post("/token", { code, code_verifier, redirect_to })).status).toEqual(200);
  },
  async "the passkey server"() {
    const application = await passkeyApplication(runtime);
    const { call, callWithoutKey, origin: of } = application;
    const userId = randomUUID();
    const { authenticator, credentialId } = await application.register(userId);
    const signedIn = await application.answer(authenticator, "/login", { user_id: userId });
    const statuses = [(await call("POST", "/login/finalize", signedIn)).status];
    const transaction = { user_id: userId, transaction_data: { amount: "12.00" } };
    const confirmed = await application.answer(authenticator, "/transaction", {
      ...transaction,
      transaction_id: randomUUID(),
    });
    statuses.push((await call("POST", "/transaction/finalize", confirmed)).status);
    const opened = await call("POST", "/transaction/initialize", {
      ...transaction,
      transaction_id: randomUUID(),
      confirmation: { redirect_to: "https://shop.test/back" },
    });
    const token = new URL(opened.body.confirmation_url).searchParams.get("token");
    const credential = authenticator.get(opened.body, { origin: of });
    const answered = await callWithoutKey(
      "POST",
      "/transaction/confirm",
      { token, credential },
      { "sec-fetch-site": "same-origin" },
    );
    const code = new URL(answered.body.redirect_to).searchParams.get("code");
    statuses.push((await call("POST", "/transaction/redeem", { code })).status);
    statuses.push((await call("GET", `/transaction/${userId}`)).status);
    statuses.push((await call("GET", `/credentials?user_id=${userId}&per_page=1`)).status);
    statuses.push((await call("PATCH", `/credentials/${credentialId}`, { name: "Laptop" })).status);
    statuses.push((await call("DELETE", `/credentials/${credentialId}`)).status);
    statuses.push((await call("DELETE", `/users/${userId}`)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 204, 204, 204]);
  },
  async authenticators() {
    const application = await authenticatorApplication(runtime);
    const { call } = application;
    const userId = randomUUID();
    const authenticator = createUafAuthenticator();
    const registering = await application.create("REG", userId);
    const enrolled = await application.answer(registering, application.answerOf(authenticator, registering));
    runtime.advanceClock(1);
    const asked = await application.create("AUTH", userId, { transaction: "Pay 12.00" });
    const answered = await application.answer(asked, application.answerOf(authenticator, asked));
    const statuses = [enrolled.body.status, answered.body.status];
    const requests = "/v1/uaf/requests";
    statuses.push((await call("GET", `${requests}/${asked.id}`)).status);
    const other = await application.create("AUTH", userId);
    statuses.push((await call("DELETE", `${requests}/${other.id}`)).status);
    statuses.push((await call("GET", `/mgmt/v1/registrations/${userId}`)).status);
    statuses.push((await call("DELETE", `/mgmt/v1/registrations/${userId}`)).status);
    expect(statuses).toEqual(["OK", "OK", 200, 200, 200, 204]);
  },
  async "the delivery of events"() {
    const delivery = createWebhookDelivery({
      ...runtime,
      client: createReceiverClient({ allowPrivate: true }),
      log: pino({ level: "silent" }),
    });
    const delivered = await delivery.runDue(10);
    receiver.answer = (response) => response.writeHead(500).end();
    await delivery.runDue(1);
    await delivery.stop(0);
    expect(delivered).toEqual(10);
  },
  async "a replay of deliveries"() {
    const { rows } = await runtime.database.read.$client.query("select id from webhooks limit 1");
    const receiver = { tenantId: runtime.tenant.id, webhook: rows[0].id };
    expect(await replayDeliveries(runtime, receiver, {})).not.toEqual([]);
  },
  async jobs() {
    const jobs = testJobs({
      database: runtime.database,
    });
    await jobs.start({ worker: false });
    const taken = await jobs.runDue(1);
    await jobs.stop();
    expect(taken).toEqual(0);
  },
  async "the end of a worker"() {
    const instanceId = randomUUID();
    await runtime.database.write.execute(
      sql`insert into instances values (${instanceId}, now() + interval '1 minute', '1.0.0')`,
    );
    await releaseInstance(runtime.database, instanceId);
    const { rows } = await runtime.database.write.execute(
      sql`select from instances where id = ${instanceId}`,
    );
    expect(rows).toEqual([]);
  },
  async "what has expired"() {
    expect(await runtime.purgeExpired()).toBeGreaterThan(0);
    const idle = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" });
    await idle.purgeExpired();
  },
};

/** The columns of an index condition: `tenant_id` alone selects the rows of a whole service. */
const selects = (condition = "") => /\b(?!tenant_id\b)[a-z_]+ (=|<|>|<=|>=) /.test(condition);

/** The scans of a plan that read more of a growing table than they return. */
function longScans(node: PlanNode, table = "", limited = false): string[] {
  const relation = node["Relation Name"] ?? table;
  const kind = node["Node Type"];
  const own =
    growingTables.has(relation) &&
    (kind === "Seq Scan" || (/^(Index|Bitmap Index)/.test(kind) && !limited && !selects(node["Index Cond"])));
  const below = (node.Plans ?? []).flatMap((plan) =>
    longScans(plan, relation, (limited || kind === "Limit") && kind !== "Sort"),
  );
  return own
    ? [`${kind} of ${node["Index Name"] ?? relation}: ${node["Index Cond"] ?? node.Filter}`, ...below]
    : below;
}

const scansOf = () =>
  explainedQueries(database).flatMap(({ text, plan }) => {
    const scans = longScans(plan);
    return scans.length > 0 ? { text, scans } : [];
  });

test("a scan of a whole table is noticed", async () => {
  await runtime.database.read.execute(sql`select count(*) from emails where verified_at is null`);
  expect(scansOf().flatMap(({ scans }) => scans)).toEqual([expect.stringMatching(/^Seq Scan of emails/)]);
});

test.each(Object.entries(walks))("%s: every row is found by an index", async (_, run) => {
  const before = scansOf().length;
  await run();
  expect(scansOf().slice(before)).toEqual([]);
});
