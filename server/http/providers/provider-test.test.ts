import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { type ConsoleAccount, consoleAccount } from "../../testing/console-account.ts";
import { json, startFakeProvider } from "../../testing/fake-provider.ts";
import { startOidcProvider } from "../../testing/oidc-provider.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { restWalk } from "../../testing/rest-walk.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { providerNetwork } from "../../thirdparty/provider-fetch.ts";

/** Test sign-ins at identity providers, from the console to the provider and back to the result. */

const home = "http://localhost:3000";
const acme = await openForTests(startOidcProvider([`${home}/thirdparty/callback`]));
const fake = await openForTests(startFakeProvider("client"));
const saml = samlIdentityProvider();
const { acme: settings } = JSON.parse(acme.settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "");
const fakeSettings = { display_name: "Fake", client_id: "client", secret: "secret", issuer: fake.issuer };
const runtime = await runtimeForTests({
  STILE_PASSKEY_ENABLED: "false",
  STILE_SAML_ENABLED: "true",
  STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify([
    { name: "example", domains: ["example.org"], metadata: saml.metadata, enabled: false },
  ]),
  STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
    acme: { ...settings, enabled: false, attribute_mapping: { family_name: "name" } },
    fake: { ...fakeSettings, allow_linking: true },
  }),
});
const operator = await consoleAccount(runtime, "operator");
const samlId = async () => (await operator.call("listSamlProviders", {})).data[0].id as string;

const pathOf = (address: string | null) => {
  const { pathname, search } = new URL(address ?? "", home);
  return pathname + search;
};

/** Presses the button of the page at the host of the tenant. */
const press = (browser: Visitor, start: string) =>
  browser.submit("/thirdparty/test", { ticket: new URL(start, home).searchParams.get("ticket") ?? "" });

/** Begins a test and opens it, up to the address of the provider. */
async function sent(provider_id: string, of: ConsoleAccount = operator) {
  const procedure = provider_id.includes("_") ? "beginOAuthProviderTest" : "beginSamlProviderTest";
  const begun = await of.call(procedure, { provider_id });
  if (!begun.data) throw new Error(begun.message);
  const opened = await of.browser.request(pathOf(begun.data.url));
  const start = pathOf(opened.headers.get("location"));
  expect(await (await of.browser.request(start)).text()).toContain("is shown to the operator of the console");
  const started = await press(of.browser, start);
  const address = started.headers.get("refresh")?.replace("0;url=", "") ?? "";
  return { id: begun.data.id as string, url: begun.data.url as string, start, address, started };
}

async function resultOf(id: string, of: ConsoleAccount = operator) {
  const found = await of.call("getProviderTest", { test_id: id });
  return found.data?.result;
}

/** What a sign-in would write. */
async function accounts() {
  const { read } = runtime.database;
  const tables = [schema.users, schema.identities, schema.sessions, schema.exchangeTokens, schema.emails];
  return Promise.all(tables.map((table) => read.$count(table)));
}

/** Follows the fake provider, which answers at once. */
async function fakeAnswer(address: string) {
  const answered = await fetch(address, { redirect: "manual" });
  return pathOf(answered.headers.get("location"));
}

