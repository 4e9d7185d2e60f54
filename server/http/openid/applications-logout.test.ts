import { createHash, randomUUID } from "node:crypto";
import { eq, inArray, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Tenant } from "../../config/tenant.ts";
import { clientReceiverId } from "../../events/config-webhooks.ts";
import { createLogouts } from "../../openid/logouts.ts";
import { sidOf } from "../../openid/sign-ins.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { startOidcProvider } from "../../testing/oidc-provider.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { mailedCode, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** The page that signs a browser out of applications (OpenID Connect Front-Channel Logout 1.0). */

const home = "http://localhost:3000/";
const goodbye = "https://shop.example.com/goodbye";
const appPage = "https://app.example.com/account";
const returnTo = (clientId: string) => `https://${clientId}.example.com/callback`;
const at = (clientId: string) => ({ name: clientId, redirect_uris: [returnTo(clientId)] });
const framed = (clientId: string) => ({
  ...at(clientId),
  post_logout_redirect_uris: [goodbye],
  frontchannel_logout_uri: `https://${clientId}.example.com/out`,
});
const both = { ...framed("both"), backchannel_logout_uri: "https://both.example.com/told" };
const many = Array.from({ length: 24 }, (_, index) => `many${index}`);

const acme = await openForTests(
  startOidcProvider([`${home}thirdparty/callback`], [`${home}thirdparty/logout`]),
);
const { acme: known } = JSON.parse(acme.settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "");
const settingsOf = (clients: object) => ({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify(clients),
  STILE_CORS_ALLOW_ORIGINS: new URL(appPage).origin,
  STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: appPage,
  STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({ acme: { ...known, rp_initiated_logout: true } }),
});
const clients = {
  shop: framed("shop"),
  both,
  quiet: at("quiet"),
  ...Object.fromEntries(many.map((id) => [id, framed(id)])),
};
const runtime = await runtimeForTests(settingsOf(clients));

const newBrowser = async () => (await restRegistration(runtime, newAddress())).visitor;

/** @returns the code */
async function signIn(browser: Visitor, clientId: string): Promise<string> {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: returnTo(clientId),
    response_type: "code",
    scope: "openid",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
  });
  const answer = await browser.request(`/oauth/authorize?${query}`);
  const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code");
  expect(code).not.toBeNull();
  return String(code);
}

const signOut = (browser: Visitor, query = "", headers = {}) =>
  browser.request(`/logout${query}`, { method: "POST", headers });

const pathOf = (address: string | null) => {
  const { pathname, search } = new URL(address ?? "", home);
  return pathname + search;
};

async function open(browser: Visitor, address: string | null) {
  const answer = await browser.request(pathOf(address));
  const body = await answer.text();
  const frames = [...body.matchAll(/<iframe [^>]*src="([^"]*)"/g)].map(
    ([, src = ""]) => new URL(src.replaceAll("&amp;", "&")),
  );
  const next = /<a data-followed href="([^"]*)"/.exec(body)?.[1] ?? null;
  return { answer, body, frames, next, hosts: frames.map(({ host }) => host) };
}

const nextOf = (answer: Response) => answer.headers.get("x-provider-logout");

const copyOf = (browser: Visitor, other: TestRuntime): Visitor => {
  const same = visitor(other);
  for (const [name, value] of browser.cookies) same.cookies.set(name, value);
  return same;
};

test("a script of a page of another origin is led through the applications back to that page", async () => {
  const browser = await newBrowser();
  await signIn(browser, "shop");
  const answer = await signOut(browser, `?redirect_to=${encodeURIComponent(appPage)}`, {
    origin: new URL(appPage).origin,
    "sec-fetch-site": "cross-site",
  });
  expect(answer.headers.get("access-control-expose-headers")).toContain("X-Provider-Logout");
  const { hosts, next } = await open(browser, nextOf(answer));
  expect([hosts, next]).toEqual([["shop.example.com"], appPage]);
});

