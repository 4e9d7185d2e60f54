import { randomUUID } from "node:crypto";
import { and, desc, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { addEmail } from "../../identity/email/emails.ts";
import { readPicture, setUploadedPicture } from "../../identity/picture.ts";
import { codeChallengeOf } from "../../lib/pkce.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { jpegPicture } from "../../testing/jpeg-pictures.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, mailsTo, markedClient, newAddress, password, people } from "../../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../../testing/provider-people.ts";
import { type TestRuntime, testClient } from "../../testing/runtime.ts";
import type { ProviderFacts } from "../../thirdparty/provider-facts.ts";
import type { FlowCoverage } from "../coverage.ts";
import { states } from "../states/index.ts";

const taken: FlowCoverage = { edges: new Set(), errors: new Set() };
const { begin } = people(taken);

const runtime = await runtimeForTests({
  STILE_PASSKEY_ENABLED: "false",
  STILE_SAML_ENABLED: "true",
  ...acme(),
});

const home = "http://localhost:3000/";

/** Redirects to Acme and returns, without a real provider. */
async function flowAtAcme(as = runtime, type: "login" | "registration" = "login"): Promise<Walk> {
  const flow = await begin(as, type, {});
  await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
  expect(flow.state.name).toBe("thirdparty");
  return flow;
}

async function signInByAcme(
  facts: ProviderFacts,
  { as = runtime, type = "login" }: { as?: TestRuntime; type?: "login" | "registration" } = {},
): Promise<Walk> {
  const flow = await flowAtAcme(as, type);
  await flow.act("exchange_token", { token: await returnFromProvider(as, { flowId: flow.flowId, facts }) });
  return flow;
}

const db = () => runtime.database.read;
const identityOf = async ({ provider, subject }: ProviderFacts) => {
  const { identities: table } = schema;
  const [row] = await db()
    .select()
    .from(table)
    .where(and(eq(table.provider, provider), eq(table.subject, subject)));
  return row;
};
const userOf = async (facts: ProviderFacts) => {
  const identity = await identityOf(facts);
  const [user] = await db()
    .select()
    .from(schema.users)
    .where(eq(schema.users.id, identity?.userId ?? randomUUID()));
  return user;
};
const emailsOf = async (userId: string | undefined) => {
  const { emails: table } = schema;
  return db()
    .select()
    .from(table)
    .where(eq(table.userId, userId ?? randomUUID()));
};
const audited = async (userId: string | undefined) => {
  const { auditLogs: table } = schema;
  const rows = await db()
    .select()
    .from(table)
    .where(eq(table.userId, userId ?? randomUUID()));
  return rows.map(({ type }) => type);
};
const countUsers = async () => (await db().select({ id: schema.users.id }).from(schema.users)).length;

describe("the choice of a provider", () => {
  const google = {
    STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
    STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "client",
    STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "secret",
  };

  test("lists enabled providers, built-in ones first", async () => {
    const flow = await begin(runtime.configured(google), "login", {});
    const hidden = { type: "string", hidden: true };
    expect(flow.state.actions.thirdparty_oauth?.inputs).toEqual({
      provider: {
        ...hidden,
        name: "provider",
        required: true,
        allowed_values: [
          { name: "Google", value: "google" },
          { name: "Acme", value: "custom_acme" },
        ],
      },
      redirect_to: { ...hidden, name: "redirect_to", required: true },
      code_verifier: { ...hidden, name: "code_verifier", required: false, min_length: 43, max_length: 128 },
    });
  });

  test("lists them in the configured order", async () => {
    const settings = { ...google, STILE_THIRD_PARTY_ORDER: "custom_acme,github" };
    const flow = await begin(runtime.configured(settings), "login", {});
    const { allowed_values = [] } = flow.state.actions.thirdparty_oauth?.inputs.provider ?? {};
    expect(allowed_values.map(({ value }) => value)).toEqual(["custom_acme", "google"]);
  });

  test("is not offered if none is enabled", async () => {
    const flow = await begin(runtime.configured({ STILE_THIRD_PARTY_CUSTOM_PROVIDERS: "{}" }), "login", {});
    expect(flow.state.actions).not.toHaveProperty("thirdparty_oauth");
  });

  test.each(["google", "GOOGLE", "custom_", "__proto__", "", 7, null])(
    "rejects the provider %j, which is not enabled",
    async (provider) => {
      const flow = await begin(runtime, "login", {});
      await flow.act("thirdparty_oauth", { provider, redirect_to: home });
      expect(flow.state).toMatchObject({ name: "login_init", status: 400 });
      expect(flow.errors()[0]).toMatch(/^value_(invalid|missing)_error$/);
    },
  );

  test("redirects once, with a URL that is stored sealed", async () => {
    const flow = await begin(runtime, "registration", {});
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const address = new URL(String(flow.state.payload.redirect_url));
    expect(address.origin).toBe("https://acme.example");
    const state = address.searchParams.get("state") ?? "";
    expect(flow.answer.cookieChanges).toMatchObject({ thirdPartyState: { value: state, seconds: 600 } });
    const row = async () => {
      const rows = await db().select().from(schema.flows).where(eq(schema.flows.id, flow.flowId));
      return JSON.stringify(rows) + rows.map(({ sealedPayload }) => sealedPayload?.toString("latin1")).join();
    };
    expect(await row()).not.toContain(state);
    await flow.act("back");
    expect(flow.state).toMatchObject({ name: "registration_init", payload: {} });
  });
});

