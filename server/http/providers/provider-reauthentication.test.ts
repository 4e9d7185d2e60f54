import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { json, startFakeProvider } from "../../testing/fake-provider.ts";
import { startOidcProvider } from "../../testing/oidc-provider.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { type RestWalk, restWalk } from "../../testing/rest-walk.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** Reauthentication of accounts that only an identity provider lets in. */

const home = "http://localhost:3000/";
const change = { password: "nine otters under the bridge" };
const saml = samlIdentityProvider();

const acme = await openForTests(startOidcProvider([`${home}thirdparty/callback`]));
const fake = await openForTests(startFakeProvider("client"));
const { acme: settings } = JSON.parse(acme.settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "");
const base = await runtimeForTests({
  STILE_PASSKEY_ENABLED: "false",
  STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
  STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
    acme: settings,
    fake: { display_name: "Fake", client_id: "client", secret: "secret", issuer: fake.issuer },
  }),
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    { name: "Example", domains: ["example.org"], metadata: saml.metadata, skip_email_verification: true },
  ]),
});

/** A new user of Acme; returns the name to sign in with. */
function acmeUser(): string {
  const name = randomUUID();
  acme.person(name, { email: newAddress(), email_verified: true });
  return name;
}

/** Follows the callback, and returns the parameters of the address that the browser lands at. */
async function land(browser: Visitor, callback: URL): Promise<URLSearchParams> {
  const response = await browser.request(callback.pathname + callback.search);
  return new URL(response.headers.get("location") ?? "").searchParams;
}

const redirectOf = (flow: RestWalk) => String(flow.state.payload.redirect_url);

/** A user who signed up through Acme an hour ago, and whose sessions are all as old. */
async function acmeOwner(): Promise<{ name: string; browser: Visitor; userId: string }> {
  const name = acmeUser();
  const flow = await restWalk(base, "login");
  await flow.act("register_client_capabilities");
  await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
  const landed = await land(flow.visitor, await acme.signIn(redirectOf(flow), name));
  await flow.act("exchange_token", { token: landed.get("hanko_token") });
  return { name, browser: flow.visitor, userId: await aged(flow) };
}

/** Makes the sessions of a user who has just signed in an hour old. */
async function aged(flow: RestWalk): Promise<string> {
  const { subject } = flow.state.payload.claims as { subject: string };
  await base.database.write.$client.query(
    "update sessions set authenticated_at = authenticated_at - interval '1 hour' where user_id = $1",
    [subject],
  );
  return subject;
}

/** Starts a change of the account that requires reauthentication. */
async function wantsPassword(browser: Visitor): Promise<RestWalk> {
  const flow = await restWalk(base, "profile", browser);
  await flow.act("register_client_capabilities");
  await flow.act("password_create", change);
  return flow;
}

const contentsOf = async (userId: string) => {
  const { identities, passwords, sessions } = schema;
  const read = (table: typeof identities | typeof passwords | typeof sessions) =>
    base.database.read.select().from(table).where(eq(table.userId, userId));
  return JSON.stringify([await read(identities), await read(passwords), await read(sessions)]);
};