test("a sign-out loads the pages first, and goes on at the identity provider", async () => {
  const name = randomUUID();
  acme.person(name, { email: newAddress(), email_verified: true });
  const atAcme = acme.browser();
  const flow = await restWalk(runtime, "login");
  await flow.act("register_client_capabilities");
  await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
  const { back } = await atAcme.open(String(flow.state.payload.redirect_url), name);
  const returned = await flow.visitor.request(pathOf(back.href));
  const token = new URL(returned.headers.get("location") ?? "").searchParams.get("hanko_token") ?? "";
  await flow.act("exchange_token", { token });
  expect(flow.state.name).toBe("success");
  await signIn(flow.visitor, "shop");

  const { hosts, next } = await open(flow.visitor, nextOf(await signOut(flow.visitor)));
  expect(hosts).toEqual(["shop.example.com"]);
  expect(next).toMatch(/^http:\/\/localhost:3000\/logout\/provider\?state=/);
  const sent = await flow.visitor.request(pathOf(next));
  expect(new URL(sent.headers.get("location") ?? "").origin).toBe(acme.issuer);
});

test("a sign-out that cannot be stored for the browser ends no session, and is complete when it is repeated", async () => {
  const browser = await newBrowser();
  await signIn(browser, "shop");
  const { write } = runtime.database;
  await write.execute(sql`
    create function refuse_applications_logout() returns trigger language plpgsql
    as $$ begin raise 'the disk is full'; end $$`);
  await write.execute(sql`
    create trigger refuse_applications_logout before insert on openid_artifacts for each row
    when (new.kind = 'ApplicationsLogout') execute function refuse_applications_logout()`);
  expect((await signOut(browser)).status).toBe(500);
  await write.execute(sql`drop function refuse_applications_logout cascade`);
  expect((await browser.request("/me")).status).toBe(200);
  const answer = await signOut(browser);
  expect(answer.status).toBe(204);
  expect((await open(browser, nextOf(answer))).hosts).toEqual(["shop.example.com"]);
  expect((await browser.request("/me")).status).toBe(401);
});

test("a client whose address was removed meanwhile is left out, and the browser goes on", async () => {
  const browser = await newBrowser();
  await signIn(browser, "shop");
  await signIn(browser, "both");
  const next = nextOf(await signOut(browser));
  const fewer = runtime.configured(settingsOf({ shop: at("shop"), both }));
  expect((await open(visitor(fewer), next)).hosts).toEqual(["both.example.com"]);
  const none = runtime.configured(settingsOf({ shop: at("shop") }));
  const answer = await visitor(none).request(pathOf(next));
  expect([answer.status, answer.headers.get("location")]).toEqual([303, home]);
});

describe("a row of an ended session", () => {
  const logouts = createLogouts(runtime);
  const rowsOf = (sessionId: string, ids: string[]) =>
    runtime.database.read
      .select()
      .from(schema.openidSignIns)
      .where(
        inArray(
          schema.openidSignIns.sid,
          ids.map((id) => sidOf(sessionId, id)),
        ),
      );

  async function ended(...ids: string[]) {
    const browser = await newBrowser();
    for (const id of ids) await signIn(browser, id);
    const { session_id: sessionId } = (await (await browser.request("/sessions/validate")).json())
      .claims as Record<string, string>;
    if (sessionId === undefined) throw new Error("there is no session");
    expect((await rowsOf(sessionId, ids)).length).toBe(ids.length);
    await runtime.database.write.delete(schema.sessions).where(eq(schema.sessions.id, sessionId));
    return sessionId;
  }

  const deliveries = (clientId: string) =>
    runtime.database.read
      .select()
      .from(schema.webhookDeliveries)
      .where(eq(schema.webhookDeliveries.webhook, clientReceiverId(clientId)));

  test("makes no delivery for a client that is told in the browser alone, and one for a client that is told both ways", async () => {
    while ((await logouts.deliver()) > 0);
    const sessionId = await ended("shop", "both");
    const before = await deliveries("both");
    expect(await logouts.deliver()).toBe(1);
    expect(await rowsOf(sessionId, ["shop", "both"])).toEqual([]);
    expect(await deliveries("shop")).toEqual([]);
    expect(await deliveries("both")).toHaveLength(before.length + 1);
  });

  test("makes one for a client that this process does not know: another one may", async () => {
    await ended("shop");
    const other = createLogouts(runtime.configured(settingsOf({ quiet: at("quiet") })));
    expect(await other.deliver()).toBe(1);
  });
});

