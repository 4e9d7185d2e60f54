import { createHash, randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import type { Tenant } from "../../config/tenant.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

/** What a service may not exchange, and what is asked of the tokens that it presents (RFC 8693). */

const returnTo = "https://app.example.com/callback";
const orders = "https://api.example.com/orders";
const stock = "https://api.example.com/stock";
const billing = "https://api.example.com/billing";
const ledger = "https://api.example.com/ledger";
const secret = "a secret of a service that has enough characters";
const scopes = ["openid", "offline_access", "read", "write"];
const client = { redirect_uris: [returnTo], scopes };
const service = { secret, grants: ["token_exchange"], scopes: ["read", "write"] };
const openid = {
  enabled: true,
  resources: {
    [orders]: { scopes: ["read", "write"] },
    [stock]: { scopes: ["read", "write"] },
    [billing]: { scopes: ["read"] },
    [ledger]: { scopes: ["read"], token: "opaque" },
  },
  clients: {
    shop: { ...client, name: "Shop" },
    reader: { ...client, name: "A reader", first_party: false },
    orders: { ...service, name: "Orders", serves: [orders] },
    stock: { ...service, name: "Stock", serves: [stock] },
    relay: { ...service, name: "Relay", serves: [orders, stock, billing] },
    timid: { ...service, name: "Timid", serves: [orders, ledger], scopes: ["read"] },
    machine: { name: "Machine", secret, grants: ["client_credentials"], scopes: ["read"] },
  },
};
const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify(openid.clients),
  STILE_OPENID_RESOURCES: JSON.stringify(openid.resources),
});
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

type Answer = Record<string, string> & { status?: number };
type Form = Record<string, string>;

const basic = (id: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
});

async function call(form: Form, headers: Form = {}, as: Visitor = visitor(runtime)): Promise<Answer> {
  const answer = await as.submit("/oauth/token", form, headers);
  return { ...((await answer.json()) as Answer), status: answer.status } as Answer;
}

/** Exchanges a token as a service. A parameter that is empty is not sent. */
function exchange(subject_token = "", more: Form = {}, id = "orders", as?: Visitor): Promise<Answer> {
  const form = {
    grant_type: TOKEN_EXCHANGE,
    subject_token,
    subject_token_type: ACCESS_TOKEN,
    resource: stock,
    ...more,
  };
  return call(Object.fromEntries(Object.entries(form).filter(([, value]) => value !== "")), basic(id), as);
}

const refused = { error: "invalid_request", status: 400 };

const newUser = async () => {
  const { visitor: browser } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  return browser;
};

/** The tokens of a client, which its user has allowed what it asks for where it is not the operator's own. */
async function tokensOf(
  browser: Visitor,
  { resource = orders, client_id = "shop", ...more }: Form = {},
): Promise<Record<string, string>> {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: returnTo,
    response_type: "code",
    scope: "openid read write",
    resource,
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
    ...more,
  });
  const at = async (address: string) =>
    new URL((await browser.request(address)).headers.get("location") ?? "");
  let returned = await at(`/oauth/authorize?${query}`);
  if (returned.pathname === "/consent") {
    const request = returned.searchParams.get("request") ?? "";
    const flow = await restWalk(runtime, "consent", browser, { request });
    await flow.act("consent_allow");
    returned = await at(new URL(String(flow.state.payload.redirect_url)).pathname);
  }
  return call({
    client_id,
    grant_type: "authorization_code",
    code: returned.searchParams.get("code") ?? "",
    redirect_uri: returnTo,
    code_verifier: "v".repeat(43),
    resource,
  });
}

/** Signs a token with the keys of the tenant, as only a mistake of this service could. */
const signed = (claims: object, typ = "at+jwt", tenant: Tenant = runtime.tenant) =>
  runtime.signingKeys.of(tenant).sign(claims, { typ });

let browser: Visitor;
let token: string;
beforeAll(async () => {
  browser = await newUser();
  token = (await tokensOf(browser)).access_token ?? "";
});