test("a provider states names and a picture at each login, but replaces no picture that the user uploaded", async () => {
  const facts = acmePerson({ name: "Ada King", picture: "https://p.example/1" });
  await signInByAcme(facts);
  const user = await userOf(facts);
  await signInByAcme({ ...facts, picture: "https://p.example/2" });
  expect(await userOf(facts)).toMatchObject({ picture: "https://p.example/2" });
  const picture = readPicture(jpegPicture("square").toString("base64url"));
  if (!user || !picture) throw new Error("there is no user or no picture");
  const uploaded = { userId: user.id, id: randomUUID(), picture, now: new Date() };
  await runtime.database.write.transaction((tx) => setUploadedPicture(tx, runtime.tenant.id, uploaded));
  await signInByAcme({ ...facts, name: "Ada Lovelace", picture: "https://p.example/3" });
  expect(await userOf(facts)).toMatchObject({
    name: "Ada Lovelace",
    picture: `/users/pictures/${uploaded.id}`,
  });
});

describe("a new user", () => {
  test.each(["login", "registration"] as const)("gets an account at once in a %s flow", async (type) => {
    const facts = acmePerson({ name: "Ada Lovelace", givenName: "Ada", picture: "https://p.example/ada" });
    const flow = await signInByAcme(facts, { type });
    expect(flow.state).toMatchObject({ name: "success", status: 200 });
    expect(flow.answer.session).toBeDefined();
    const user = await userOf(facts);
    expect(user).toMatchObject({
      name: "Ada Lovelace",
      givenName: "Ada",
      familyName: null,
      picture: "https://p.example/ada",
    });
    expect(await emailsOf(user?.id)).toMatchObject([
      { address: facts.email, isPrimary: true, verifiedAt: expect.any(Date) },
    ]);
    expect(await audited(user?.id)).toContain("thirdparty_signup_succeeded");
    expect(flow.state.payload).toMatchObject({
      claims: { amr: ["ext:custom_acme"] },
      user: { user_id: user?.id },
    });
  });

  test.each(["login", "registration"] as const)(
    "A43 must verify an unverified address in a %s flow",
    async (type) => {
      const facts = acmePerson({ emailVerified: false });
      const address = facts.email ?? "";
      const flow = await signInByAcme(facts, { type });
      expect(flow.state.name).toBe("passcode_confirmation");
      const user = await userOf(facts);
      expect(await emailsOf(user?.id)).toEqual([]);
      // back does not repeat the authentication at the provider.
      expect(flow.state.actions).not.toHaveProperty("back");
      await flow.act("verify_passcode", { code: codeFor(runtime, address) });
      expect(flow.state.name).toBe("success");
      expect(await emailsOf(user?.id)).toMatchObject([{ address, verifiedAt: expect.any(Date) }]);
    },
  );

  test("keeps an unverified address if verification is not required", async () => {
    const as = runtime.configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
    const facts = acmePerson({ emailVerified: false });
    expect((await signInByAcme(facts, { as })).state.name).toBe("success");
    expect(await emailsOf((await userOf(facts))?.id)).toMatchObject([
      { address: facts.email, verifiedAt: null },
    ]);
  });

  test("keeps an address that the operator trusts", async () => {
    const facts = acmePerson({ emailVerified: false, skipEmailVerification: true });
    expect((await signInByAcme(facts)).state.name).toBe("success");
    expect(await emailsOf((await userOf(facts))?.id)).toMatchObject([{ address: facts.email }]);
  });

  test("is asked for an address if the provider has none", async () => {
    const facts = acmePerson({ email: null, emailVerified: false });
    const flow = await signInByAcme(facts);
    expect(flow.state.name).toBe("onboarding_email");
    const address = newAddress();
    await flow.act("email_address_set", { email: address });
    await flow.act("verify_passcode", { code: codeFor(runtime, address) });
    expect(flow.state.name).toBe("success");
    expect(await emailsOf((await userOf(facts))?.id)).toMatchObject([{ address }]);
  });

  test("has no address if addresses are disabled", async () => {
    const as = runtime.configured({ STILE_EMAIL_ENABLED: "false", STILE_USERNAME_ENABLED: "true" });
    const facts = acmePerson();
    await signInByAcme(facts, { as });
    expect(await emailsOf((await userOf(facts))?.id)).toEqual([]);
  });

  test("is rejected if sign-up is disabled, and back works", async () => {
    const as = runtime.configured({ STILE_ACCOUNT_ALLOW_SIGNUP: "false" });
    const before = await countUsers();
    const flow = await signInByAcme(acmePerson(), { as });
    expect(flow.state).toMatchObject({ name: "thirdparty", status: 400, error: { code: "signup_disabled" } });
    expect(await countUsers()).toBe(before);
    await flow.act("back", {}, { runtime: as });
    expect(flow.state.name).toBe("login_init");
  });
});