describe("A281 the state of the page", () => {
  test("is unknown, malformed, repeated, missing or late: leads to the page of the service, and names no session", async () => {
    const browser = await newBrowser();
    await signIn(browser, "shop");
    const path = pathOf(nextOf(await signOut(browser)));
    const page = path.split("?")[0];
    const made = ["", "?state=x", `?state=${"A".repeat(43)}`, `?state=${"A".repeat(8000)}`, "?state=%00"];
    for (const query of [...made, `?${path.split("?")[1]}&state=x`]) {
      const answer = await visitor(runtime).request(page + query);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, home]);
    }
    expect((await visitor(runtime).request(path, { method: "HEAD" })).status).toBe(204);
    expect((await open(browser, path)).frames).toHaveLength(1);
    await runtime.database.write
      .update(schema.openidArtifacts)
      .set({ expiresAt: new Date(0) })
      .where(eq(schema.openidArtifacts.kind, "ApplicationsLogout"));
    const late = await open(browser, path);
    expect([late.answer.status, late.body]).toEqual([303, ""]);
  });

  test("is no code of an application, and leads to no provider", async () => {
    const browser = await newBrowser();
    const code = await signIn(browser, "shop");
    const state = new URL(nextOf(await signOut(browser)) ?? "").searchParams.get("state");
    for (const path of [`/oauth/logout/applications?state=${code}`, `/logout/provider?state=${state}`]) {
      const answer = await browser.request(path);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, home]);
    }
  });

  test("does nothing while the provider is off", async () => {
    const browser = await newBrowser();
    await signIn(browser, "shop");
    const path = pathOf(nextOf(await signOut(browser)));
    const off = runtime.configured({ STILE_OPENID_ENABLED: "false" });
    expect((await visitor(off).request(path)).status).toBe(404);
  });
});

describe("A282 a sign-out by another site", () => {
  test("loads no page: it asks, or is refused", async () => {
    const browser = await newBrowser();
    await signIn(browser, "shop");
    const asked = await open(browser, `/oauth/logout?client_id=shop&post_logout_redirect_uri=${goodbye}`);
    expect([asked.answer.status, asked.frames]).toEqual([200, []]);
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await signOut(browser, "", foreign)).status).toBe(403);
    const pressed = await browser.submit("/oauth/logout", { pressed: "true" }, foreign);
    expect(await pressed.text()).not.toContain("<iframe");
    expect((await browser.request("/me")).status).toBe(200);
  });

  test("without a session loads no page", async () => {
    const answer = await visitor(runtime).request(
      `/oauth/logout?client_id=shop&post_logout_redirect_uri=${goodbye}`,
    );
    expect([answer.status, answer.headers.get("location")]).toEqual([303, goodbye]);
  });
});

