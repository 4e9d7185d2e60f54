import { createHash, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { endAccess } from "../../openid/consents.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { chooseMethod, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** Requests of applications that are not the operator's own, and what is stored of their users' answers. */

const returnTo = "https://app.example.com/callback";
const api = "https://api.example.com/orders";
const client = { redirect_uris: [returnTo], scopes: ["openid", "email"] };
const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_REGISTRATION: "open",
  STILE_OPENID_RESOURCES: JSON.stringify({ [api]: { scopes: ["orders:read"] } }),
  STILE_OPENID_UNLISTED_CONSENT_LIFETIME: "3600",
  STILE_OPENID_CLIENTS: JSON.stringify({
    own: { ...client, name: "Our own" },
    reader: { ...client, name: "A reader", first_party: false },
    other: { ...client, name: "Another reader", first_party: false },
  }),
});

/** The browser of a new user, who is signed in. */
const newVisitor = async () => (await restRegistration(runtime, `${randomUUID()}@example.com`)).visitor;

/** Where an application's request leads a browser. */
async function ask(browser: Visitor, client_id: string, more: Record<string, string> = {}): Promise<URL> {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid email",
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
    ...more,
  });
  const answer = await browser.request(`/oauth/authorize?${query}`);
  return new URL(answer.headers.get("location") ?? "");
}

/** The flow that asks a user about a request. */
const consentFor = (browser: Visitor, page: URL) =>
  restWalk(runtime, "consent", browser, { request: page.searchParams.get("request") ?? "" });

const returned = async (browser: Visitor, address: unknown) =>
  new URL(
    (await browser.request(new URL(String(address)).pathname)).headers.get("location") ?? "",
    runtime.config.base_url,
  );

const consents = () => runtime.database.read.select().from(schema.openidConsents);

test("an application gets no code before its user has allowed it; the operator's own is not asked for", async () => {
  const browser = await newVisitor();
  expect((await ask(browser, "own")).searchParams.get("code")).not.toBeNull();
  const page = await ask(browser, "reader");
  expect(page.pathname).toBe("/consent");
  const resume = `${runtime.config.base_url}/oauth/authorize/${page.searchParams.get("request")}`;
  const asked = await returned(browser, resume);
  expect(asked.pathname).toBe("/consent");
  const flow = await consentFor(browser, asked);
  await flow.act("consent_allow");
  const back = await returned(browser, flow.state.payload.redirect_url);
  expect(back.searchParams.get("code")).not.toBeNull();
});

test("what was allowed is stored for the user and the application, and its answers are in the audit log", async () => {
  const browser = await newVisitor();
  const before = (await consents()).length;
  const allowed = await consentFor(browser, await ask(browser, "reader"));
  await allowed.act("consent_allow");
  const denied = await consentFor(browser, await ask(browser, "other"));
  await denied.act("consent_deny");
  const stored = (await consents()).slice(before);
  expect(stored).toMatchObject([
    { clientId: "reader", allowed: { scopes: ["openid", "email"], claims: [], resources: {} } },
  ]);
  const [{ userId = "" } = {}] = stored;
  const trail = await auditTrail(runtime, userId);
  const asked = { scopes: ["openid", "email"], claims: [] };
  expect(trail.filter(([type]) => type.startsWith("consent_"))).toEqual([
    ["consent_given", { client_id: "reader", ...asked }],
    ["consent_declined", { client_id: "other", ...asked }],
  ]);
});

test("a token for an API names its user there, so that the user is asked, whatever scopes it has", async () => {
  const browser = await newVisitor();
  const first = await consentFor(browser, await ask(browser, "reader"));
  await first.act("consent_allow");
  expect((await ask(browser, "reader")).searchParams.get("code")).not.toBeNull();
  const page = await ask(browser, "reader", { resource: api });
  expect(page.pathname).toBe("/consent");
  const second = await consentFor(browser, page);
  expect(second.state.payload.authorization).toMatchObject({ resources: [{ address: api, scopes: [] }] });
  await second.act("consent_allow");
  expect((await ask(browser, "reader", { resource: api })).searchParams.get("code")).not.toBeNull();
  expect((await ask(browser, "own", { resource: api })).searchParams.get("code")).not.toBeNull();
});