describe("an account that only an OpenID Connect provider lets in", () => {
  test("reauthenticates there, and the change is made", async () => {
    const { name, browser } = await acmeOwner();
    const before = browser.cookies.get("service");
    const flow = await wantsPassword(browser);
    expect(flow.state.name).toBe("login_method_chooser");
    expect(Object.keys(flow.state.actions).sort()).toEqual(["back", "thirdparty_oauth"]);
    expect(flow.state.actions.thirdparty_oauth?.inputs.provider).toMatchObject({
      allowed_values: [{ name: "Acme", value: "custom_acme" }],
    });
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const url = new URL(redirectOf(flow));
    expect([url.searchParams.get("prompt"), url.searchParams.get("max_age")]).toEqual(["login", "0"]);
    const landed = await land(browser, await acme.signIn(url.href, name));
    expect(await flow.act("exchange_token", { token: landed.get("hanko_token") })).toMatchObject({
      name: "profile_init",
      status: 200,
      payload: { performed_action: "password_create", user: { identities: [{ provider: "Acme" }] } },
    });
    expect(browser.cookies.get("service")).not.toBe(before);
    const validated = await (await browser.request("/sessions/validate")).json();
    expect(validated).toMatchObject({ is_valid: true, claims: { amr: ["ext:custom_acme"] } });
  });

  test("A130 is not proved by another identity, which is not linked either", async () => {
    const { browser, userId } = await acmeOwner();
    const flow = await wantsPassword(browser);
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const before = await contentsOf(userId);
    const landed = await land(browser, await acme.signIn(redirectOf(flow), acmeUser()));
    expect(await flow.act("exchange_token", { token: landed.get("hanko_token") })).toMatchObject({
      name: "thirdparty",
      status: 400,
      payload: { redirect_url: expect.stringContaining("error=identity_not_linked") },
    });
    expect(await contentsOf(userId)).toBe(before);
    await flow.act("back");
    await flow.act("back");
    expect((await flow.act("password_create", change)).name).toBe("login_method_chooser");
  });

  test("A130 is not proved by the identity of another account", async () => {
    const other = await acmeOwner();
    const { browser, userId } = await acmeOwner();
    const flow = await wantsPassword(browser);
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const before = await contentsOf(userId);
    const landed = await land(browser, await acme.signIn(redirectOf(flow), other.name));
    expect((await flow.act("exchange_token", { token: landed.get("hanko_token") })).status).toBe(400);
    expect(await contentsOf(userId)).toBe(before);
  });

  test("can go back, and abandons the change", async () => {
    const { browser } = await acmeOwner();
    const flow = await wantsPassword(browser);
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    expect((await flow.act("back")).name).toBe("login_method_chooser");
    expect((await flow.act("back")).name).toBe("profile_init");
  });

  test("has to verify its second factor too", async () => {
    const { name, browser, userId } = await acmeOwner();
    const enrolment = await wantsPassword(browser);
    const prove = async (flow: RestWalk) => {
      await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
      const landed = await land(browser, await acme.signIn(redirectOf(flow), name));
      return flow.act("exchange_token", { token: landed.get("hanko_token") });
    };
    await prove(enrolment);
    const { payload } = await enrolment.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(payload.otp_secret));
    await enrolment.act("otp_code_verify", { otp_code: app.code(Date.now()) });
    await base.database.write.$client.query(
      "update sessions set authenticated_at = authenticated_at - interval '1 hour' where user_id = $1",
      [userId],
    );
    const flow = await restWalk(base, "profile", browser);
    await flow.act("register_client_capabilities");
    await flow.act("otp_secret_delete");
    expect((await prove(flow)).name).toBe("login_otp");
    const otp_code = app.code(Date.now() + 30_000);
    expect(await flow.act("otp_code_validate", { otp_code })).toMatchObject({
      name: "profile_init",
      payload: { performed_action: "otp_secret_delete" },
    });
  });
});

describe("the time of authentication that a provider states", () => {
  /** Returns from the provider `Fake`, whose ID token has further claims. */
  async function returnWith(flow: RestWalk, subject: string, claims: object): Promise<URLSearchParams> {
    const url = new URL(redirectOf(flow));
    const user = { sub: subject, email: `${subject}@example.com`, email_verified: true };
    fake.claims = { ...user, nonce: url.searchParams.get("nonce"), ...claims };
    fake.answers["/userinfo"] = (response) => json(response, user);
    const callback = new URL(`${home}thirdparty/callback`);
    callback.searchParams.set("code", "code");
    callback.searchParams.set("state", url.searchParams.get("state") ?? "");
    return land(flow.visitor, callback);
  }

  const now = () => Math.floor(Date.now() / 1000);

  test.each([
    ["is an hour old", () => ({ auth_time: now() - 3600 })],
    ["is missing", () => ({})],
  ])("that %s proves nothing", async (_, claims) => {
    const subject = randomUUID();
    const login = await restWalk(base, "login");
    await login.act("register_client_capabilities");
    await login.act("thirdparty_oauth", { provider: "custom_fake", redirect_to: home });
    const signedIn = await returnWith(login, subject, {});
    await login.act("exchange_token", { token: signedIn.get("hanko_token") });
    await aged(login);

    const flow = await wantsPassword(login.visitor);
    await flow.act("thirdparty_oauth", { provider: "custom_fake", redirect_to: home });
    const landed = await returnWith(flow, subject, claims());
    expect([landed.get("error"), landed.get("hanko_token")]).toEqual(["access_denied", null]);

    await flow.act("back");
    await flow.act("thirdparty_oauth", { provider: "custom_fake", redirect_to: home });
    const again = await returnWith(flow, subject, { auth_time: now() });
    expect((await flow.act("exchange_token", { token: again.get("hanko_token") })).payload).toMatchObject({
      performed_action: "password_create",
    });
  });
});