describe("A283 the clients of another tenant", () => {
  async function tenantNamed(name: string): Promise<Tenant> {
    const openid = { enabled: true, clients: { shop: framed("shop") } };
    const { id } = await createTenant(runtime, { name, hosts: [], settings: { openid } });
    const tenant = await runtime.tenants.byId(id);
    if (!tenant) throw new Error("the created tenant was not found");
    return tenant;
  }

  test("are not loaded, and its page cannot be opened elsewhere", async () => {
    const tenant = await tenantNamed("Acme");
    const browser = tenantVisitor(runtime, tenant);
    const email = newAddress();
    const registration = await restWalk(runtime, "registration", browser);
    await registration.act("register_client_capabilities");
    await registration.act("register_login_identifier", { email });
    await registration.act("verify_passcode", { code: mailedCode(runtime, email) });
    await registration.act("register_password", { new_password: password });
    await signIn(browser, "shop");
    const ours = await newBrowser();
    await signIn(ours, "shop");

    const address = nextOf(await signOut(browser)) ?? "";
    expect(address.startsWith(`${tenant.config.base_url}/oauth/logout/applications?`)).toBe(true);
    const path = `/oauth/logout/applications${new URL(address).search}`;
    expect((await visitor(runtime).request(path)).status).toBe(303);
    expect((await tenantVisitor(runtime, await tenantNamed("Globex")).request(path)).status).toBe(303);
    const [ofTenant, ...more] = (await open(browser, path)).frames;
    expect(more).toEqual([]);
    expect(ofTenant?.searchParams.get("iss")).toBe(tenant.config.base_url);
    const [ofOurs] = (await open(ours, nextOf(await signOut(ours)))).frames;
    expect(ofOurs?.searchParams.get("iss")).toBe(runtime.config.base_url);
    expect(ofOurs?.searchParams.get("sid")).not.toBe(ofTenant?.searchParams.get("sid"));
  });
});

describe("A284 pages of applications that a browser is to load", () => {
  test("are twenty at most, those of the last sign-ins", async () => {
    const browser = await newBrowser();
    for (const id of many) await signIn(browser, id);
    const { hosts } = await open(browser, nextOf(await signOut(browser)));
    expect(hosts).toEqual(
      many
        .slice(-20)
        .reverse()
        .map((id) => `${id}.example.com`),
    );
  });

  /** The cookies of a browser beside the session cookie of others, which another site has planted. */
  const cookiesWith = (planted: readonly Visitor[], own: Visitor, names = [...own.cookies.keys()]) =>
    [
      ...planted.map(({ cookies }) => `service=${cookies.get("service")}`),
      ...names.map((name) => `${name}=${own.cookies.get(name)}`),
    ].join("; ");

  async function plantedSession(): Promise<Visitor> {
    const planted = await newBrowser();
    for (const id of many) await signIn(planted, id);
    return planted;
  }

  test("A295 are first those of the user whom the browser knows, whatever a planted session has signed in to since", async () => {
    const own = await newBrowser();
    await signIn(own, "shop");
    const planted = await plantedSession();
    const cookie = cookiesWith([planted], own);
    const { hosts } = await open(own, nextOf(await signOut(visitor(runtime), "", { cookie })));
    expect([hosts.length, hosts[0]]).toEqual([20, "shop.example.com"]);
  });

  test("A295 are also those of the user whom the browser no longer knows", async () => {
    const own = await newBrowser();
    await signIn(own, "shop");
    await signIn(own, "both");
    const planted = [await plantedSession(), await plantedSession()];
    const cookie = cookiesWith(planted, own, ["service"]);
    const { hosts } = await open(own, nextOf(await signOut(visitor(runtime), "", { cookie })));
    expect(hosts).toHaveLength(20);
    expect(hosts).toEqual(expect.arrayContaining(["shop.example.com", "both.example.com"]));
  });

  test("cannot lead the browser away, open windows or read the address of the page", async () => {
    const browser = await newBrowser();
    await signIn(browser, "shop");
    const { answer, body } = await open(browser, nextOf(await signOut(browser)));
    expect(body).toContain('<iframe hidden sandbox="allow-same-origin allow-scripts allow-forms" src="');
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("have nothing in their address that leaves its attribute", async () => {
    const address = `https://shop.example.com/out?a="><script>alert(1)</script>&b='`;
    const hostile = runtime.configured(
      settingsOf({ shop: { ...framed("shop"), frontchannel_logout_uri: address } }),
    );
    const browser = await newBrowser();
    await signIn(browser, "shop");
    const { body } = await open(copyOf(browser, hostile), nextOf(await signOut(browser)));
    expect(body).not.toContain("<script>alert");
    expect(body).toContain("a=&quot;&gt;&lt;script&gt;");
  });
});