test("A215 an answer that names another question changes nothing", async () => {
  const browser = await newVisitor();
  const first = await consentFor(browser, await ask(browser, "reader"));
  const { question } = first.state.actions.consent_allow?.inputs ?? {};
  const second = await consentFor(browser, await ask(browser, "other"));
  const before = (await consents()).length;
  for (const answer of [question?.value, "x", "x".repeat(64)])
    for (const action of ["consent_allow", "consent_deny"])
      expect((await second.act(action, { question: answer })).error?.code).toBe(
        "operation_not_permitted_error",
      );
  expect(await consents()).toHaveLength(before);
  expect((await second.act("consent_allow")).name).toBe("consent_answered");
});

test("an application is allowed no more than it has asked for", async () => {
  const browser = await newVisitor();
  const flow = await consentFor(browser, await ask(browser, "reader", { scope: "openid" }));
  await flow.act("consent_allow");
  expect((await ask(browser, "reader", { scope: "openid" })).searchParams.get("code")).not.toBeNull();
  expect((await ask(browser, "reader")).pathname).toBe("/consent");
  const claims = JSON.stringify({ userinfo: { email: null } });
  expect((await ask(browser, "reader", { scope: "openid", claims })).pathname).toBe("/consent");
});

test("a request that asks anew is not answered by what was allowed before", async () => {
  const browser = await newVisitor();
  await (await consentFor(browser, await ask(browser, "reader"))).act("consent_allow");
  const page = await ask(browser, "reader", { prompt: "consent" });
  const resume = `${runtime.config.base_url}/oauth/authorize/${page.searchParams.get("request")}`;
  expect((await returned(browser, resume)).pathname).toBe("/consent");
});

test("what is allowed from several windows at once is allowed together", async () => {
  const browser = await newVisitor();
  const scopes = ["openid", "openid email", "email"];
  const flows = [];
  for (const scope of scopes) flows.push(await consentFor(browser, await ask(browser, "reader", { scope })));
  await Promise.all(flows.map((flow) => flow.act("consent_allow")));
  expect((await consents()).at(-1)?.allowed).toMatchObject({
    scopes: expect.arrayContaining(["openid", "email"]),
  });
});

test("a question that is shown in two windows takes the first answer", async () => {
  const browser = await newVisitor();
  const page = await ask(browser, "reader");
  const windows = [await consentFor(browser, page), await consentFor(browser, page)] as const;
  const before = (await consents()).length;
  expect((await windows[0].act("consent_deny")).name).toBe("consent_answered");
  expect((await windows[1].act("consent_allow")).name).toBe("error");
  expect(await consents()).toHaveLength(before);
  const back = await returned(browser, windows[0].state.payload.redirect_url);
  expect(back.searchParams.get("error")).toBe("access_denied");
});

test("a question that has expired is neither shown nor answered", async () => {
  const browser = await newVisitor();
  const page = await ask(browser, "reader");
  const flow = await consentFor(browser, page);
  const before = (await consents()).length;
  await runtime.database.write
    .update(schema.openidArtifacts)
    .set({ expiresAt: new Date(Date.now() - 1) })
    .where(eq(schema.openidArtifacts.kind, "Interaction"));
  expect((await flow.act("consent_allow")).name).toBe("error");
  expect(await consents()).toHaveLength(before);
});

test("A227 access that its user ends while a code is issued is ended", async () => {
  const email = `${randomUUID()}@example.com`;
  const { visitor: browser } = await restRegistration(runtime, email);
  const flow = await consentFor(browser, await ask(browser, "reader"));
  await flow.act("consent_allow");
  const { userId = "" } = (await consents()).at(-1) ?? {};
  // Another session has no grant yet.
  const login = await restWalk(runtime, "login");
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  await chooseMethod(login, "continue_to_password_login");
  expect((await login.act("password_login", { password })).name).toBe("success");
  let back: Promise<URL> | undefined;
  await runtime.database.write.transaction(async (tx) => {
    await endAccess(runtime.tenant.id, userId, "reader")(tx);
    back = ask(login.visitor, "reader");
    // The request has read what was allowed, and waits.
    await Promise.race([back, new Promise((resolve) => setTimeout(resolve, 500))]);
  });
  expect((await back)?.searchParams.get("code")).toBeNull();
  const left = await runtime.database.read
    .select()
    .from(schema.openidArtifacts)
    .where(and(eq(schema.openidArtifacts.kind, "Grant"), eq(schema.openidArtifacts.userId, userId)));
  expect(left).toEqual([]);
});