describe("a test sign-in", () => {
  test("at a provider that is not enabled yet shows the claims and the account that would be created", async () => {
    acme.person("ada", { email: "ada@acme.example", email_verified: true, name: "Countess" });
    const before = await accounts();
    const { id, address } = await sent("custom_acme");
    const back = await acme.signIn(address, "ada");
    const returned = await operator.browser.request(pathOf(back.href));
    expect(returned.status).toBe(303);
    expect(returned.headers.get("location")).toBe(
      `${home}/console/${runtime.tenant.id}/providers/custom_acme/test?id=${id}`,
    );
    const result = await resultOf(id);
    expect(result).toMatchObject({
      outcome: "accepted",
      decision: "sign_up",
      message: "An account with the address ada@acme.example would be created.",
      facts: { provider: "custom_acme", subject: "ada", emailVerified: true },
    });
    expect(result.mapping).toContainEqual({ fact: "family_name", from: "name", value: "Countess" });
    const sources = result.received.map(({ source }: { source: string }) => source);
    expect(sources).toEqual(["id_token", "userinfo"]);
    expect(await accounts()).toEqual(before);
    expect(operator.browser.cookies.has("service")).toBe(false);
  });

  test("tells which account would be signed in or linked, and why not", async () => {
    const owner = await accountOwner(runtime);
    const [email = ""] = owner.addresses;
    const signInAs = async (person: Record<string, unknown>) => {
      fake.person = person;
      const { id, address } = await sent("custom_fake");
      await operator.browser.request(await fakeAnswer(address));
      return resultOf(id);
    };
    const linked = await signInAs({ sub: "f-1", email, email_verified: true });
    expect(linked).toMatchObject({
      outcome: "accepted",
      decision: "link",
      user: { id: owner.userId, email },
    });
    const refused = await signInAs({ sub: "f-1", email, email_verified: false });
    expect(refused).toMatchObject({
      outcome: "refused",
      reason: "user_conflict",
      message: expect.stringContaining("does not say that it has verified it"),
    });
    await runtime.database.write.insert(schema.identities).values({
      tenantId: runtime.tenant.id,
      id: randomUUID(),
      userId: owner.userId,
      provider: "custom_fake",
      subject: "f-2",
    });
    const known = await signInAs({ sub: "f-2", email: newAddress(), email_verified: true });
    expect(known).toMatchObject({ decision: "sign_in", user: { id: owner.userId } });
    await operator.call("blockUser", { id: owner.userId });
    expect(await signInAs({ sub: "f-2" })).toMatchObject({ outcome: "refused", reason: "account_blocked" });
    fake.person = null;
    const { id, address } = await sent("custom_fake");
    await operator.browser.request(await fakeAnswer(address));
    expect(await resultOf(id)).toMatchObject({ outcome: "failed", reason: "access_denied", facts: null });
  });

  test("at a SAML provider shows its attributes, and what an unverified address leads to", async () => {
    const { id, address } = await sent(await samlId());
    const request = saml.read(address);
    const SAMLResponse = await saml.answer({
      consumerUrl: request.consumerUrl,
      audience: request.issuer,
      nameId: "u-7",
      attributes: { mail: "grace@example.org", displayName: "Grace" },
      inResponseTo: request.id,
    });
    const before = await accounts();
    const form = { SAMLResponse, RelayState: request.relayState };
    const returned = await operator.browser.submit("/saml/callback", form, {
      "sec-fetch-site": "cross-site",
    });
    expect(returned.status).toBe(303);
    const result = await resultOf(id);
    expect(result).toMatchObject({
      outcome: "accepted",
      decision: "sign_up",
      notes: ["A mailed code would have to verify the address first."],
      received: [{ source: "assertion" }],
    });
    expect(result.mapping).toContainEqual({ fact: "email", from: "mail", value: "grace@example.org" });
    expect(result.mapping).toContainEqual({ fact: "subject", from: "NameID", value: "u-7" });
    expect(await accounts()).toEqual(before);
  });

  test("that is not accepted says why", async () => {
    fake.reset();
    fake.person = { sub: "f-9" };
    fake.claims = { aud: "another" };
    const { id, address } = await sent("custom_fake");
    await operator.browser.request(await fakeAnswer(address));
    expect(await resultOf(id)).toMatchObject({ outcome: "failed", reason: "answer_not_verified" });
    fake.reset();
    fake.person = { sub: "f-9" };
    fake.answers["/jwks"] = (response) =>
      json(response, {
        keys: [...Array(101).keys()].map((at) =>
          at === 0 ? fake.publicJwk : { ...fake.publicJwk, kid: `${at}` },
        ),
      });
    providerNetwork(runtime).keys.clear();
    const many = await sent("custom_fake");
    await operator.browser.request(await fakeAnswer(many.address));
    expect(await resultOf(many.id)).toMatchObject({ outcome: "failed", reason: "answer_too_long" });
    fake.reset();
    const answers = fake.answers;
    answers["/.well-known/openid-configuration"] = (response) => void response.writeHead(500).end();
    const closed = runtime.configured({
      STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({ other: fakeSettings }),
    });
    const other = await consoleAccount(closed, "operator");
    const failed = await sent("custom_other", other);
    expect(failed.address).toContain("/providers/custom_other/test?id=");
    expect(await resultOf(failed.id, other)).toMatchObject({ outcome: "failed" });
    fake.reset();
  });
});

