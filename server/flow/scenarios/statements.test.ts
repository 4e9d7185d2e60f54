import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { storedEvents, storeWebhook } from "../../testing/emitted-events.ts";
import { eventually } from "../../testing/eventually.ts";
import { type FlowClient, flowClient } from "../../testing/flow-client.ts";
import { timeLeftInStep } from "../../testing/journeys/registrations.ts";
import { type IdentityProvider, startIdentityProvider } from "../../testing/kit/identity-provider.ts";
import { type TestDatabase, testDatabase } from "../../testing/postgres.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../../testing/smtp.ts";
import {
  countStatements,
  type SentStatement,
  type StatementCounter,
} from "../../testing/statement-counter.ts";
import { type Authenticator, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

/**
 * How many statements each step of a sign-in or a registration sends to PostgreSQL, `begin` and `commit` included: each is a round trip,
 * and they are what a sign-in costs. A number that grows is a loss for every user; decision 0011 says how they are few.
 */

let database: TestDatabase;
let counter: StatementCounter;
let smtp: SmtpCatcher;
let server: RunningServer;
let authenticator: Authenticator;
let provider: IdentityProvider;
let closeProvider: () => Promise<void>;

const email = "ada@example.com";
const password = "correct horse battery staple";

/** Statements that the server sends of its own accord: in intervals, after answers, and after a delivery to a webhook. */
const background =
  /^(claim_(deliveries|logouts)$|find_logouts$|claim_[a-z]+(_[a-z]+)*_\d+$|write_outcomes$|recorder_limits$|record_(steps|flows)$|funnel_counts$|insert into recorded_settings |with renewed as )/;

beforeAll(async () => {
  database = await testDatabase();
  counter = await countStatements(database.url);
  smtp = await startSmtp();
  // A server reports the starts of a source to the database a tenth of the limit at a time.
  const settings = {
    STILE_RATE_LIMITER_STARTS_PER_MINUTE: "1000",
    STILE_RATE_LIMITER_EXCHANGE_TOKENS_PER_MINUTE: "10",
    // Each walk is a new browser; the job of that mail would be counted with the walk after it.
    STILE_SECURITY_NOTIFICATIONS_NOTIFICATIONS_NEW_BROWSER_ENABLED: "false",
    STILE_MFA_DEVICE_TRUST_POLICY: "never",
    STILE_THIRD_PARTY_CUSTOM_PROVIDERS: await withProvider(),
  };
  server = await startServer({ env: { DATABASE_URL: counter.url, SMTP_URL: smtp.url, ...settings } });
  authenticator = softwareAuthenticator();
  await signUp();
  // The first sign-in of a server reads what later ones have at hand.
  await signIn([...first, choosePassword, enterPassword]);
});
afterAll(async () => {
  await server.stop();
  await counter.close();
  await smtp.close();
  await closeProvider();
  await database.close();
});

/** Starts an identity provider; returns the setting that names it. */
async function withProvider(): Promise<string> {
  const { settings, close, ...started } = await startIdentityProvider();
  provider = started.provider;
  closeProvider = close;
  const { third_party } = settings as { third_party: { custom_providers: object } };
  return JSON.stringify(third_party.custom_providers);
}

const capable = {
  webauthn_available: true,
  webauthn_conditional_mediation_available: true,
  webauthn_platform_authenticator_available: true,
};

/** Registers the user with a password and a passkey. */
async function signUp(): Promise<void> {
  const client = flowClient(server.url);
  await client.start("registration");
  await client.act("register_client_capabilities", capable);
  await client.act("register_login_identifier", { email });
  await client.act("verify_passcode", { code: await smtp.codeFor(email) });
  await client.act("register_password", { new_password: password });
  await client.act("webauthn_generate_creation_options");
  const created = authenticator.create(client.state.payload.creation_options, { origin: server.url });
  await client.act("webauthn_verify_attestation_response", { public_key: created });
  expect(client.state.name).toBe("success");
}

type Step = [name: string, act: (client: FlowClient) => Promise<unknown>];

const start: Step = ["start", (client) => client.start("login")];
const capabilities: Step = ["capabilities", (client) => client.act("register_client_capabilities", capable)];
const identifier: Step = ["identifier", (client) => client.act("continue_with_login_identifier", { email })];
const first = [start, capabilities, identifier];
const choosePassword: Step = ["choice", (client) => client.act("continue_to_password_login")];
const enterPassword: Step = ["password", (client) => client.act("password_login", { password })];
const chooseCode: Step = ["choice", (client) => client.act("continue_to_passcode_confirmation")];
const showPasskey: Step = [
  "passkey",
  (client) => {
    const response = authenticator.get(client.state.payload.request_options, { origin: server.url });
    return client.act("webauthn_verify_assertion_response", { assertion_response: response });
  },
];
const checkSession: Step = ["session check", (client) => client.request("/sessions/validate")];

const goToProvider: Step = [
  "leaving",
  (client) => client.act("thirdparty_oauth", { provider: provider.id, redirect_to: server.url }),
];
let token: string;
const visitProvider: Step = ["callback", async (client) => (token = await provider.visit(client))];
const exchange: Step = ["exchange", (client) => client.act("exchange_token", { token })];
const throughProvider = [start, capabilities, goToProvider, visitProvider, exchange];

/** Whether the job of a mail sends a statement: it ends itself, and asks for webhooks of mails if there may be one. */
const isOfMail = ({ statement }: SentStatement) =>
  ["end_send_mail+audit+mail_outage_ended", "event_subscriber"].includes(statement);

/** Walks steps that sign in; returns the statements of each. */
const signIn = async (steps: Step[]) => walk(steps, "success");

async function walk(steps: Step[], end?: string): Promise<Record<string, string[]>> {
  const client = flowClient(server.url);
  const sent: Record<string, string[]> = {};
  for (const [name, act] of steps) {
    const before = counter.sent.length;
    await act(client);
    sent[name] = counter.sent
      .slice(before)
      .filter((one) => one.application !== "stile-jobs" && !isOfMail(one))
      .filter(({ statement }) => !background.test(statement))
      .map(({ statement }) => statement);
  }
  if (end) expect(client.state.name).toBe(end);
  return sent;
}

const numbersOf = (sent: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(sent).map(([step, statements]) => [step, statements.length]));

/** What a number that is not the expected one is made of. */
const listOf = (sent: Record<string, string[]>) => JSON.stringify(sent);

const total = (sent: Record<string, string[]>) => Object.values(sent).flat().length;

test("a sign-in by password takes 9 statements, and the check of its session one", async () => {
  const { "session check": check, ...login } = await signIn([
    ...first,
    choosePassword,
    enterPassword,
    checkSession,
  ]);
  expect(numbersOf(login), listOf(login)).toEqual({
    start: 1,
    capabilities: 2,
    identifier: 2,
    choice: 1,
    password: 3,
  });
  expect(total(login)).toBe(9);
  expect(check).toEqual(["session_by_id"]);
});

test("a wrong password takes 2 statements, as many as one of an unknown address", async () => {
  const wrong: Step = ["wrong", (client) => client.act("password_login", { password: "not the password" })];
  const known = await signIn([...first, choosePassword, wrong, enterPassword]);
  expect(known.wrong).toHaveLength(2);
  const other: Step = [
    "identifier",
    (client) => client.act("continue_with_login_identifier", { email: "unknown@example.com" }),
  ];
  const unknown = await walk([start, capabilities, other, choosePassword, wrong]);
  expect(unknown.wrong).toEqual(known.wrong);
});

/** Starts a login with its first action. */
const beginning = (action: string, input: Record<string, unknown>): Step => [
  "beginning",
  (client) =>
    client.start(
      "login",
      action === "register_client_capabilities"
        ? { action, input }
        : { capabilities: capable, action, input },
    ),
];

test("a login that begins with its first action takes three statements fewer, or two", async () => {
  const identified = beginning("continue_with_login_identifier", { email });
  const byPassword = await signIn([identified, choosePassword, enterPassword]);
  expect(numbersOf(byPassword), listOf(byPassword)).toEqual({ beginning: 2, choice: 1, password: 3 });
  const byPasskey = await signIn([beginning("register_client_capabilities", capable), showPasskey]);
  expect(numbersOf(byPasskey), listOf(byPasskey)).toEqual({ beginning: 2, passkey: 3 });
});

test("a sign-in by passkey on a page whose flow is not started takes 3 statements", async () => {
  const options = await fetch(`${server.url}/login/request_options`);
  const { request_options } = (await options.json()) as { request_options: unknown };
  const assertion_response = authenticator.get(request_options, { origin: server.url });
  const login = await signIn([beginning("webauthn_verify_assertion_response", { assertion_response })]);
  expect(numbersOf(login), listOf(login)).toEqual({ beginning: 3 });
});

test("a sign-in by passkey takes 6 statements", async () => {
  const login = await signIn([start, capabilities, showPasskey]);
  expect(numbersOf(login), listOf(login)).toEqual({ start: 1, capabilities: 2, passkey: 3 });
});

test("a sign-in by code takes 10 statements, and its mail two", async () => {
  const since = smtp.messages.length;
  const before = counter.sent.length;
  const enterCode: Step = [
    "code",
    async (client) => client.act("verify_passcode", { code: await smtp.codeFor(email, since) }),
  ];
  const login = await signIn([...first, chooseCode, enterCode]);
  expect(numbersOf(login), listOf(login)).toEqual({
    start: 1,
    capabilities: 2,
    identifier: 2,
    choice: 2,
    code: 3,
  });
  expect(total(login)).toBe(10);
  // The job is taken by a look for due ones, which the worker also does at intervals.
  const ofMail = () => counter.sent.slice(before).filter(isOfMail);
  await eventually(async () =>
    expect(ofMail().map(({ statement }) => statement)).toEqual(["end_send_mail+audit+mail_outage_ended"]),
  );
});

test("a sign-in by password and TOTP takes 11 statements, and 8 on our own page", async () => {
  const address = "lin@example.com";
  const secret = await signUpWithTotp(address);
  const identified: Step = [
    "identifier",
    (client) => client.act("continue_with_login_identifier", { email: address }),
  ];
  const enterCodeOf = (later: number): Step => [
    "code",
    (client) =>
      client.act("otp_code_validate", { otp_code: authenticatorApp(secret).code(Date.now(), later) }),
  ];
  const login = await signIn([
    start,
    capabilities,
    identified,
    choosePassword,
    enterPassword,
    enterCodeOf(0),
  ]);
  expect(numbersOf(login), listOf(login)).toEqual({
    start: 1,
    capabilities: 2,
    identifier: 2,
    choice: 1,
    password: 2,
    code: 3,
  });
  const begun = beginning("continue_with_login_identifier", { email: address });
  const onPage = await signIn([begun, choosePassword, enterPassword, enterCodeOf(1)]);
  expect(numbersOf(onPage), listOf(onPage)).toEqual({ beginning: 2, choice: 1, password: 2, code: 3 });
});

/** Registers a user with a password and an authenticator app; returns its secret. */
async function signUpWithTotp(address: string): Promise<string> {
  const since = smtp.messages.length;
  const client = flowClient(server.url);
  await client.start("registration");
  await client.act("register_client_capabilities", capable);
  await client.act("register_login_identifier", { email: address });
  await client.act("verify_passcode", { code: await smtp.codeFor(address, since) });
  await client.act("register_password", { new_password: password });
  await client.act("skip");
  await client.start("profile");
  await client.act("register_client_capabilities", capable);
  await client.act("continue_to_otp_secret_creation");
  const secret = String(client.state.payload.otp_secret);
  await timeLeftInStep();
  // That of the step before, so that a later sign-in may use the present one.
  const told = smtp.messages.length;
  await client.act("otp_code_verify", { otp_code: authenticatorApp(secret).code(Date.now(), -1) });
  // The job of the notice charges a limit, which would be counted with the walk after it.
  await eventually(async () => expect(smtp.messages.length).toBeGreaterThan(told));
  return secret;
}

test("a registration with password and passkey takes 20 statements, its mail apart", async () => {
  const address = "grace@example.com";
  const register: Step[] = [
    ["start", (client) => client.start("registration")],
    capabilities,
    ["identifier", (client) => client.act("register_login_identifier", { email: address })],
    ["code", async (client) => client.act("verify_passcode", { code: await smtp.codeFor(address) })],
    ["password", (client) => client.act("register_password", { new_password: password })],
    ["options", (client) => client.act("webauthn_generate_creation_options")],
    [
      "passkey",
      (client) => {
        const created = authenticator.create(client.state.payload.creation_options, { origin: server.url });
        return client.act("webauthn_verify_attestation_response", { public_key: created });
      },
    ],
  ];
  const sent = await walk(register, "success");
  expect(numbersOf(sent), listOf(sent)).toEqual({
    start: 1,
    capabilities: 2,
    identifier: 4,
    code: 2,
    password: 2,
    options: 4,
    passkey: 5,
  });
});

test("a sign-in through a provider takes 15 statements, that of a new user too", async () => {
  // The first callback reads what the provider publishes.
  provider.signsIn({ sub: "first", email: "alan@example.com", email_verified: true });
  await walk(throughProvider, "success");
  const again = await walk(throughProvider, "success");
  expect(numbersOf(again), listOf(again)).toEqual({
    start: 1,
    capabilities: 2,
    leaving: 2,
    callback: 3,
    exchange: 7,
  });
  provider.signsIn({ sub: "second", email: "joan@example.com", email_verified: true, name: "Joan" });
  const signUp = await walk(throughProvider, "success");
  expect(numbersOf(signUp), listOf(signUp)).toEqual({ ...numbersOf(again), exchange: 7 });
  provider.signsIn({ sub: "second", email: "joan@example.com", email_verified: true, name: "Joan C." });
  const renamed = await walk(throughProvider, "success");
  expect(numbersOf(renamed), listOf(renamed)).toEqual(numbersOf(again));
});

describe("with a webhook", () => {
  // Sign-ins by password are limited in their rate.
  const passkeyLogin = [start, capabilities, showPasskey];
  let tenant: { id: string };
  beforeAll(async () => {
    const [found] = await database.database.read.select({ id: schema.tenants.id }).from(schema.tenants);
    tenant = { id: found?.id ?? "" };
    await storeWebhook({ database: database.database, tenant }, ["session"], {
      callback: "http://localhost:9/",
    });
    // Reaches `session.limit`.
    for (let signIns = 0; signIns < 5; signIns += 1) await signIn(passkeyLogin);
  });

  const stored = () => storedEvents({ database: database.database, tenant });

  test("the job of a mail asks for webhooks that it is for", async () => {
    const before = counter.sent.length;
    await walk([...first, chooseCode]);
    const ofMail = () => counter.sent.slice(before).filter(isOfMail);
    await eventually(async () =>
      expect(ofMail().map(({ statement }) => statement)).toEqual([
        "event_subscriber",
        "end_send_mail+audit+mail_outage_ended",
      ]),
    );
  });

  test("a sign-in at the limit of sessions takes one batch, which PostgreSQL does not refuse", async () => {
    const [refused, before] = [counter.errors.length, (await stored()).length];
    const login = await signIn(passkeyLogin);
    expect(counter.errors.slice(refused)).toEqual([]);
    expect(numbersOf(login), listOf(login)).toEqual({ start: 1, capabilities: 2, passkey: 4 });
    // One more than without a webhook: it completes the events by their user.
    expect(login.passkey?.filter((statement) => statement.startsWith("event_user+"))).toHaveLength(1);
    const told = (await stored()).slice(before).map(({ name }) => name);
    expect(told).toEqual(["session.delete.passive.limit", "session.create.flow"]);
  });
});