describe("a known user", () => {
  test("gets the same account in any flow, whatever the current address", async () => {
    const facts = acmePerson({ name: "Before" });
    await signInByAcme(facts);
    const user = await userOf(facts);
    const after = { ...facts, email: newAddress(), name: "After" };
    for (const type of ["login", "registration"] as const) {
      const flow = await signInByAcme(after, { type });
      expect(flow.state).toMatchObject({ name: "success", payload: { user: { user_id: user?.id } } });
    }
    expect(await userOf(facts)).toMatchObject({ id: user?.id, name: "After" });
    expect(await identityOf(facts)).toMatchObject({ email: after.email });
    // The provider does not change the account's address.
    expect(await emailsOf(user?.id)).toMatchObject([{ address: facts.email }]);
    expect(await audited(user?.id)).toContain("thirdparty_signin_succeeded");
  });

  test("keeps names that the provider no longer reports", async () => {
    const facts = acmePerson({ name: "Ada", familyName: "Lovelace" });
    await signInByAcme(facts);
    const { name, familyName, ...others } = facts;
    await signInByAcme(others);
    expect(await userOf(facts)).toMatchObject({ name: "Ada", familyName: "Lovelace" });
  });

  test("A44 is distinct from the same subject at another provider", async () => {
    const facts = acmePerson();
    await signInByAcme(facts);
    const other = acmePerson({ provider: "google", subject: facts.subject });
    await signInByAcme(other);
    expect((await identityOf(other))?.userId).not.toBe((await identityOf(facts))?.userId);
  });

  test("shows the last login's provider", async () => {
    const facts = acmePerson();
    await signInByAcme(facts);
    const flow = await signInByAcme(facts);
    expect(flow.state.payload.last_login).toMatchObject({
      login_method: "third_party",
      third_party_provider: "custom_acme",
    });
  });
});