describe("a token that is given", () => {
  test("names the user, the service that acts and the sign-in, and may do no more than the one before", async () => {
    const before = decodeJwt(token);
    const answer = await exchange(token, { scope: "read" });
    expect(answer).toMatchObject({
      status: 200,
      token_type: "Bearer",
      issued_token_type: ACCESS_TOKEN,
      scope: "read",
    });
    expect(Object.keys(answer).toSorted()).toEqual(
      ["access_token", "expires_in", "issued_token_type", "scope", "status", "token_type"].toSorted(),
    );
    const given = decodeJwt(answer.access_token ?? "");
    const { sub, acr, amr, auth_time } = before;
    expect(given).toMatchObject({ sub, acr, amr, auth_time, aud: stock, scope: "read" });
    expect(given).toMatchObject({ client_id: "orders", act: { sub: "orders" } });
    expect(auth_time).toEqual(expect.any(Number));
    expect(given.exp).toBeLessThanOrEqual(Number(before.exp));
  });

  test("is recorded in the audit log of the user", async () => {
    const userId = String(decodeJwt(token).sub);
    const count = async () =>
      (await auditTrail(runtime, userId)).filter(([type]) => type === "token_exchanged");
    const before = await count();
    await exchange(token);
    await exchange(token, { scope: "unknown" });
    expect((await count()).slice(before.length)).toEqual([
      ["token_exchanged", { client_id: "orders", for_client_id: "shop", resource: stock }],
    ]);
  });

  test("is recorded a bounded number of times in an hour, however often a service exchanges", async () => {
    const few = runtime.configured({ STILE_AUDIT_LOG_ATTEMPTS_PER_HOUR: "3" });
    const given = await tokensOf(await newUser());
    for (let time = 0; time < 6; time += 1)
      expect((await exchange(given.access_token, {}, "orders", visitor(few))).status).toBe(200);
    const trail = await auditTrail(runtime, String(decodeJwt(given.access_token ?? "").sub));
    const types = trail.map(([type]) => type);
    expect(types.filter((type) => type === "token_exchanged")).toHaveLength(3);
    expect(types.filter((type) => type === "audit_limit_reached")).toHaveLength(1);
  });

  test("can be presented by the next service, and names those before it", async () => {
    const { access_token } = await exchange(token);
    const next = await exchange(access_token, { resource: billing }, "stock");
    expect(decodeJwt(next.access_token ?? "")).toMatchObject({
      aud: billing,
      scope: "read",
      client_id: "stock",
      act: { sub: "stock", act: { sub: "orders" } },
    });
  });

  test("has the scopes that the subject token, the service and the API have in common", async () => {
    expect((await exchange(token)).scope).toBe("read write");
    expect((await exchange(token, {}, "timid")).scope).toBe("read");
    const narrow = (await tokensOf(browser, { scope: "openid read" })).access_token;
    expect((await exchange(narrow)).scope).toBe("read");
  });

  test("is as good as the subject token is for its time: that can be presented again", async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test("comes from an opaque token too", async () => {
    const { access_token = "" } = await tokensOf(browser, { resource: ledger, scope: "openid read" });
    expect(access_token).not.toContain(".");
    const answer = await exchange(access_token, {}, "timid");
    const { sub, auth_time } = decodeJwt(token);
    expect(decodeJwt(answer.access_token ?? "")).toMatchObject({
      sub,
      auth_time,
      aud: stock,
      act: { sub: "timid" },
    });
  });
});

describe("A270 a token that is not for the service", () => {
  test("A270 was issued for another API, or for none", async () => {
    const { access_token: ofStock } = await tokensOf(browser, { resource: stock });
    expect(await exchange(ofStock, { resource: billing })).toMatchObject(refused);
    expect(await exchange(token, { resource: billing }, "stock")).toMatchObject(refused);
    const query = { scope: "openid", resource: ledger };
    const { access_token: opaque } = await tokensOf(browser, query);
    expect(await exchange(opaque)).toMatchObject(refused);
  });

  test("A270 is of another kind: an ID token, a refresh token, a session, a client's own, or none", async () => {
    const { id_token, refresh_token } = await tokensOf(browser);
    const machine = await call(
      { grant_type: "client_credentials", resource: orders, scope: "read" },
      basic("machine"),
    );
    expect([id_token, refresh_token, machine.access_token]).toEqual(Array(3).fill(expect.any(String)));
    const session = [...browser.cookies.values()].find((value) => value.split(".").length === 3);
    expect(session).toBeDefined();
    for (const other of [id_token, refresh_token, machine.access_token, session, "x", "a.b.c", "…"])
      expect(await exchange(other), other).toMatchObject(refused);
  });

  test("A270 is of another issuer, type or time, without its origin or with that of another token", async () => {
    const claims = decodeJwt(token);
    const origin = "urn:stile:origin";
    const { access_token: other = "" } = await tokensOf(browser);
    expect(await exchange(await signed(claims))).toMatchObject({ status: 200 });
    const now = Math.floor(Date.now() / 1000);
    for (const changed of [
      { iss: "https://evil.example" },
      { aud: stock },
      { aud: undefined },
      { exp: now - 1 },
      { exp: undefined },
      { [origin]: undefined },
      { [origin]: "AAAA" },
      { [origin]: decodeJwt(other)[origin] },
    ])
      expect(await exchange(await signed({ ...claims, ...changed })), JSON.stringify(changed)).toMatchObject(
        refused,
      );
    for (const typ of ["JWT", "logout+jwt"])
      expect(await exchange(await signed(claims, typ))).toMatchObject(refused);
    const [head, body] = token.split(".");
    expect(await exchange(`${head}.${body}.AAAA`)).toMatchObject(refused);
  });

  test("A270 is of another tenant, whose clients and APIs have the same names", async () => {
    const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings: { openid } });
    const acme = await runtime.tenants.byId(id);
    if (!acme) throw new Error("the created tenant was not found");
    expect(await exchange(token, {}, "orders", tenantVisitor(runtime, acme))).toMatchObject(refused);
    const copied = await signed({ ...decodeJwt(token), iss: acme.config.base_url }, "at+jwt", acme);
    expect(await exchange(copied, {}, "orders", tenantVisitor(runtime, acme))).toMatchObject(refused);
  });
});

