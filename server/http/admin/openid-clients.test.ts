import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type AdminOperator, adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";

const listed = { name: "Listed", redirect_uris: ["https://listed.example.com/callback"] };
const runtime = await runtimeForTests({
  STILE_OPENID_CLIENTS: JSON.stringify({
    listed: { ...listed, secret: "a secret of the configuration 1234567" },
  }),
});
const operator = await adminOperator(runtime);

let own: AdminOperator;
let prefix: string;

beforeEach(async () => {
  const settings = { openid: { enabled: true } };
  own = await adminOperator(runtime, await createTenant(runtime, { name: "Acme", hosts: [], settings }));
  prefix = `/tenants/${own.tenant.id}/openid/clients`;
});

const shop = { name: "Shop", redirect_uris: ["https://shop.example.com/callback"] };

/** Where a request of a client leads a browser at the tenant. */
const asked = async (client_id: string) => {
  const query = new URLSearchParams({
    client_id,
    redirect_uri: "https://shop.example.com/callback",
    response_type: "code",
    scope: "openid",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  return (await tenantVisitor(runtime, own.tenant).request(`/oauth/authorize?${query}`)).status;
};

/** What the token endpoint says to a secret: 400, the code is wrong; 401, the secret is. */
const redeemed = async (secret: string) => {
  const authorization = `Basic ${Buffer.from(`shop:${secret}`).toString("base64")}`;
  const form = {
    grant_type: "authorization_code",
    code: "x",
    redirect_uri: "https://shop.example.com/callback",
  };
  const answer = await tenantVisitor(runtime, own.tenant).submit("/oauth/token", form, { authorization });
  return answer.status;
};

describe("clients of a tenant", () => {
  test("are added, listed, changed and deleted, and can sign users in meanwhile", async () => {
    expect(await asked("shop")).toBe(400);
    const created = await operator.call("POST", prefix, { id: "shop", settings: shop });
    expect([created.status, created.body]).toEqual([201, { id: "shop", settings: shop, secrets: [] }]);
    expect(await asked("shop")).toBe(303);
    expect((await own.call("GET", "/openid/clients")).body).toEqual([created.body]);
    const elsewhere = { redirect_uris: ["https://elsewhere.example.com/callback"] };
    const changed = await own.call("PATCH", "/openid/clients/shop", { ...elsewhere, require_dpop: true });
    const settings = { ...shop, ...elsewhere, require_dpop: true };
    expect(changed).toMatchObject({ status: 200, body: { settings } });
    expect(await asked("shop")).toBe(400);
    await own.call("PATCH", "/openid/clients/shop", { ...shop, require_dpop: null });
    expect((await operator.call("GET", `${prefix}/shop`)).body).toEqual(created.body);
    expect(await asked("shop")).toBe(303);
    expect((await own.call("DELETE", "/openid/clients/shop")).status).toBe(204);
    expect(await asked("shop")).toBe(400);
    expect((await own.call("DELETE", "/openid/clients/shop")).status).toBe(404);
  });

  test("get a secret that is told once and stored sealed; a new one ends the former", async () => {
    await own.call("POST", "/openid/clients", { id: "shop", settings: shop });
    const first = await own.call("POST", "/openid/clients/shop/secret");
    expect(first).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^[\w-]{43}$/) } });
    const shown = await own.call("GET", "/openid/clients/shop");
    expect(shown.body).toEqual({ id: "shop", settings: shop, secrets: ["secret"] });
    const [row] = await runtime.database.read
      .select()
      .from(schema.tenants)
      .where(eq(schema.tenants.id, own.tenant.id));
    expect(JSON.stringify(row?.config)).not.toContain(first.body.secret);
    expect(await redeemed(first.body.secret)).toBe(400);
    const second = await operator.call("POST", `${prefix}/shop/secret`);
    expect(await redeemed(first.body.secret)).toBe(401);
    expect(await redeemed(second.body.secret)).toBe(400);
  });

  test("have claims by templates, which are changed one by one", async () => {
    const claims = { plan: '{{.User.Metadata.Public "plan"}}', kind: "customer" };
    const settings = { ...shop, claims };
    const created = await own.call("POST", "/openid/clients", { id: "shop", settings });
    expect([created.status, created.body]).toEqual([201, { id: "shop", settings, secrets: [] }]);
    const patch = { claims: { kind: null, level: 3 }, access_token_claims: { plan: "pro" } };
    const changed = await own.call("PATCH", "/openid/clients/shop", patch);
    expect(changed.body.settings).toEqual({
      ...shop,
      claims: { plan: claims.plan, level: 3 },
      access_token_claims: { plan: "pro" },
    });
    expect(await asked("shop")).toBe(303);
  });

  test("may have scopes of their tenant's own, which its settings have", async () => {
    const scopes = { groups: { claims: { groups: "public.groups" }, texts: { en: "see your teams" } } };
    const settings = { ...shop, scopes: ["openid", "groups"] };
    await own.call("POST", "/openid/clients", { id: "shop", settings });
    const changed = await operator.call("PATCH", `/tenants/${own.tenant.id}`, {
      config: { openid: { scopes } },
    });
    expect(changed).toMatchObject({ status: 200, body: { config: { openid: { scopes } } } });
    const metadata = await tenantVisitor(runtime, own.tenant).request("/.well-known/openid-configuration");
    expect(await metadata.json()).toMatchObject({
      scopes_supported: expect.arrayContaining(["openid", "groups"]),
      claims_supported: expect.arrayContaining(["sub", "groups"]),
    });
    expect(await asked("shop")).toBe(303);
    const unsafe = { openid: { scopes: { groups: { claims: { groups: "unsafe.groups" } } } } };
    const refused = await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config: unsafe });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("unsafe metadata") },
    });
  });

  test("may exchange tokens of APIs of their tenant, once they have a secret", async () => {
    const api = "https://api.example.com/orders";
    const settings = { name: "Orders", secret: "s".repeat(40), grants: ["token_exchange"], serves: [api] };
    const create = (more = {}) =>
      own.call("POST", "/openid/clients", { id: "orders", settings: { ...settings, ...more } });
    expect(await create()).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("STILE_OPENID_RESOURCES") },
    });
    const resources = { [api]: { scopes: ["read"] } };
    await operator.call("PATCH", `/tenants/${own.tenant.id}`, { config: { openid: { resources } } });
    for (const refused of [{ secret: undefined }, { serves: [] }, { first_party: false }])
      expect((await create(refused)).status).toBe(400);
    const { secret: _, ...told } = settings;
    expect(await create()).toMatchObject({ status: 201, body: { settings: told, secrets: ["secret"] } });
    const metadata = await tenantVisitor(runtime, own.tenant).request("/.well-known/openid-configuration");
    expect(await metadata.json()).toMatchObject({
      grant_types_supported: expect.arrayContaining(["urn:ietf:params:oauth:grant-type:token-exchange"]),
    });
  });

  test("lose nothing to concurrent changes", async () => {
    const ids = ["one", "two", "three", "four"];
    const made = await Promise.all(
      ids.map((id) => own.call("POST", "/openid/clients", { id, settings: shop })),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect((await own.call("GET", "/openid/clients")).body).toHaveLength(4);
  });

  test("are 409 with an id that is taken, and 404 without one of this id", async () => {
    await own.call("POST", "/openid/clients", { id: "shop", settings: shop });
    expect((await own.call("POST", "/openid/clients", { id: "shop", settings: shop })).status).toBe(409);
    for (const id of ["nothing", "constructor", "__proto__"]) {
      expect((await own.call("PATCH", `/openid/clients/${id}`, { name: "x" })).status).toBe(404);
      expect((await own.call("POST", `/openid/clients/${id}/secret`)).status).toBe(404);
      expect((await own.call("GET", `/openid/clients/${id}`)).status).toBe(404);
    }
  });

  test.each([
    [{}],
    [{ id: "shop" }],
    [{ id: "", settings: shop }],
    [{ id: "a b", settings: shop }],
    [{ id: "__proto__", settings: { ...shop, redirect_uris: ["javascript:alert(1)"] } }],
    [{ id: "shop", settings: {} }],
    [{ id: "shop", settings: { name: "Shop" } }],
    [{ id: "shop", settings: { ...shop, secret: "short" } }],
    [{ id: "shop", settings: { ...shop, nothing: 1 } }],
    [{ id: "shop", settings: { ...shop, redirect_uris: Array(30).fill("https://shop.example.com/") } }],
    [{ id: "shop", settings: [] }],
    [{ id: "shop", settings: { ...shop, claims: { sub: "x" } } }],
    [{ id: "shop", settings: { ...shop, access_token_claims: { scope: "admin" } } }],
    [{ id: "shop", settings: { ...shop, claims: { plan: "x" }, first_party: false } }],
  ])("A92 are refused as %j with 400", async (body) => {
    expect((await own.call("POST", "/openid/clients", body)).status).toBe(400);
    expect((await own.call("GET", "/openid/clients")).body).toEqual([]);
  });

  test("are those of the tenant of the key, and of another for the operator alone", async () => {
    const other = await adminOperator(
      runtime,
      await createTenant(runtime, { name: "Globex", hosts: [], settings: {} }),
    );
    await own.call("POST", "/openid/clients", { id: "shop", settings: shop });
    expect((await other.call("GET", "/openid/clients")).body).toEqual([]);
    expect((await other.call("GET", prefix)).status).toBe(404);
    expect((await other.call("DELETE", `${prefix}/shop`)).status).toBe(404);
  });
});

describe("clients of the default tenant", () => {
  test("are those of the configuration, without their secrets, and are changed there", async () => {
    const { body } = await operator.call("GET", "/openid/clients");
    expect(body).toMatchObject([{ id: "listed", settings: { name: "Listed" }, secrets: ["secret"] }]);
    expect(JSON.stringify(body)).not.toContain("a secret of the configuration");
    const refused = await operator.call("POST", "/openid/clients", { id: "shop", settings: shop });
    expect(refused.status).toBe(409);
    expect((await operator.call("DELETE", "/openid/clients/listed")).status).toBe(409);
  });
});