describe("a browser that signed in to the account with a provider", () => {
  const providersOf = ({ state }: Walk) =>
    (state.actions.thirdparty_oauth?.inputs.provider?.allowed_values ?? []).map(({ value }) => value);

  /** Enters the address of a person in the browser that the first sign-in left. */
  async function identify(facts: ProviderFacts, as = runtime, client = testClient) {
    const flow = await begin(as, "login", undefined, client);
    await flow.act("continue_with_login_identifier", { email: facts.email });
    return flow;
  }

  test("is offered it after the identifier, and signs in with it", async () => {
    const facts = acmePerson();
    const browser = markedClient(await signInByAcme(facts));
    const flow = await identify(facts, runtime, browser);
    expect(flow.state).toMatchObject({
      name: "login_method_chooser",
      payload: { last_method: "custom_acme" },
    });
    expect(providersOf(flow)).toEqual(["custom_acme"]);
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts });
    await flow.act("exchange_token", { token });
    expect(flow.state.name).toBe("success");
  });

  test("is offered the choice also where the account's own method is the only one", async () => {
    const as = runtime.configured({ STILE_PASSWORD_ENABLED: "false" });
    const facts = acmePerson();
    const browser = markedClient(await signInByAcme(facts, { as }));
    const flow = await identify(facts, as, browser);
    expect(flow.state.name).toBe("login_method_chooser");
    await flow.act("continue_to_passcode_confirmation");
    await flow.act("back");
    expect(providersOf(flow)).toEqual(["custom_acme"]);
  });

  test("tells another browser nothing", async () => {
    const facts = acmePerson();
    await signInByAcme(facts);
    const [known, unknown] = [await identify(facts), await identify(acmePerson())];
    expect(providersOf(known)).toEqual([]);
    expect(Object.keys(known.state.actions)).toEqual(Object.keys(unknown.state.actions));
  });

  test("is not offered a provider that is no longer enabled, or another account of it", async () => {
    const facts = acmePerson();
    const browser = markedClient(await signInByAcme(facts));
    const without = runtime.configured({ STILE_THIRD_PARTY_CUSTOM_PROVIDERS: "{}" });
    expect(providersOf(await identify(facts, without, browser))).toEqual([]);
    const flow = await identify(facts, runtime, browser);
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const other = acmePerson();
    const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts: other });
    await flow.act("exchange_token", { token });
    // The person who signed in there signs in here: the identifier was only a hint.
    expect(flow.state.name).toBe("success");
    expect(flow.state.payload.user).toMatchObject({ user_id: (await userOf(other))?.id });
  });
});