test("what an API is called and what its scopes allow is told in the operator's words, of what is asked alone", async () => {
  const texts = {
    "orders:read": { en: "see your orders", de: "Ihre Bestellungen sehen" },
    "orders:write": { en: "change your orders" },
  };
  const described = runtime.configured({
    STILE_OPENID_RESOURCES: JSON.stringify({
      [api]: { name: "Orders", scopes: ["orders:read", "orders:write"], texts },
    }),
    STILE_OPENID_CLIENTS: JSON.stringify({
      reader: { ...client, scopes: ["openid", "orders:read"], name: "A reader", first_party: false },
    }),
  });
  const browser = visitor(described);
  for (const [name, value] of (await newVisitor()).cookies) browser.cookies.set(name, value);
  const page = await ask(browser, "reader", { scope: "openid orders:read", resource: api });
  const flow = await consentFor(browser, page);
  expect(flow.state.payload).toMatchObject({
    authorization: {
      resources: [
        {
          address: api,
          name: "Orders",
          scopes: ["orders:read"],
          texts: { "orders:read": texts["orders:read"] },
        },
      ],
    },
  });
  expect(JSON.stringify(flow.state.payload)).not.toContain("change your orders");
});

test("A226 an application that was the operator's own gets no more than its user allows from then on", async () => {
  const asOwn = await newVisitor();
  expect((await ask(asOwn, "own")).searchParams.get("code")).not.toBeNull();
  const clients = JSON.stringify({ own: { ...client, name: "Sold", first_party: false } });
  const browser = visitor(runtime.configured({ STILE_OPENID_CLIENTS: clients }));
  for (const [name, value] of asOwn.cookies) browser.cookies.set(name, value);
  const page = await ask(browser, "own", { scope: "openid" });
  await (await consentFor(browser, page)).act("consent_allow");
  expect((await ask(browser, "own", { scope: "openid" })).searchParams.get("code")).not.toBeNull();
  expect((await ask(browser, "own")).pathname).toBe("/consent");
  const claims = JSON.stringify({ userinfo: { email: null } });
  expect((await ask(browser, "own", { scope: "openid", claims })).pathname).toBe("/consent");
});

test("A221 a claim that the client may not have is neither asked for nor given", async () => {
  const browser = await newVisitor();
  const claims = JSON.stringify({ userinfo: { phone_number: null } });
  const page = await ask(browser, "reader", { claims });
  const flow = await consentFor(browser, page);
  expect(flow.state.payload).toMatchObject({ authorization: { scopes: ["openid", "email"] } });
  await flow.act("consent_allow");
  expect((await ask(browser, "reader", { claims })).searchParams.get("code")).not.toBeNull();
});