describe("A271 what has ended", () => {
  test("A271 the session of a token, with all that was given for it", async () => {
    const user = await newUser();
    const { access_token: first } = await tokensOf(user);
    const { access_token: second } = await exchange(first);
    const { access_token: opaque } = await tokensOf(user, { resource: ledger, scope: "openid read" });
    await user.post("/logout");
    expect(await exchange(first)).toMatchObject(refused);
    expect(await exchange(second, { resource: billing }, "stock")).toMatchObject(refused);
    expect(await exchange(opaque, {}, "timid")).toMatchObject(refused);
  });

  test("A271 the account: blocked", async () => {
    const operator = await adminOperator(runtime);
    const user = await newUser();
    const scope = { scope: "openid offline_access read", prompt: "consent" };
    const { access_token: lasting = "" } = await tokensOf(user, scope);
    expect((await exchange(lasting)).status).toBe(200);
    const id = String(decodeJwt(lasting).sub);
    expect((await operator.call("POST", `/users/${id}/block`)).status).toBe(200);
    expect(await exchange(lasting)).toMatchObject(refused);
  });

  test("A271 the session of a token that outlives it does not count", async () => {
    const user = await newUser();
    const scope = { scope: "openid offline_access read", prompt: "consent" };
    const { access_token: lasting } = await tokensOf(user, scope);
    await user.post("/logout");
    const answer = await exchange(lasting);
    expect(answer.status).toBe(200);
    expect((await exchange(answer.access_token, { resource: billing }, "stock")).status).toBe(200);
  });

  test("A271 the application itself, which the operator has removed", async () => {
    const given = await tokensOf(await newUser());
    const { shop: _, ...clients } = openid.clients;
    const without = runtime.configured({ STILE_OPENID_CLIENTS: JSON.stringify(clients) });
    expect((await exchange(given.access_token)).status).toBe(200);
    expect(await exchange(given.access_token, {}, "orders", visitor(without))).toMatchObject(refused);
  });

  test("A271 the access of an application, which its user has ended", async () => {
    const user = await newUser();
    const scope = { scope: "openid offline_access read", prompt: "consent", client_id: "reader" };
    // The other API is allowed too.
    await tokensOf(user, { ...scope, resource: stock });
    const { access_token: lasting } = await tokensOf(user, scope);
    expect((await exchange(lasting)).status).toBe(200);
    const profile = await restWalk(runtime, "profile", user);
    await profile.act("register_client_capabilities");
    await profile.act("application_revoke", { application_id: "reader" });
    expect(await exchange(lasting)).toMatchObject(refused);
  });
});