describe("an address of an account", () => {
  test("links the identity when both sides have verified it", async () => {
    const { userId, addresses } = await accountOwner(runtime);
    const facts = acmePerson({ email: addresses[0] ?? "" });
    const flow = await signInByAcme(facts);
    expect(flow.state).toMatchObject({ name: "success", payload: { user: { user_id: userId } } });
    expect((await identityOf(facts))?.userId).toBe(userId);
    expect(await audited(userId)).toContain("thirdparty_linking_succeeded");
  });

  test("links by an address that is not the primary one", async () => {
    const { userId, addresses } = await accountOwner(runtime, { emails: 2 });
    const facts = acmePerson({ email: addresses[1] ?? "" });
    await signInByAcme(facts);
    expect((await identityOf(facts))?.userId).toBe(userId);
  });

  test.each<[string, object, Partial<ProviderFacts>, object]>([
    [
      "A41 does not link an identity if the account has not verified it",
      { emails: 1, unverified: newAddress() },
      {},
      {},
    ],
    ["A43 does not link an identity if the provider has not verified it", {}, { emailVerified: false }, {}],
    [
      "does not link an identity if the provider is not trusted for linking",
      {},
      {},
      { allow_linking: false },
    ],
  ])("%s", async (_, has, reported, settings) => {
    const as = runtime.configured(acme(settings));
    const owner = await accountOwner(runtime, has);
    const email = "unverified" in has ? String(has.unverified) : (owner.addresses[0] ?? "");
    const facts = acmePerson({ email, ...reported });
    const flow = await signInByAcme(facts, { as });
    expect(flow.state).toMatchObject({ name: "thirdparty", status: 400, error: { code: "user_conflict" } });
    expect(flow.state.payload.taken_address).toBe(email);
    await flow.act("exchange_token", { token: "another" });
    expect(flow.state.payload).not.toHaveProperty("taken_address");
    expect(await identityOf(facts)).toBeUndefined();
    const [line] = await db()
      .select()
      .from(schema.auditLogs)
      .where(eq(schema.auditLogs.type, "thirdparty_signin_signup_failed"))
      .orderBy(desc(schema.auditLogs.createdAt))
      .limit(1);
    expect(line?.details).toMatchObject({ error: "user_conflict" });
    expect(flow.answer.session).toBeUndefined();
  });

  test("is not named where accounts do not sign in with addresses", async () => {
    const as = runtime.configured({
      ...acme({ allow_linking: false }),
      STILE_EMAIL_USE_AS_LOGIN_IDENTIFIER: "false",
      STILE_USERNAME_ENABLED: "true",
      STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "true",
    });
    const { addresses } = await accountOwner(runtime);
    const flow = await signInByAcme(acmePerson({ email: addresses[0] ?? "" }), { as });
    expect(flow.state).toMatchObject({ name: "thirdparty", error: { code: "user_conflict" } });
    expect(flow.state.payload).not.toHaveProperty("taken_address");
  });

  test("is rejected if another account takes it concurrently, and nothing is written", async () => {
    const facts = acmePerson();
    const flow = await flowAtAcme();
    const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts });
    const before = await countUsers();
    const owner = await accountOwner(runtime, { emails: 0 });
    const { database, tenant } = runtime;
    const now = new Date();
    // Another account takes the address between judging and writing.
    const newOwner = { userId: owner.userId, address: facts.email ?? "", isPrimary: true, verifiedAt: now };
    let done = false;
    const connect = async () => {
      if (!done)
        await database.write.transaction((tx) =>
          addEmail(tx, tenant.id, { ...newOwner, id: randomUUID(), now }),
        );
      done = true;
      return database.write.$client.connect();
    };
    const write = Object.create(database.write, { $client: { value: { connect } } });
    const conflicting: TestRuntime = { ...runtime, database: { ...database, write } };
    await flow.act("exchange_token", { token }, { runtime: conflicting });
    expect(flow.state).toMatchObject({ name: "thirdparty", error: { code: "user_conflict" } });
    expect(await identityOf(facts)).toBeUndefined();
    expect(await countUsers()).toBe(before + 1);
    // The token can be tried again, and now finds an account with that address.
    await flow.act("exchange_token", { token });
    expect(flow.state).toMatchObject({ name: "success", payload: { user: { user_id: owner.userId } } });
  });
});