describe("an account that only a SAML provider lets in", () => {
  const sp = { consumerUrl: `${home}saml/callback`, audience: "http://localhost:3000" };

  /** Answers the request that a flow redirected to, as a user of the provider. */
  async function answer(flow: RestWalk, nameId: string, more: object = {}): Promise<URLSearchParams> {
    const request = saml.read(redirectOf(flow));
    const SAMLResponse = await saml.answer({
      ...sp,
      nameId,
      attributes: { email: `${nameId}@example.org` },
      inResponseTo: request.id,
      ...more,
    });
    const response = await flow.visitor.request("/saml/callback", {
      method: "POST",
      body: new URLSearchParams({ SAMLResponse, RelayState: request.relayState }),
    });
    return new URL(response.headers.get("location") ?? "").searchParams;
  }

  async function samlOwner(): Promise<{ nameId: string; browser: Visitor }> {
    const nameId = randomUUID();
    const flow = await restWalk(base, "login", visitor(base));
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email: `${nameId}@example.org` });
    const landed = await answer(flow, nameId);
    await flow.act("exchange_token", { token: landed.get("hanko_token") });
    await aged(flow);
    return { nameId, browser: flow.visitor };
  }

  test("reauthenticates there, and the change is made", async () => {
    const { nameId, browser } = await samlOwner();
    const flow = await wantsPassword(browser);
    const provider = `saml:${saml.entityId}`;
    expect(flow.state.actions.thirdparty_oauth?.inputs.provider).toMatchObject({
      allowed_values: [{ name: "Example", value: provider }],
    });
    await flow.act("thirdparty_oauth", { provider, redirect_to: home });
    expect(saml.read(redirectOf(flow)).forceAuthn).toBe(true);
    const landed = await answer(flow, nameId);
    expect(await flow.act("exchange_token", { token: landed.get("hanko_token") })).toMatchObject({
      name: "profile_init",
      payload: { performed_action: "password_create" },
    });
  });

  test("is not proved by an earlier authentication", async () => {
    const { nameId, browser } = await samlOwner();
    const flow = await wantsPassword(browser);
    await flow.act("thirdparty_oauth", { provider: `saml:${saml.entityId}`, redirect_to: home });
    const landed = await answer(flow, nameId, { authenticatedAt: new Date(Date.now() - 3_600_000) });
    expect([landed.get("error"), landed.get("hanko_token")]).toEqual(["invalid_request", null]);
  });

  test("is not proved by another user of the provider", async () => {
    const { browser } = await samlOwner();
    const flow = await wantsPassword(browser);
    await flow.act("thirdparty_oauth", { provider: `saml:${saml.entityId}`, redirect_to: home });
    const landed = await answer(flow, randomUUID());
    expect((await flow.act("exchange_token", { token: landed.get("hanko_token") })).status).toBe(400);
  });

  test("rejects a return address that is not allowed", async () => {
    const { browser } = await samlOwner();
    const flow = await wantsPassword(browser);
    const input = { provider: `saml:${saml.entityId}`, redirect_to: "https://evil.example/" };
    expect((await flow.act("thirdparty_oauth", input)).actions.thirdparty_oauth?.inputs).toMatchObject({
      redirect_to: { error: { code: "value_invalid_error" } },
    });
  });
});