describe("A272 more than was allowed", () => {
  test("A272 scopes beyond those of the token, the service or the API", async () => {
    const { access_token: narrow } = await tokensOf(browser, { scope: "openid read" });
    for (const [subject, scope, id] of [
      [narrow, "write", "orders"],
      [narrow, "read write", "orders"],
      [token, "write", "timid"],
      [token, "openid", "orders"],
      [token, "unknown", "orders"],
    ] as const)
      expect(await exchange(subject, { scope }, id)).toMatchObject({ error: "invalid_scope", status: 400 });
    expect(await exchange(token, { scope: "write", resource: billing })).toMatchObject({
      error: "invalid_scope",
    });
  });

  test("A272 an API that the user of an application which is not the operator's own was not asked about", async () => {
    const user = await newUser();
    const { access_token: asked } = await tokensOf(user, { client_id: "reader" });
    expect(await exchange(asked)).toMatchObject({ error: "invalid_scope" });
    await tokensOf(user, { client_id: "reader", resource: stock, scope: "openid read" });
    expect(await exchange(asked)).toMatchObject({ scope: "read" });
    expect(await exchange(asked, { scope: "write" })).toMatchObject({ error: "invalid_scope" });
  });

  test("A272 a client without the grant, or that is public", async () => {
    const unauthorized = { error: "unauthorized_client", status: 400 };
    expect(await exchange(token, {}, "machine")).toMatchObject(unauthorized);
    const form = { grant_type: TOKEN_EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN };
    expect(await call({ ...form, client_id: "shop", resource: stock })).toMatchObject(unauthorized);
    expect((await call({ ...form, client_id: "orders", resource: stock })).status).toBe(401);
    for (const id of ["orders", "machine"]) {
      const wrong = Buffer.from(`${id}:${secret}!`).toString("base64");
      const answer = await call({ ...form, resource: stock }, { authorization: `Basic ${wrong}` });
      expect(answer).toMatchObject({ status: 401, error: "invalid_client" });
    }
  });

  test("A272 a chain of services without end", async () => {
    let subject = token;
    const targets = [stock, orders, stock, orders];
    for (const resource of targets) {
      const answer = await exchange(subject, { resource }, "relay");
      expect(answer.status).toBe(200);
      subject = String(answer.access_token);
    }
    expect(await exchange(subject, { resource: stock }, "relay")).toMatchObject(refused);
  });

  test("A272 what is not of the profile", async () => {
    const actor = { actor_token: token, actor_token_type: ACCESS_TOKEN };
    const idToken = "urn:ietf:params:oauth:token-type:id_token";
    for (const form of [
      { subject_token: "" },
      { subject_token_type: "" },
      { subject_token_type: idToken },
      { subject_token_type: "urn:ietf:params:oauth:token-type:jwt" },
      actor,
      { actor_token_type: ACCESS_TOKEN },
      { requested_token_type: idToken },
      { requested_token_type: "urn:ietf:params:oauth:token-type:refresh_token" },
    ] as Form[])
      expect(await exchange(token, form), JSON.stringify(form)).toMatchObject(refused);
    for (const form of [
      { resource: "" },
      { audience: "stock" },
      { resource: orders },
      { resource: "https://api.example.com/other" },
      { resource: "nonsense" },
      { resource: ledger },
    ] as Form[])
      expect(await exchange(token, form), JSON.stringify(form)).toMatchObject({
        error: "invalid_target",
        status: 400,
      });
  });

  test("A272 huge values, and parameters that are sent twice", async () => {
    const long = "x".repeat(12_000);
    for (const form of [
      { scope: long },
      { resource: `${stock}/${long}` },
      { requested_token_type: long },
    ] as Form[])
      expect((await exchange(token, form)).status).toBe(400);
    expect(await exchange(long)).toMatchObject(refused);
    expect(await exchange(`${long}.${long.slice(0, 99)}.x`)).toMatchObject(refused);
    const twice = (name: string, value: string) => {
      const body = new URLSearchParams({
        grant_type: TOKEN_EXCHANGE,
        subject_token: token,
        subject_token_type: ACCESS_TOKEN,
        resource: stock,
      });
      body.append(name, value);
      return visitor(runtime).request("/oauth/token", { method: "POST", body, headers: basic("orders") });
    };
    expect(await (await twice("resource", billing)).json()).toMatchObject({ error: "invalid_target" });
    expect(await (await twice("subject_token", token)).json()).toMatchObject({ error: "invalid_request" });
  });
});