describe("an account with a second factor", () => {
  /** Registers a user with a password and an authenticator app. */
  async function withApp() {
    const email = newAddress();
    const as = runtime.configured({
      STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
      STILE_MFA_DEVICE_TRUST_POLICY: "never",
    });
    const flow = await begin(as, "registration", {});
    await flow.act("register_login_identifier", { email });
    await flow.act("verify_passcode", { code: codeFor(as, email) });
    await flow.act("register_password", { new_password: password });
    if (flow.state.name === "mfa_method_chooser") await flow.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(flow.state.payload.otp_secret));
    await flow.act("otp_code_verify", { otp_code: app.code(Date.now() + runtime.platform.clockShift()) });
    expect(flow.state.name).toBe("success");
    runtime.advanceClock(30);
    return { email, as, code: () => app.code(Date.now() + runtime.platform.clockShift()) };
  }

  test("is linked after the second factor is verified, and not before", async () => {
    const { email, as, code } = await withApp();
    const facts = acmePerson({ email, name: "Ada" });
    const flow = await signInByAcme(facts, { as });
    expect(flow.state.name).toBe("login_otp");
    expect(await identityOf(facts)).toBeUndefined();
    await flow.act("otp_code_validate", { otp_code: code() }, { runtime: as });
    expect(flow.state.name).toBe("success");
    expect(await userOf(facts)).toMatchObject({ name: "Ada" });
    expect(mailsTo(as, email).filter((mail) => mail === "identity_create")).toHaveLength(1);
  });

  test("requires the second factor after a linked identity too, unless the provider is trusted for it", async () => {
    const { email, as, code } = await withApp();
    const facts = acmePerson({ email });
    const first = await signInByAcme(facts, { as });
    await first.act("otp_code_validate", { otp_code: code() }, { runtime: as });
    expect((await signInByAcme(facts, { as })).state.name).toBe("login_otp");
    expect((await signInByAcme({ ...facts, satisfiesMfa: true }, { as })).state.name).toBe("success");
  });

  test("is not linked without the second factor, even by a provider that is trusted for it", async () => {
    const { email, as } = await withApp();
    const facts = acmePerson({ email, satisfiesMfa: true });
    expect((await signInByAcme(facts, { as })).state.name).toBe("login_otp");
    expect(await identityOf(facts)).toBeUndefined();
  });

  test("does not get an identity that another account linked concurrently", async () => {
    const { email, as, code } = await withApp();
    const facts = acmePerson({ email });
    const flow = await signInByAcme(facts, { as });
    const other = await signInByAcme(acmePerson());
    const taker = (other.state.payload.user as { user_id: string }).user_id;
    await runtime.database.write.insert(schema.identities).values({
      tenantId: runtime.tenant.id,
      id: randomUUID(),
      userId: taker,
      provider: facts.provider,
      subject: facts.subject,
    });
    await flow.act("otp_code_validate", { otp_code: code() }, { runtime: as });
    expect(flow.state).toMatchObject({ name: "login_otp", error: { code: "identity_already_linked" } });
    runtime.advanceClock(30);
    await flow.act("otp_code_validate", { otp_code: code() }, { runtime: as });
    expect(flow.state.name).toBe("success");
    expect((await identityOf(facts))?.userId).toBe(taker);
  });
});

describe("the account of a signed-in user", () => {
  /** A profile flow at the provider. */
  async function connecting() {
    const owner = await accountOwner(runtime);
    const flow = await owner.manage({ taken });
    await flow.act("connect_thirdparty_oauth_provider", { provider: "custom_acme", redirect_to: home });
    expect(flow.state.name).toBe("thirdparty");
    const binding = { flowId: flow.flowId, userId: owner.userId };
    const exchange = async (facts: ProviderFacts, more = {}) =>
      flow.act("exchange_token", {
        token: await returnFromProvider(runtime, { ...binding, facts, ...more }),
      });
    return { owner, flow, exchange };
  }

  test("gets the identity, whatever its address", async () => {
    const { owner, flow, exchange } = await connecting();
    const facts = acmePerson({ email: null, emailVerified: false });
    await exchange(facts);
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    expect((await identityOf(facts))?.userId).toBe(owner.userId);
    expect(flow.state.payload).toMatchObject({ user: { identities: [{ id: facts.subject }] } });
    expect(flow.answer.session).toBeUndefined();
  });

  test("keeps an identity that it has already", async () => {
    const { owner, flow, exchange } = await connecting();
    const facts = acmePerson();
    await runtime.database.write.insert(schema.identities).values({
      tenantId: runtime.tenant.id,
      id: randomUUID(),
      userId: owner.userId,
      provider: facts.provider,
      subject: facts.subject,
    });
    await exchange(facts);
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
  });

  test("A44 does not get the identity of another account", async () => {
    const facts = acmePerson();
    await signInByAcme(facts);
    const { flow, exchange } = await connecting();
    await exchange(facts);
    expect(flow.state).toMatchObject({ name: "thirdparty", error: { code: "identity_already_linked" } });
    await flow.act("back");
    expect(flow.state.name).toBe("profile_init");
  });

  test("A130 is not reauthenticated by a return that was asked for to connect, nor the reverse", async () => {
    const owner = await accountOwner(runtime, { password: true }, { secondsAgo: 3600 });
    const own = acmePerson();
    const identity = { tenantId: runtime.tenant.id, id: randomUUID(), userId: owner.userId };
    await runtime.database.write
      .insert(schema.identities)
      .values({ ...identity, provider: own.provider, subject: own.subject });
    const flow = await owner.manage({ taken });
    await flow.act("password_update", { password: "nine otters under the bridge" });
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const about = { flowId: flow.flowId, userId: owner.userId, facts: own };
    // The provider was not asked to authenticate the user again.
    await flow.act("exchange_token", { token: await returnFromProvider(runtime, about) });
    expect(flow.state).toMatchObject({ name: "thirdparty", error: { code: "form_data_invalid_error" } });
    const token = await returnFromProvider(runtime, { ...about, reauthenticates: true });
    expect(await flow.act("exchange_token", { token })).toMatchObject({
      name: "profile_init",
      payload: { performed_action: "password_update" },
    });

    const { exchange, flow: connects } = await connecting();
    await exchange(acmePerson(), { reauthenticates: true });
    expect(connects.state).toMatchObject({ name: "thirdparty", error: { code: "form_data_invalid_error" } });
  });

  test("is not reauthenticated by an identity that it does not have", async () => {
    const identities = ["custom_acme"];
    const owner = await accountOwner(runtime, { password: true, identities }, { secondsAgo: 3600 });
    const flow = await owner.manage({ taken });
    await flow.act("email_create", { email: newAddress() });
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const facts = acmePerson();
    const binding = { flowId: flow.flowId, userId: owner.userId };
    const token = await returnFromProvider(runtime, { ...binding, facts, reauthenticates: true });
    expect(await flow.act("exchange_token", { token })).toMatchObject({
      name: "thirdparty",
      error: { code: "identity_not_linked" },
    });
    expect(await identityOf(facts)).toBeUndefined();
  });

  test("rejects a token of another account, or of none", async () => {
    const { flow, exchange } = await connecting();
    await exchange(acmePerson(), { userId: randomUUID() });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    await exchange(acmePerson(), { userId: undefined });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
  });
});