describe("a client that has registered itself", () => {
  async function register(): Promise<string> {
    const said = { redirect_uris: [returnTo], client_name: "An agent", token_endpoint_auth_method: "none" };
    const answer = await visitor(runtime).post("/oauth/register", said);
    return ((await answer.json()) as { client_id: string }).client_id;
  }

  const rowsOf = async (kind: string) =>
    (await runtime.database.read.select().from(schema.openidArtifacts)).filter((row) => row.kind === kind);

  test("is allowed for a while, in which it stays known; then its user is asked again", async () => {
    const clientId = await register();
    const browser = await newVisitor();
    const flow = await consentFor(browser, await ask(browser, clientId));
    expect(flow.state.payload.authorization).toMatchObject({ lifetime: 3600, client: { name: "An agent" } });
    await flow.act("consent_allow");
    const back = await returned(browser, flow.state.payload.redirect_url);
    expect(back.searchParams.get("code")).not.toBeNull();
    expect((await ask(browser, clientId)).searchParams.get("code")).not.toBeNull();
    const end = Date.now() + 3600_000;
    const grant = (await rowsOf("Grant")).find((row) => row.clientId === clientId);
    expect(Math.abs((grant?.expiresAt.getTime() ?? 0) - end)).toBeLessThan(60_000);
    runtime.advanceClock(3601);
    expect((await ask(browser, clientId)).pathname).toBe("/consent");
    const account = await restWalk(runtime, "profile", browser);
    await account.act("register_client_capabilities");
    expect(account.state.payload.applications).toEqual([]);
  });

  test("is forgotten of a user who has allowed two hundred others since", async () => {
    const clientId = await register();
    const browser = await newVisitor();
    await (await consentFor(browser, await ask(browser, clientId))).act("consent_allow");
    const [first] = (await consents()).slice(-1);
    const later = new Date((first?.updatedAt.getTime() ?? 0) + 1000);
    const others = Array.from({ length: 199 }, (_, index) => ({
      ...(first as NonNullable<typeof first>),
      clientId: `registered-${index}`,
      updatedAt: later,
    }));
    await runtime.database.write.insert(schema.openidConsents).values(others);
    await (await consentFor(browser, await ask(browser, "reader"))).act("consent_allow");
    const another = await register();
    runtime.advanceClock(2);
    await (await consentFor(browser, await ask(browser, another))).act("consent_allow");
    const kept = (await consents()).filter(({ userId }) => userId === first?.userId);
    expect(kept).toHaveLength(201);
    expect(kept.map((consent) => consent.clientId)).toEqual(expect.arrayContaining(["reader", another]));
    expect(kept.map((consent) => consent.clientId)).not.toContain(clientId);
  });

  test("A224 whose name and addresses cannot be stored as they are is shown without what is at fault", async () => {
    const said = {
      redirect_uris: [returnTo],
      // A character of two halves at the end of what is kept of it.
      client_name: `a${"😀".repeat(70)}\u202e`,
      client_uri: "https://app.example.com/\u0000",
      tos_uri: "https://app.example.com/terms",
      policy_uri: "https://app.example.com/\u00e9",
    };
    const answer = await visitor(runtime).post("/oauth/register", said);
    const { client_id } = (await answer.json()) as { client_id: string };
    const browser = await newVisitor();
    const shown = await consentFor(browser, await ask(browser, client_id));
    expect(shown.state.payload.authorization).toMatchObject({
      client: { name: `a${"😀".repeat(63)}`, tos_uri: said.tos_uri, origin: "registration" },
    });
    expect((await shown.act("consent_allow")).name).toBe("consent_answered");
  });

  test("is not known where applications cannot register, and its name stays on the account page", async () => {
    const clientId = await register();
    const browser = await newVisitor();
    const flow = await consentFor(browser, await ask(browser, clientId));
    await flow.act("consent_allow");
    const closed = runtime.configured({ STILE_OPENID_REGISTRATION: "off" });
    expect((await visitor(closed).request(`/oauth/authorize?client_id=${clientId}`)).status).toBe(400);
    const account = await restWalk(closed, "profile", browser);
    await account.act("register_client_capabilities");
    expect(account.state.payload.applications).toMatchObject([{ id: clientId, name: "An agent" }]);
  });
});

test.each(["consent_allow", "consent_deny"])(
  "a browser that returns several times at once after %s goes on once, and is shown a page else",
  async (action) => {
    const browser = await newVisitor();
    const flow = await consentFor(browser, await ask(browser, "reader"));
    await flow.act(action);
    const resume = new URL(String(flow.state.payload.redirect_url)).pathname;
    const cookies = new Map(browser.cookies);
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const tab = visitor(runtime);
        for (const [name, value] of cookies) tab.cookies.set(name, value);
        return tab.request(resume, { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
      }),
    );
    const kindOf = (answer: Response) =>
      answer.status === 303
        ? new URL(answer.headers.get("location") ?? "").origin
        : `${answer.status} ${answer.headers.get("content-type")}`;
    const kinds = answers.map(kindOf).toSorted();
    expect(kinds).toEqual([...Array(5).fill("400 text/html; charset=utf-8"), "https://app.example.com"]);
    const again = await browser.request(resume, { headers: { accept: "text/html" } });
    expect(kindOf(again)).toBe("400 text/html; charset=utf-8");
    expect(await again.text()).toContain("This link does not work");
  },
);