describe("A346 the provider and the test of another tenant or session", () => {
  test("A346 are not found", async () => {
    const { id: tenantId } = await createTenant(runtime, {
      name: "Other",
      hosts: [],
      settings: { third_party: { custom_providers: { theirs: fakeSettings } } },
    });
    const tenant = await runtime.tenants.byId(tenantId);
    if (!tenant) throw new Error("the tenant is missing");
    const administrator = await consoleAccount(runtime, "administrator", { tenant });
    const of = (provider_id: string) => administrator.call("beginOAuthProviderTest", { provider_id });
    expect((await of("custom_theirs")).status).toBe(200);
    expect((await of("custom_acme")).status).toBe(404);
    const foreign = { provider_id: await samlId() };
    expect((await administrator.call("beginSamlProviderTest", foreign)).status).toBe(404);
    expect(
      (await administrator.call("checkOAuthProvider", { body: { provider_id: "custom_acme" } })).status,
    ).not.toBe(500);
    const { id } = await sent("custom_fake");
    expect((await administrator.call("getProviderTest", { test_id: id })).status).toBe(404);
    const colleague = await consoleAccount(runtime, "operator");
    expect((await colleague.call("getProviderTest", { test_id: id })).status).toBe(404);
    const audited = await consoleAccount(runtime, "auditor");
    expect((await audited.call("getProviderTest", { test_id: id })).reason).toBe("forbidden");
  });
});

describe("A347 a test that is stolen, replayed or turned into a sign-in", () => {
  test("A347 a link opens once, in the browser of the session that began the test", async () => {
    const begun = (await operator.call("beginOAuthProviderTest", { provider_id: "custom_fake" })).data;
    const path = pathOf(begun.url);
    const thief = visitor(runtime);
    expect((await thief.request(path)).status).toBe(404);
    const colleague = await consoleAccount(runtime, "operator");
    expect((await colleague.browser.request(path)).status).toBe(404);
    expect((await operator.browser.request(path, { method: "HEAD" })).status).toBe(204);
    const opened = await operator.browser.request(path);
    expect(opened.status).toBe(303);
    expect((await operator.browser.request(path)).status).toBe(404);
    const start = pathOf(opened.headers.get("location"));
    // The page uses nothing up, and the press counts once.
    expect((await thief.request(start)).status).toBe(200);
    const foreign = { "sec-fetch-site": "cross-site" };
    const ticket = new URL(start, home).searchParams.get("ticket") ?? "";
    expect((await thief.submit("/thirdparty/test", { ticket }, foreign)).status).toBe(403);
    expect((await press(operator.browser, start)).headers.get("refresh")).toContain(fake.issuer);
    expect((await press(thief, start)).status).toBe(404);
    expect((await thief.request("/thirdparty/test")).status).toBe(404);
  });

  test("A347 the answer counts in the browser that was sent, once, and for ten minutes", async () => {
    fake.person = { sub: "f-3" };
    const stolen = await sent("custom_fake");
    const answer = await fakeAnswer(stolen.address);
    await visitor(runtime).request(answer);
    expect(await resultOf(stolen.id)).toMatchObject({ outcome: "failed", reason: "other_browser" });
    await operator.browser.request(answer);
    expect(await resultOf(stolen.id)).toMatchObject({ reason: "other_browser" });
    const { id, address } = await sent("custom_fake");
    await operator.browser.request(await fakeAnswer(address));
    expect(await resultOf(id)).toMatchObject({ decision: "sign_up" });
    runtime.advanceClock(601);
    expect((await operator.call("getProviderTest", { test_id: id })).status).toBe(404);
    runtime.advanceClock(-601);
    await runtime.database.write.update(schema.providerTests).set({ expiresAt: new Date(0) });
    await runtime.purgeExpired();
    expect(await runtime.database.read.$count(schema.providerTests)).toBe(0);
  });

  test("A347 the answer to a test makes no sign-in, and that of a sign-in ends no test", async () => {
    fake.person = { sub: "f-4" };
    const tested = await sent("custom_fake");
    const ended = await operator.browser.request(await fakeAnswer(tested.address));
    expect(ended.headers.get("location")).not.toContain("hanko_token");
    const running = await sent("custom_fake");
    const flow = await restWalk(runtime, "login", operator.browser);
    await flow.act("register_client_capabilities");
    await flow.act("thirdparty_oauth", { provider: "custom_fake", redirect_to: `${home}/` });
    const real = await operator.browser.request(await fakeAnswer(String(flow.state.payload.redirect_url)));
    expect(real.headers.get("location")).toContain("hanko_token");
    expect((await operator.call("getProviderTest", { test_id: running.id })).data.state).toBe("sent");
    // In the address of the other protocol.
    const state = new URL(running.address).searchParams.get("state");
    const form = { SAMLResponse: "x", RelayState: `stile_sp_${state}` };
    const wrong = await operator.browser.submit("/saml/callback", form, { "sec-fetch-site": "cross-site" });
    expect(wrong.headers.get("location")).toContain("error=invalid_request");
    expect((await operator.call("getProviderTest", { test_id: running.id })).data.state).toBe("sent");
  });

  test("A347 a key begins no test", async () => {
    const before = await runtime.database.read.$count(schema.providerTests);
    const { call } = await adminOperator(runtime);
    expect((await call("POST", "/oauth/providers/custom_fake/test")).status).toBe(403);
    expect((await call("GET", `/provider_tests/${randomUUID()}`)).status).toBe(404);
    expect(await runtime.database.read.$count(schema.providerTests)).toBe(before);
  });
});