describe("an exchange token", () => {
  const rejected = { name: "thirdparty", status: 400, error: { code: "form_data_invalid_error" } };
  const tokenError = (flow: Walk) => flow.state.actions.exchange_token?.inputs.token?.error?.code;

  test("redirects to the page, not to the provider, if it is rejected", async () => {
    const flow = await flowAtAcme();
    expect(String(flow.state.payload.redirect_url)).toContain("state=");
    await flow.act("exchange_token", { token: "A".repeat(43) });
    const back = new URL(String(flow.state.payload.redirect_url));
    expect([back.origin, back.searchParams.get("error")]).toEqual([new URL(home).origin, "invalid_request"]);
    expect(back.searchParams.has("state")).toBe(false);
  });

  test.each(["", "x", "\0", "💥", "x".repeat(600), "A".repeat(43)])(
    "A45 is rejected if it was not issued, such as %j",
    async (token) => {
      const flow = await flowAtAcme();
      await flow.act("exchange_token", { token });
      expect(flow.state).toMatchObject(rejected);
      expect(tokenError(flow)).toMatch(/^value_/);
    },
  );

  test("is valid once", async () => {
    const flow = await flowAtAcme();
    const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts: acmePerson() });
    await flow.act("exchange_token", { token });
    const again = await flowAtAcme();
    await again.act("exchange_token", { token });
    expect(again.state).toMatchObject(rejected);
  });

  test("A49 is accepted in one of fifty concurrent requests", async () => {
    const facts = acmePerson();
    const flow = await flowAtAcme();
    const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts });
    const { csrf_token } = flow.state;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => flow.act("exchange_token", { token }, { token: csrf_token })),
    );
    expect(answers.filter(({ name }) => name === "success")).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(49);
    expect(await emailsOf((await userOf(facts))?.id)).toHaveLength(1);
  });

  test("A49 is rejected in another flow, and stays valid in its own", async () => {
    const [flow, otherFlow] = [await flowAtAcme(), await flowAtAcme()];
    const token = await returnFromProvider(runtime, { flowId: otherFlow.flowId, facts: acmePerson() });
    await flow.act("exchange_token", { token });
    expect(flow.state).toMatchObject(rejected);
    expect(tokenError(flow)).toBe("value_invalid_error");
    await otherFlow.act("exchange_token", { token });
    expect(otherFlow.state.name).toBe("success");
  });

  test("is rejected in other flows if its flow is provider-initiated", async () => {
    const flow = await flowAtAcme();
    await flow.act("exchange_token", { token: await returnFromProvider(runtime, { facts: acmePerson() }) });
    expect(flow.state).toMatchObject(rejected);
  });

  test("is accepted only by a token_exchange flow if its flow is provider-initiated", async () => {
    const flow = await walk(runtime, "token_exchange", { taken });
    expect(flow.state).toMatchObject({ name: "thirdparty", payload: {} });
    expect(Object.keys(flow.state.actions)).toEqual(["exchange_token"]);
    const tokenOfFlow = await returnFromProvider(runtime, { flowId: flow.flowId, facts: acmePerson() });
    await flow.act("exchange_token", { token: tokenOfFlow });
    expect(flow.state).toMatchObject(rejected);
    await flow.act("exchange_token", { token: await returnFromProvider(runtime, { facts: acmePerson() }) });
    expect(flow.state.name).toBe("success");
  });

  test("expires after sixty seconds", async () => {
    const flow = await flowAtAcme();
    const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts: acmePerson() });
    runtime.advanceClock(61);
    await flow.act("exchange_token", { token });
    expect(flow.state).toMatchObject(rejected);
  });

  test("A47 requires the verifier of its code challenge", async () => {
    const verifier = "v".repeat(43);
    const flow = await flowAtAcme();
    const codeChallenge = codeChallengeOf(verifier);
    const token = await returnFromProvider(runtime, {
      flowId: flow.flowId,
      facts: acmePerson(),
      codeChallenge,
    });
    for (const wrong of [
      undefined,
      "w".repeat(43),
      codeChallenge,
      "v".repeat(42),
      "v".repeat(129),
      `${verifier} `,
    ]) {
      await flow.act("exchange_token", { token, code_verifier: wrong });
      expect(flow.state).toMatchObject(rejected);
    }
    expect(flow.state.actions.exchange_token?.inputs.code_verifier?.error).toBeDefined();
    await flow.act("exchange_token", { token, code_verifier: verifier });
    expect(flow.state.name).toBe("success");
  });

  test("is limited to three tries per minute and source", async () => {
    const as = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const flow = await flowAtAcme(as);
    for (let tries = 0; tries < 3; tries += 1) {
      await flow.act("exchange_token", { token: "no" }, { runtime: as });
      expect(flow.state.status).toBe(400);
    }
    const token = await returnFromProvider(as, { flowId: flow.flowId, facts: acmePerson() });
    await flow.act("exchange_token", { token }, { runtime: as });
    expect(flow.state).toMatchObject({
      name: "thirdparty",
      status: 429,
      payload: { retry_after: expect.any(Number), resend_after: expect.any(Number) },
    });
    // The token was not used.
    await flow.act("exchange_token", { token }, { runtime });
    expect(flow.state.name).toBe("success");
  });

  test("is stored as a hash, and its content sealed", async () => {
    const facts = acmePerson({ name: "Ada Lovelace" });
    const flow = await flowAtAcme();
    const token = await returnFromProvider(runtime, { flowId: flow.flowId, facts });
    const rows = await db()
      .select()
      .from(schema.exchangeTokens)
      .where(eq(schema.exchangeTokens.flowId, flow.flowId));
    const stored = JSON.stringify(rows) + rows.map(({ sealed }) => sealed.toString("latin1")).join();
    for (const secret of [token, "Ada Lovelace", facts.subject, facts.email ?? ""])
      expect(stored).not.toContain(secret);
  });
});

describe("the declarations of thirdparty", () => {
  const at = (state: "thirdparty" | "login_init" | "registration_init") =>
    Object.entries(states[state].actions);

  test("every edge was taken, and every error was returned", () => {
    for (const [name, { to, errors }] of at("thirdparty")) {
      for (const target of to)
        for (const flow of name === "back"
          ? ["login"]
          : ["login", "registration", "profile", "token_exchange"])
          expect([...taken.edges]).toContain(`${flow} thirdparty ${name} ${target}`);
      for (const code of errors) expect([...taken.errors]).toContain(`thirdparty ${name} ${code}`);
    }
  });
});
