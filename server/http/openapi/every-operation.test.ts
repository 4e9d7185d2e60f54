import { createHash, randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { registeredClientStorage } from "../../openid/registered-clients.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { authenticatorApplication } from "../../testing/authenticator-application.ts";
import { deviceBoundBrowser } from "../../testing/device-bound-browser.ts";
import { documentedCalls } from "../../testing/documented-calls.ts";
import { send } from "../../testing/observed.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { passkeyApplication } from "../../testing/passkey-application.ts";
import { mailedCode, mailedLink, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import { logoutQuery, nameIdXml } from "../../testing/saml-logout.ts";
import { userWithEverything } from "../../testing/user-with-everything.ts";
import { visitor } from "../../testing/visitor.ts";
import { themeFiles } from "../../theme/theme-files.ts";
import { providerNetwork } from "../../thirdparty/provider-fetch.ts";
import { addresses } from "../addresses.ts";

/** Calls every operation, and compares requests and answers with the document. The calls are its examples. */

const returnTo = "https://shop.test/back";
const runtime = await runtimeForTests({
  STILE_HOSTED_ALLOWED_REDIRECT_URLS: returnTo,
  STILE_PHONE_ENABLED: "true",
  STILE_PHONE_USE_AS_LOGIN_IDENTIFIER: "false",
  STILE_PHONE_ALLOWED_COUNTRIES: "DE",
  STILE_JOBS_SECRET: "a secret of sixteen characters or more",
  STILE_WEBAUTHN_RELATED_ORIGINS: "https://shop.test",
  STILE_WELL_KNOWN_SECURITY_TXT_CONTACT: "mailto:security@shop.test",
  STILE_WELL_KNOWN_SECURITY_TXT_EXPIRES: "2999-01-31T12:00:00Z",
  STILE_WELL_KNOWN_APPLE_APPS: "A1B2C3D4E5.test.shop.app",
  STILE_WELL_KNOWN_ANDROID_APPS: JSON.stringify([
    { package_name: "test.shop.app", sha256_cert_fingerprints: [Array(32).fill("AB").join(":")] },
  ]),
  STILE_THEME_FAVICON: "data:image/png;base64,iVBORw0KGgo=",
});
const calls = documentedCalls(runtime);
const { called, differences, examples } = calls;

const email = "ada@example.com";

/** Path parameters of what exists, by the first segment of the address. */
type Things = Record<string, Record<string, string>>;

interface AdminRequest {
  query?: string;
  body?: unknown;
  /** The path parameter that the id in the answer becomes, or the first of them. */
  keeps?: string;
  /** What has to happen before, outside the interface. */
  prepare?: () => Promise<unknown>;
  /** Whether the key is one of the tenant that `createTenant` made. */
  ofTenant?: true;
}

const webhook = { callback: "https://shop.test/hooks", events: ["user"] };
const samlProvider = { name: "Acme", domain: "acme.test" };

/** Makes every delivery one that its receiver has accepted. */
async function deliver(): Promise<void> {
  await runtime.database.write.execute(sql`
    with delivered as (
      update webhook_deliveries set state = 'delivered', attempts = 1, finished_at = now()
      where state = 'waiting' returning tenant_id, id
    )
    insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms, status)
    select tenant_id, id, 1, now(), 40, 204 from delivered
  `);
}

/** Records what was performed so far. */
const recorded = () => runtime.recorder.flush();

/** Gives each tenant but the default one a user who has nothing. */
const insertUserOfTenants = () =>
  runtime.database.write.execute(sql`
    insert into users (tenant_id, id) select id, gen_random_uuid() from tenants where id <> ${runtime.tenant.id}`);

/** Allows an application of each user something. */
const consent = () =>
  runtime.database.write.execute(sql`
    insert into openid_consents (tenant_id, user_id, client_id, allowed)
    select tenant_id, id, 'shop', '{"scopes":["openid","email"],"claims":[],"resources":{}}' from users
    on conflict do nothing`);

/** Registers an application at each tenant. */
async function registerClients(): Promise<void> {
  const { rows } = await runtime.database.read.execute<{ id: string }>(sql`select id from tenants`);
  for (const { id } of rows) {
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) continue;
    const registered = { client_name: "Notes", redirect_uris: ["https://notes.test/back"] };
    await registeredClientStorage({ runtime, tenant }, "RS256").upsert(
      `registered-${"n".repeat(22)}`,
      { ...registered, client_id_issued_at: 1_767_225_600 } as never,
      0,
    );
  }
}

/** Refuses the first record of every import, as its job does. */
async function refuse(): Promise<void> {
  await runtime.database.write.execute(sql`
    insert into uploaded_refusals (tenant_id, import_id, record, line, reason)
    select tenant_id, id, 1, 1, 'the username is in use' from uploaded_imports`);
}

/** A request for each operation of the administration interface, in an order in which all of them succeed. */
/** Answers the requests of checks. */
const noProviders = async () => {
  providerNetwork(runtime).fetch = async () => new Response(null, { status: 503 });
};

/** Makes signing keys old enough to be replaced. */
const ageSigningKeys = async () =>
  void (await runtime.database.write.execute(
    "update signing_keys set created_at = created_at - interval '1 hour'",
  ));

const adminRequests: Record<string, AdminRequest> = {
  createWebhook: { body: webhook, keeps: "id" },
  listWebhooks: {},
  getWebhook: {},

  createUser: {
    body: {
      emails: [{ address: "grace@shop.test", is_primary: true, is_verified: true }],
      username: "grace",
    },
  },
  listUsers: { query: "?email=grace&per_page=1" },
  getUser: {},
  listUserLoginMethods: {},
  getUserTimeline: { query: "?limit=2&kind=change,sign_in" },
  exportUsers: { query: "?q=grace" },
  actOnUsers: { body: ({ users }: Things) => ({ action: "unblock", user_ids: [users?.id] }) },
  previewUserDeletion: {},
  offerUserRecovery: {},
  updateUser: { body: { name: "Ada Lovelace", picture: "https://shop.test/ada.png" } },
  listUserTrustedBrowsers: {},
  deleteUserTrustedBrowser: {},
  deleteUserTrustedBrowsers: {},
  blockUser: {},
  unblockUser: {},
  listUserApplications: { prepare: consent, query: "?per_page=1", keeps: "client_id" },
  endUserApplication: {},
  setConsoleRole: { body: { role: "auditor" } },
  listConsoleRoles: {},
  deleteConsoleRole: {},
  createSession: { body: ({ users }: Things) => ({ user_id: users?.id, ip_address: "192.0.2.7" }) },
  listUserSessions: { keeps: "session_id" },
  endUserSession: {},
  endUserSessions: {},
  listUserEmails: {},
  getUserEmail: {},
  setPrimaryUserEmail: {},
  createUserEmail: { body: { address: "ada@shop.test", is_verified: true }, keeps: "email_id" },
  verifyUserEmail: {},
  deleteUserEmail: {},
  getUsername: {},
  setUsername: { body: { username: "lovelace" } },
  deleteUsername: {},
  setPhoneNumber: { body: { phone_number: "+49 1511 2345678" } },
  getPhoneNumber: {},
  deletePhoneNumber: {},
  patchUserMetadata: { body: { public_metadata: { plan: "team" } } },
  getUserMetadata: {},
  listUserIdentities: {},
  deleteUserIdentity: {},
  getUserPassword: {},
  updateUserPassword: { body: { password } },
  deleteUserPassword: {},
  createUserPassword: { body: { password } },
  getUserOtp: {},
  countUserRecoveryCodes: {},
  replaceUserRecoveryCodes: {},
  deleteUserRecoveryCodes: {},
  listUserPhones: {},
  deleteUserPhone: {},
  listUserCredentials: {},
  getUserCredential: {},
  renameUserCredential: { body: { name: "Laptop" } },
  deleteUserCredential: {},
  deleteUserOtp: {},

  listFlows: { prepare: recorded, query: "?type=login&per_page=1", keeps: "id" },
  getFlow: {},
  exportFlow: {},
  replayFlow: { body: { settings: "current", config: { password: { min_length: 12 } } } },

  testWebhook: {},
  listWebhookDeliveries: { query: "?event=test&per_page=1", keeps: "delivery_id" },
  getWebhookDelivery: { prepare: deliver },
  replayWebhookDelivery: {},
  replayWebhookDeliveries: { prepare: deliver, body: { start_time: "2026-01-01T00:00:00Z" } },
  updateWebhook: { body: { ...webhook, enabled: false } },
  rotateWebhookSecret: {},
  deleteWebhook: {},

  createApiKey: { body: { interface: "passkeys", name: "shop" }, keeps: "id" },
  listApiKeys: {},
  deleteApiKey: {},
  getSecretKeys: {},
  beginReseal: { keeps: "id" },
  listReseals: { query: "?per_page=1" },
  getReseal: {},
  cancelReseal: {},
  listSigningKeys: {},
  rotateSigningKey: { prepare: ageSigningKeys, body: { purpose: "session" } },
  getStatistics: {},
  getOverview: {},
  getFunnel: { query: "?type=login&platform=other" },
  getFunnelSeries: { query: "?type=login&state=login_init&step=day&by=browser" },
  listAuditLogs: { query: "?per_page=1&type=user_created" },
  findFailedSignIns: { query: "?identifier=unknown@shop.test" },
  listMessages: { query: "?per_page=1&channel=mail&outcome=queued" },
  listTexts: { query: "?language=de&prefix=states.success." },
  listPagePreviews: {},
  previewPages: { body: { pictures: ["missing_page"], config: { theme: { preset: "slate" } } } },
  previewMessages: { body: { kind: "sms_login", language: "de" } },
  exportAuditLogs: { query: "?type=user_created" },
  deleteUser: {},

  beginImport: { body: { format: "stile" }, keeps: "id" },
  putImportPiece: { body: { data: '{"username":"grace"}\n' } },
  startImport: { body: { pieces: 1 } },
  listImports: { query: "?per_page=1" },
  getImport: {},
  listImportRefusals: { prepare: refuse },
  listRefusedRecords: { query: "?per_page=1" },
  cancelImport: {},

  createTenant: {
    body: { name: "Acme", config: { saml: { enabled: true } } },
    keeps: "id",
  },
  listTenants: { query: "?per_page=1" },
  getTenant: {},
  changeTenant: { body: { config: { mfa: { optional: false } } } },
  listSettingsOfTenant: { query: "?section=compatibility" },
  checkSettingsOfTenant: { body: { config: { passkey: { enabled: false } } } },
  dryRunSettingsOfTenant: { body: { config: { passkey: { enabled: false } } } },
  exportDryRunOfTenant: {
    prepare: insertUserOfTenants,
    body: { config: { passkey: { enabled: false } }, keys: [1] },
  },
  listSettingsHistoryOfTenant: { query: "?per_page=1", keeps: "version_id" },
  restoreSettingsOfTenant: { body: {} },
  getOwnTenant: { ofTenant: true },
  changeOwnTenant: { body: { name: "Acme Stores" }, ofTenant: true },
  listSettings: { query: "?section=compatibility", ofTenant: true },
  checkSettings: { body: { config: { passkey: { enabled: false } } }, ofTenant: true },
  dryRunSettings: { body: { config: { passkey: { enabled: false } } }, ofTenant: true },
  exportDryRun: { body: { config: { passkey: { enabled: false } }, keys: [1] }, ofTenant: true },
  listSettingsHistory: { query: "?per_page=1", keeps: "version_id", ofTenant: true },
  restoreSettings: { body: {}, ofTenant: true },
  listSigningKeysOfTenant: {},
  rotateSigningKeyOfTenant: { prepare: ageSigningKeys, body: { purpose: "session" } },
  checkSamlProviderOfTenant: { body: { settings: { ...samlProvider, metadata: "<EntityDescriptor/>" } } },
  checkOAuthProviderOfTenant: {
    body: { provider_id: "google", settings: { client_id: "shop", secret: null } },
    prepare: noProviders,
  },
  createSamlProviderOfTenant: {
    body: { ...samlProvider, metadata_url: "https://id.acme.test/metadata" },
    keeps: "provider_id",
  },
  listSamlProvidersOfTenant: {},
  getSamlProviderOfTenant: {},
  replaceSamlProviderOfTenant: {
    body: { ...samlProvider, metadata_url: "https://id.acme.test/metadata", enabled: false },
  },
  changeSamlProviderOfTenant: { body: { enabled: true, attribute_map: { email: "mail" } } },
  deleteSamlProviderOfTenant: {},
  createOAuthProviderOfTenant: {
    body: {
      id: "custom_acme",
      settings: {
        display_name: "Acme",
        client_id: "shop",
        secret: "a secret",
        issuer: "https://id.acme.test",
      },
    },
    keeps: "provider_id",
  },
  listOAuthProvidersOfTenant: {},
  getOAuthProviderOfTenant: {},
  changeOAuthProviderOfTenant: { body: { display_name: "Acme Stores" } },
  deleteOAuthProviderOfTenant: {},
  createOpenidClientOfTenant: {
    body: { id: "shop", settings: { name: "Shop", redirect_uris: ["https://shop.test/callback"] } },
    keeps: "client_id",
  },
  listOpenidClientsOfTenant: {},
  getOpenidClientOfTenant: {},
  changeOpenidClientOfTenant: { body: { require_par: true } },
  renewOpenidClientSecretOfTenant: {},
  listOpenidClientGrantsOfTenant: { prepare: consent },
  listUnlistedOpenidClientsOfTenant: {},
  deleteOpenidClientOfTenant: {},
  createOpenidClient: {
    body: { id: "shop", settings: { name: "Shop", redirect_uris: ["https://shop.test/callback"] } },
    keeps: "client_id",
    ofTenant: true,
  },
  listOpenidClients: { ofTenant: true },
  getOpenidClient: { ofTenant: true },
  changeOpenidClient: { body: { require_par: true }, ofTenant: true },
  renewOpenidClientSecret: { ofTenant: true },
  listOpenidClientGrants: { ofTenant: true },
  listUnlistedOpenidClients: { prepare: registerClients, ofTenant: true },
  deleteOpenidClient: { ofTenant: true },
  checkSamlProvider: {
    body: { settings: { ...samlProvider, metadata: "<EntityDescriptor/>" } },
    ofTenant: true,
  },
  checkOAuthProvider: { body: { provider_id: "google", settings: { client_id: "shop" } }, ofTenant: true },
  createSamlProvider: {
    body: { ...samlProvider, metadata: "<EntityDescriptor/>" },
    keeps: "provider_id",
    ofTenant: true,
  },
  listSamlProviders: { ofTenant: true },
  getSamlProvider: { ofTenant: true },
  replaceSamlProvider: {
    body: { ...samlProvider, metadata: "<EntityDescriptor/>", enabled: false },
    ofTenant: true,
  },
  changeSamlProvider: { body: { enabled: true, attribute_map: { email: "mail" } }, ofTenant: true },
  deleteSamlProvider: { ofTenant: true },
  changeOAuthProvider: { body: { enabled: true, client_id: "shop", secret: "a secret" }, ofTenant: true },
  listOAuthProviders: { ofTenant: true },
  getOAuthProvider: { ofTenant: true },
  deleteOAuthProvider: { ofTenant: true },
  deleteTenant: { query: "?with_users=true" },
};

const testsOfProviders =
  "a test sign-in needs a session of the console; `server/http/providers/provider-test.test.ts` tests it";

/** Operations that cannot succeed, with the reason. */
const neverSuccessful: Record<string, string> = {
  askBeforeProviderTest: testsOfProviders,
  startProviderTest: testsOfProviders,
  impersonateUser:
    "an account of the console signs in as a user, not a key: `server/http/console/impersonation.test.ts`",
  createOAuthProvider:
    "a provider has addresses, which a tenant's key may not set; the default tenant is configured",
  ...Object.fromEntries(
    ["OfTenant", ""].flatMap((suffix) =>
      ["beginOAuthProviderTest", "beginSamlProviderTest", "getProviderTest"].map((id) => [
        id + suffix,
        testsOfProviders,
      ]),
    ),
  ),
  ...Object.fromEntries(
    [
      "beginConsoleSignIn",
      "endConsoleSignIn",
      "openProviderTest",
      "goToUser",
      "askBeforeImpersonation",
      "beginImpersonation",
      "signOutOfConsole",
      "downloadFromConsole",
      "getConsolePreview",
      "callConsoleProcedure",
    ].map((id) => [id, "what the console's pages call is tested in `server/http/console`"]),
  ),
};

const rowOf = (id: string) => {
  const found = addresses.find(({ operation }) => operation?.id === id);
  if (!found) throw new Error(`no operation is named ${id}`);
  return found;
};

describe("every request and answer is as the document says", () => {
  test("of a registration, a login, the account and the session", async () => {
    const registered = await restRegistration(runtime, email);
    const { visitor: browser } = registered;
    const me = await (await browser.request("/me")).json();
    expect((await browser.request(`/users/${me.id}`)).status).toBe(200);
    expect((await browser.request(`/users/${randomUUID()}`)).status).toBe(404);
    expect((await visitor(runtime).request("/me")).status).toBe(401);
    const owner = await accountOwner(runtime, { picture: true });
    const { picture_path } = (await owner.manage()).state.payload;
    expect((await visitor(runtime).request(`${picture_path}`)).status).toBe(200);
    expect((await visitor(runtime).request(`/users/pictures/${randomUUID()}`)).status).toBe(404);
    expect(await (await browser.request("/sessions/validate")).json()).toMatchObject({ is_valid: true });
    expect((await browser.request("/forward-auth")).status).toBe(204);
    for (const [query, status] of [
      ["", 401],
      ["?redirect=1", 302],
      ["?redirect=2", 400],
    ] as const)
      expect((await visitor(runtime).request(`/forward-auth${query}`)).status).toBe(status);
    const session_token = browser.cookies.get("service");
    for (const token of [session_token, "no token"]) {
      const validated = await visitor(runtime).post("/sessions/validate", { session_token: token });
      expect(await validated.json()).toMatchObject({ is_valid: token === session_token });
    }
    expect((await visitor(runtime).post("/sessions/validate", {})).status).toBe(400);

    const login = await restWalk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email });
    await login.act("continue_to_password_login");
    await login.act("password_login", { password: "a wrong password" });
    await login.act("password_login", { password });
    expect(login.state.name).toBe("success");
    const profile = await restWalk(runtime, "profile", browser);
    await profile.act("register_client_capabilities");
    await profile.act("patch_metadata", { patch_metadata: { theme: "dark" } });
    expect(profile.state.name).toBe("profile_init");
    expect((await visitor(runtime).post("/profile")).status).toBe(401);
    expect((await visitor(runtime).post("/token_exchange")).status).toBe(403);
    expect((await visitor(runtime).post(`/login?action=back@${randomUUID()}`, {})).status).toBe(403);
    const options = "/login/request_options";
    expect((await browser.request(options)).status).toBe(200);
    const foreign = { headers: { origin: "https://evil.test" } };
    expect((await browser.request(options, foreign)).status).toBe(403);
    expect((await browser.post("/logout")).status).toBe(204);
    expect((await browser.post("/logout")).status).toBe(401);
  });

  test("of the hosted page, and of the code that it gives to an application", async () => {
    const browser = visitor(runtime);
    const verifier = "v".repeat(43);
    const asked = new URLSearchParams({
      redirect_to: returnTo,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state: "cart-1",
    });
    expect((await browser.request(`/login?${asked}`)).status).toBe(303);
    expect((await browser.request("/login?redirect_to=https://evil.test")).status).toBe(400);
    const call = async (procedure: string, input: object) =>
      (await (await browser.mutate(`flow.${procedure}`, { type: "login", ...input })).json()).result.data;
    let page = await call("start", {});
    const act = async (action: string, input: object) => {
      page = await call("act", { version: page.version, action, input });
    };
    await act("register_client_capabilities", {});
    await act("continue_with_login_identifier", { email });
    await act("continue_to_password_login", {});
    await act("password_login", { password });
    expect(page.state.name).toBe("success");
    await call("current", {});
    expect((await browser.mutate("flow.act", { type: "login" })).status).toBe(400);
    const code = new URL(page.redirect_to).searchParams.get("code");
    const redemption = { code, code_verifier: verifier, redirect_to: returnTo };
    expect((await visitor(runtime).post("/token", redemption)).status).toBe(200);
    expect((await visitor(runtime).post("/token", redemption)).status).toBe(400);
    expect((await browser.request("/embed.js")).status).toBe(200);
    expect((await browser.request("/embed-sign-in.js")).status).toBe(200);
    const [file = ""] = readdirSync(join(import.meta.dirname, "../../../dist/hosted/assets")).filter((name) =>
      name.endsWith(".js"),
    );
    expect((await browser.request(`/assets/${file}`)).status).toBe(200);
    expect((await browser.request("/assets/missing.js")).status).toBe(404);
    const { version } = themeFiles(runtime.config.theme);
    expect((await browser.request(`/theme/${version}/favicon`)).status).toBe(200);
    expect((await browser.request(`/theme/${version}/logo-light`)).status).toBe(404);
    const form = { flow: "login", action: "back", version: "0" };
    expect((await browser.submit("/step", form)).status).toBe(303);
    expect((await browser.submit("/step", form, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  test("of the link in a mail", async () => {
    const linking = runtime.configured({ STILE_EMAIL_LINKS: "true" });
    const address = "grace@shop.test";
    const registration = await restWalk(linking, "registration");
    await registration.act("register_client_capabilities");
    await registration.act("register_login_identifier", { email: address });
    const { pathname, search, searchParams } = mailedLink(linking, address);
    const token = searchParams.get("token") ?? "";
    const browser = visitor(runtime);
    expect((await browser.request(pathname + search)).status).toBe(200);
    expect((await browser.submit(pathname, { token })).status).toBe(200);
    expect((await browser.submit(pathname, { token }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await browser.request(`${pathname}?token=AAAA`)).status).toBe(400);
    await registration.act("verify_passcode", { code: mailedCode(linking, address) });
    expect((await browser.request(pathname + search)).status).toBe(410);
    expect((await browser.submit(pathname, { token })).status).toBe(410);
  });

  test("of what identity providers call", async () => {
    const browser = visitor(runtime);
    expect((await browser.request("/thirdparty/callback?state=unknown&code=x")).status).toBe(303);
    expect((await browser.submit("/thirdparty/callback", { state: "unknown", code: "x" })).status).toBe(303);
    expect((await browser.request("/saml/metadata?domain=shop.test")).status).toBe(403);
    expect((await browser.request("/saml/auth?domain=shop.test")).status).toBe(403);
    expect((await browser.submit("/saml/callback", { SAMLResponse: "x" })).status).toBe(403);
    expect((await browser.request("/saml/logout")).status).toBe(403);
    expect((await browser.request("/logout/provider?state=unknown")).status).toBe(303);
    expect((await browser.request("/thirdparty/logout?state=unknown")).status).toBe(303);
  });

  test("of a sign-in that a SAML provider starts", async () => {
    const provider = samlIdentityProvider();
    const shop = { name: "Shop", domain: "shop.test", metadata: provider.metadata };
    const trusted = { allow_idp_initiated: true, skip_email_verification: true, single_logout: true };
    const signing = runtime.configured({
      STILE_SAML_ENABLED: "true",
      STILE_SAML_ALLOWED_REDIRECT_URLS: returnTo,
      STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([{ ...shop, ...trusted }]),
    });
    const browser = visitor(signing);
    const { base_url } = signing.config;
    expect((await browser.request("/saml/metadata?domain=shop.test")).status).toBe(200);
    const started = await browser.request(`/saml/auth?domain=shop.test&redirect_to=${returnTo}`);
    expect(started.status).toBe(307);
    const consumerUrl = `${base_url}/saml/callback`;
    const SAMLResponse = await provider.answer({
      consumerUrl,
      audience: base_url,
      nameId: "u-1",
      attributes: { email: "brook@shop.test" },
    });
    const headers = { "sec-fetch-site": "cross-site" };
    const received = await browser.submit("/saml/callback", { SAMLResponse }, headers);
    expect(received.status).toBe(303);
    const token = new URL(received.headers.get("location") ?? "").searchParams.get("hanko_token");
    const exchange = await restWalk(signing, "token_exchange", browser);
    await exchange.act("exchange_token", { token });
    expect(exchange.state.name).toBe("success");
    const { entityId: issuer, key } = provider;
    const destination = `${base_url}/saml/logout`;
    // Its signature changes from run to run.
    calls.recording = false;
    const ended = await browser.request(
      `/saml/logout${logoutQuery({ issuer, key, destination, content: nameIdXml("u-1") })}`,
    );
    calls.recording = true;
    expect(ended.status).toBe(200);
    expect((await browser.request("/saml/logout?SAMLRequest=x")).status).toBe(400);
  });

  test("of the OpenID provider", async () => {
    const secret = "a secret of at least 32 characters";
    const shop = {
      name: "Shop",
      secret,
      redirect_uris: [returnTo],
      post_logout_redirect_uris: [returnTo],
      frontchannel_logout_uri: "https://shop.test/out",
      scopes: ["openid", "email", "offline_access"],
    };
    const provider = runtime.configured({
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_REGISTRATION: "open",
      STILE_OPENID_DEVICE_FLOW: "true",
      STILE_OPENID_CLIENTS: JSON.stringify({
        shop: { ...shop, grants: ["authorization_code", "refresh_token", "device_code"] },
        reader: { ...shop, first_party: false },
      }),
    });
    const browser = visitor(provider);
    for (const name of ["openid-configuration", "oauth-authorization-server"]) {
      expect((await browser.request(`/.well-known/${name}`)).status).toBe(200);
      expect((await visitor(runtime).request(`/.well-known/${name}`)).status).toBe(404);
    }
    const code_verifier = "v".repeat(43);
    const asked = {
      client_id: "shop",
      redirect_uri: returnTo,
      response_type: "code",
      scope: "openid email offline_access",
      prompt: "consent",
      state: "cart-1",
      code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    const waiting = await browser.request(`/oauth/authorize?${new URLSearchParams(asked)}`);
    expect(waiting.status).toBe(303);
    const signInPage = new URL(waiting.headers.get("location") ?? "");
    const resume = new URL(signInPage.searchParams.get("redirect_to") ?? "").pathname;
    const login = await restWalk(provider, "login", browser);
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email });
    await login.act("continue_to_password_login");
    await login.act("password_login", { password });
    const returned = await browser.request(resume);
    expect(returned.status).toBe(303);
    expect((await browser.request(resume)).status).toBe(400);
    expect((await browser.request("/oauth/authorize?client_id=unknown")).status).toBe(400);
    expect((await browser.submit("/oauth/authorize", asked)).status).toBe(303);
    const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const authorization = `Basic ${Buffer.from(`shop:${encodeURIComponent(secret)}`).toString("base64")}`;
    const call = (path: string, form: Record<string, string>, headers = { authorization }) =>
      visitor(provider).submit(path, form, headers);
    const redemption = {
      grant_type: "authorization_code",
      code,
      redirect_uri: returnTo,
      code_verifier,
    };
    expect((await call("/oauth/token", redemption, { authorization: "Basic eDp5" })).status).toBe(401);
    const issued = await call("/oauth/token", redemption);
    expect(issued.status).toBe(200);
    const { access_token: token } = (await issued.json()) as { access_token: string };
    const bearer = { authorization: `Bearer ${token}` };
    expect((await visitor(provider).request("/oauth/userinfo", { headers: bearer })).status).toBe(200);
    const posted = await call("/oauth/userinfo", {}, bearer);
    expect([posted.status, await posted.json()]).toMatchObject([200, {}]);
    expect((await visitor(provider).request("/oauth/userinfo")).status).toBe(401);
    expect((await call("/oauth/introspect", { token })).status).toBe(200);
    expect((await call("/oauth/par", { ...asked, state: "cart-2" })).status).toBe(201);
    expect((await call("/oauth/revoke", { token })).status).toBe(200);
    expect((await call("/oauth/token", redemption)).status).toBe(400);
    const described = { redirect_uris: ["https://agent.example.org/callback"], client_name: "An agent" };
    expect((await visitor(provider).post("/oauth/register", described)).status).toBe(201);
    expect((await visitor(provider).post("/oauth/register", {})).status).toBe(400);
    const ofReader = new URLSearchParams({ ...asked, client_id: "reader" });
    const questioned = await browser.request(`/oauth/authorize?${ofReader}`);
    const question = new URL(questioned.headers.get("location") ?? "").searchParams.get("request") ?? "";
    const toPage = { headers: { accept: "text/html" } };
    expect((await browser.request(`/consent?request=${question}`, toPage)).status).toBe(303);
    const consent = await restWalk(provider, "consent", browser, { request: question });
    await consent.act("consent_allow");
    expect(consent.state.name).toBe("consent_answered");
    expect((await visitor(provider).post(`/consent?request=${question}`)).status).toBe(401);
    const device = await call("/oauth/device", { scope: "openid email" });
    expect(device.status).toBe(200);
    const codes = (await device.json()) as { device_code: string; user_code: string };
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const poll = () => call("/oauth/token", { grant_type, device_code: codes.device_code });
    expect((await poll()).status).toBe(400);
    expect((await call("/oauth/device", {}, { authorization: "Basic eDp5" })).status).toBe(401);
    expect((await browser.request(`/device?user_code=${codes.user_code}`, toPage)).status).toBe(303);
    expect((await browser.request("/device")).status).toBe(405);
    const entry = await restWalk(provider, "consent", browser, { user_code: codes.user_code });
    await entry.act("device_code_verify", { user_code: codes.user_code });
    await entry.act("consent_allow");
    expect(entry.state.name).toBe("consent_answered");
    expect((await poll()).status).toBe(200);
    expect((await browser.request("/oauth/logout")).status).toBe(200);
    expect((await browser.request("/oauth/logout?client_id=unknown")).status).toBe(400);
    const left = await browser.submit("/oauth/logout", { pressed: "true" });
    expect(left.status).toBe(303);
    expect((await browser.request(left.headers.get("location") ?? "")).status).toBe(200);
    expect((await browser.submit("/oauth/logout", { pressed: "true" })).status).toBe(200);
    const back = new URLSearchParams({
      client_id: "shop",
      post_logout_redirect_uri: returnTo,
      state: "cart-1",
    });
    expect((await browser.request(`/oauth/logout?${back}`)).status).toBe(303);
  });

  test("of keys, discovery, health and jobs", async () => {
    const { request } = visitor(runtime);
    for (const path of ["jwks.json", "webauthn", "flow-graph.json", "passkey-endpoints"])
      expect((await request(`/.well-known/${path}`)).status).toBe(200);
    for (const path of ["security.txt", "apple-app-site-association", "assetlinks.json"])
      expect((await request(`/.well-known/${path}`)).status).toBe(200);
    expect((await request("/.well-known/change-password")).status).toBe(303);
    for (const path of ["/registration", "/profile", "/token_exchange", "/consent"]) {
      expect((await request(path, { headers: { accept: "text/html" } })).status).toBe(303);
      expect((await request(path)).status).toBe(405);
    }
    for (const path of ["/health/alive", "/health/ready", "/openapi.json", "/docs/api"])
      expect((await request(path)).status).toBe(200);
    expect((await request("/api/jobs")).status).toBe(401);
    const authorization = "Bearer a secret of sixteen characters or more";
    expect((await request("/api/jobs", { headers: { authorization } })).status).toBe(200);
    expect((await request(`/t/${randomUUID()}/health/alive`)).status).toBe(404);
  });

  test("of the passkey server", async () => {
    const application = await passkeyApplication(runtime);
    const { call, callWithoutKey, origin } = application;
    const { authenticator, credentialId } = await application.register("ada");
    const key = await application.register("ada", { mfa: true });
    const signedIn = await application.answer(authenticator, "/login", { user_id: "ada" });
    expect((await call("POST", "/login/finalize", signedIn)).status).toBe(200);
    expect((await call("POST", "/login/finalize", signedIn)).status).toBe(401);
    const second = await application.answer(key.authenticator, "/mfa/login", { user_id: "ada" });
    expect((await call("POST", "/mfa/login/finalize", second)).status).toBe(200);
    expect((await callWithoutKey("POST", "/registration/initialize", {})).status).toBe(401);
    expect((await call("POST", "/registration/initialize", {})).status).toBe(400);

    const transaction = {
      user_id: "ada",
      transaction_id: "order-1",
      transaction_data: { to: "Grace", amount: "12.00" },
    };
    const confirmed = await application.answer(authenticator, "/transaction", transaction);
    expect((await call("POST", "/transaction/finalize", confirmed)).status).toBe(200);
    expect((await call("POST", "/transaction/initialize", transaction)).status).toBe(409);
    const opened = await call("POST", "/transaction/initialize", {
      ...transaction,
      transaction_id: "order-2",
      confirmation: { redirect_to: returnTo },
    });
    const token = new URL(opened.body.confirmation_url).searchParams.get("token");
    const credential = authenticator.get(opened.body, { origin });
    const ownPage = { "sec-fetch-site": "same-origin" };
    const answered = await callWithoutKey("POST", "/transaction/confirm", { token, credential }, ownPage);
    expect(answered.status).toBe(200);
    const code = new URL(answered.body.redirect_to).searchParams.get("code");
    expect((await call("POST", "/transaction/redeem", { code })).status).toBe(200);
    expect((await call("POST", "/transaction/redeem", { code })).status).toBe(400);
    expect((await call("GET", "/transaction/ada")).status).toBe(200);

    expect(
      (await call("GET", "/audit_logs?type=webauthn_authentication_final_succeeded&per_page=1")).status,
    ).toBe(200);
    expect((await call("GET", "/credentials?user_id=ada&per_page=1")).status).toBe(200);
    const path = `/credentials/${credentialId}`;
    expect((await call("GET", path)).status).toBe(200);
    expect((await call("PATCH", path, { name: "Laptop" })).status).toBe(204);
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await call("DELETE", path)).status).toBe(404);
    expect((await call("DELETE", "/users/ada")).status).toBe(204);
    for (const keys of ["jwks", "receipt-keys"])
      expect((await callWithoutKey("GET", `/.well-known/${keys}.json`)).status).toBe(200);
  });

  test("of the authenticator interface", async () => {
    const application = await authenticatorApplication(runtime);
    const { call } = application;
    const requests = "/v1/uaf/requests";
    expect((await call("GET", "/hello")).status).toBe(200);
    expect((await call("GET", "/hello", { authorization: null })).status).toBe(401);
    expect((await application.fetch("/facets")).status).toBe(200);
    const { deviceId } = await application.enroll("ada");
    expect((await call("POST", requests, { body: {} })).status).toBe(400);
    const { id, links } = await application.create("AUTH", "ada", { transaction: "Pay 12.00" });
    expect((await call("GET", `${requests}/${id}`)).status).toBe(200);
    expect((await call("GET", `${requests}/${randomUUID()}`)).status).toBe(404);
    const hrefOf = (rel: string) => links.find((link: { rel: string }) => link.rel === rel).href as string;
    expect((await application.fetch(hrefOf("qrcode"))).status).toBe(200);
    expect((await application.fetch(`${hrefOf("events")}&wait=0`)).status).toBe(200);
    expect((await call("DELETE", `${requests}/${id}`)).status).toBe(200);
    expect((await call("GET", "/mgmt/v1/registrations/ada")).status).toBe(200);
    const renamed = await call("POST", `/mgmt/v1/registrations/rename/${deviceId}`, {
      body: { newName: "Work phone" },
    });
    expect(renamed.status).toBe(200);
    expect((await call("DELETE", "/mgmt/v1/registrations/ada")).status).toBe(204);
  });

  test("of the administration interface", async () => {
    const operator = await adminOperator(runtime);
    const things: Things = {
      users: await userWithEverything(runtime),
      oauth: { provider_id: "google" },
      imports: { number: "1" },
    };
    let tenantOperator = operator;
    const failed: unknown[] = [];
    for (const [id, { query = "", body, keeps, ofTenant, prepare }] of Object.entries(adminRequests)) {
      await prepare?.();
      const { method, path } = rowOf(id);
      const collection = path.split("/")[2] ?? "";
      const of = { ...things[collection] };
      const at = path.replace("/admin", "").replaceAll(/\{(\w+)\}/g, (_, name) => of[name] ?? `no ${name}`);
      const sent = typeof body === "function" ? body(things) : body;
      const answer = await (ofTenant ? tenantOperator : operator).call(method, at + query, sent);
      if (answer.status >= 300) failed.push([id, answer.status, answer.text]);
      else if (keeps) {
        const [made] = [answer.body].flat();
        things[collection] = { ...of, [keeps]: made.id };
      }
      if (id === "createTenant") {
        const tenant = await runtime.tenants.byId(answer.body.id);
        if (tenant) tenantOperator = await adminOperator(runtime, tenant);
      }
    }
    expect(failed).toEqual([]);
    const { call } = operator;
    const email = { address: "grace@shop.test", is_verified: true };
    const again = await call("POST", "/users", { emails: [{ ...email, is_primary: true }] });
    expect(again.status).toBe(409);
    expect((await call("POST", "/webhooks", { ...webhook, failures: 1 })).status).toBe(400);
  });

  test("of the administration interface for ids that nothing has", async () => {
    calls.recording = false;
    const { key } = await adminOperator(runtime);
    const { request } = visitor(runtime);
    for (const { method, path } of addresses.filter(({ operation }) => operation?.security === "admin")) {
      const unknown = path.replaceAll(/\{\w+\}/g, () => randomUUID());
      const body = method === "GET" || method === "DELETE" ? {} : { body: '{"unknown_member":true}' };
      const headers = { "content-type": "application/json" };
      const authorization = `Bearer ${key}`;
      const known = await request(unknown, { method, ...body, headers: { ...headers, authorization } });
      expect(known.status).toBeLessThan(500);
      expect((await request(unknown, { method, ...body, headers })).status).toBe(401);
    }
  });

  test("of a browser that binds its session to its device", async () => {
    const browser = deviceBoundBrowser(
      runtime.config.base_url,
      (request) => send(request, "192.0.2.1", runtime),
      () => Date.now() + runtime.platform.clockShift(),
    );
    const flow = await restWalk(runtime, "registration", browser);
    await flow.act("register_client_capabilities");
    await flow.act("register_login_identifier", { email: "grace@example.com" });
    await flow.act("verify_passcode", { code: mailedCode(runtime, "grace@example.com") });
    await flow.act("register_password", { new_password: password });
    const stolen = browser.cookieHeader("service-bound");
    expect(browser.bound.size).toBe(1);
    // The last test: what earlier ones begin must not expire.
    runtime.advanceClock(700);
    expect((await browser.request("/me")).status).toBe(200);
    expect(browser.calls.map(({ status }) => status)).toEqual([200, 403, 200]);
    const copied = { headers: { cookie: stolen } };
    expect((await visitor(runtime).request("/sessions/validate", copied)).status).toBe(401);
    expect((await browser.request("/.well-known/device-bound-sessions")).status).toBe(200);
  });
});

test("every operation succeeds, except those listed here with a reason", () => {
  const failing = addresses.flatMap(({ operation }) =>
    operation && ![...(called.get(operation.id) ?? [])].some((status) => status < 400) ? operation.id : [],
  );
  expect(failing).toEqual(Object.keys(neverSuccessful));
});

test("no request and no answer differs from the document", () => {
  expect([...new Set(differences)]).toEqual([]);
});

test("the examples of the document are recorded calls; `npm run docs` records them", async () => {
  const sorted = Object.fromEntries(Object.entries(examples).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  await expect(`${JSON.stringify(sorted, null, 2)}\n`).toMatchFileSnapshot(
    join(import.meta.dirname, "examples.json"),
  );
});