test("A348 claims of any length, number and content are shown as text of bounded length", async () => {
  const markup = `<img src=x onerror=alert(1)>${"x".repeat(1500)}`;
  const many = Object.fromEntries(
    Array.from({ length: 120 }, (_, at) => [`claim_${at}`, { deep: [markup] }]),
  );
  fake.person = { ...many, sub: "f-5", name: markup, email: "no address" };
  const { id, address } = await sent("custom_fake");
  await operator.browser.request(await fakeAnswer(address));
  const result = await resultOf(id);
  expect(result.facts).toMatchObject({ email: null, name: expect.stringMatching(/^<img src=x/) });
  for (const { claims } of result.received) {
    expect(claims.length).toBeLessThanOrEqual(100);
    for (const { value } of claims) expect(value.length).toBeLessThanOrEqual(501);
  }
  const [row] = await runtime.database.read.select().from(schema.providerTests);
  expect(row?.sealedResult?.toString("latin1")).not.toContain("onerror");
});

describe("A357 the address of a test that another browser opens", () => {
  const opened = async (of: ConsoleAccount, tenant?: string) => {
    const begun = await of.call("beginOAuthProviderTest", { tenant, provider_id: "custom_fake" });
    const { headers } = await of.browser.request(pathOf(begun.data.url));
    const ticket = new URL(headers.get("location") ?? "").searchParams.get("ticket") ?? "";
    return { id: begun.data.id as string, location: headers.get("location") ?? "", ticket };
  };

  test("A357 leads it to no provider where the console and the tenant have one host", async () => {
    const { id, location, ticket } = await opened(operator);
    const bound = operator.browser.cookies.get("stile-provider-test") ?? "";
    expect(bound).toMatch(/^[\w-]{43}$/);
    expect(operator.browser.setCookies).toContainEqual(
      expect.stringMatching(/^stile-provider-test=.*; HttpOnly; SameSite=Strict$/),
    );
    const victim = visitor(runtime);
    const presented = async (text: string) =>
      (await victim.submit("/thirdparty/test", { ticket: text })).status;
    expect(await presented(ticket)).toBe(404);
    expect(await presented(`${ticket}.${bound}`)).toBe(404);
    victim.cookies.set("stile-provider-test", bound.split("").reverse().join(""));
    expect(await presented(ticket)).toBe(404);
    expect(await presented(`${ticket}.${bound}`)).toBe(404);
    for (const text of [
      "",
      ".",
      bound,
      `${ticket}.`,
      `.${ticket}`,
      `${ticket}.${bound}.${bound}`,
      "x".repeat(500),
    ])
      expect(await presented(text)).toBe(404);
    expect((await operator.call("getProviderTest", { test_id: id })).data.state).toBe("opened");
    expect((await press(operator.browser, location)).headers.get("refresh")).toContain(fake.issuer);
  });

  test("A357 tells who is shown the result where the tenant has another host, which counts once", async () => {
    const host = `${randomUUID()}.example`;
    const { id: tenantId } = await createTenant(runtime, {
      name: "Hosted",
      hosts: [host],
      settings: { third_party: { custom_providers: { fake: fakeSettings } } },
    });
    const tenant = await runtime.tenants.byId(tenantId);
    if (!tenant) throw new Error("the tenant is missing");
    const { location, ticket } = await opened(operator, tenantId);
    expect(new URL(location).hostname).toBe(host);
    expect(operator.browser.setCookies).toEqual([]);
    const there = tenantVisitor(runtime, tenant);
    const page = await (await there.request(pathOf(location))).text();
    expect(page).toContain("is shown to the operator of the console");
    expect(page).toContain(ticket);
    const [half = ""] = ticket.split(".");
    expect((await there.submit("/thirdparty/test", { ticket: half })).status).toBe(404);
    expect((await press(there, location)).headers.get("refresh")).toContain(fake.issuer);
    expect((await press(there, location)).status).toBe(404);
  });
});
