import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Tenant } from "../../config/tenant.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password, restWalk } from "../../testing/rest-walk.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { visitor } from "../../testing/visitor.ts";

/** Each tenant is an issuer of its own, with clients of its own. */

const returnTo = "https://app.example.com/callback";
const openid = {
  enabled: true,
  clients: {
    shop: {
      name: "Shop",
      redirect_uris: [returnTo],
      scopes: ["openid", "offline_access"],
      post_logout_redirect_uris: ["https://app.example.com/goodbye"],
    },
  },
};
const runtime = await runtimeForTests({
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    ours: { name: "Ours", redirect_uris: [returnTo], scopes: ["openid", "offline_access"] },
  }),
});

async function tenantNamed(name: string, hosts: string[] = []): Promise<Tenant> {
  const { id } = await createTenant(runtime, { name, hosts, settings: { openid } });
  const tenant = await runtime.tenants.byId(id);
  if (!tenant) throw new Error("the created tenant was not found");
  return tenant;
}

const acme = await tenantNamed("Acme");
const globex = await tenantNamed("Globex", ["login.globex.example"]);
const initech = await createTenant(runtime, { name: "Initech", hosts: [], settings: {} });

const verifier = "v".repeat(43);
const asked = new URLSearchParams({
  client_id: "shop",
  redirect_uri: returnTo,
  response_type: "code",
  scope: "openid offline_access",
  prompt: "consent",
  code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  code_challenge_method: "S256",
});

/** Signs a new user up at a tenant, and returns the code that its application gets. */
async function codeAt(tenant: Tenant): Promise<string> {
  const browser = tenantVisitor(runtime, tenant);
  const email = `ada@${tenant.id}.example`;
  const registration = await restWalk(runtime, "registration", browser);
  await registration.act("register_client_capabilities");
  await registration.act("register_login_identifier", { email });
  await registration.act("verify_passcode", { code: mailedCode(runtime, email) });
  await registration.act("register_password", { new_password: password });
  const answer = await browser.request(`/oauth/authorize?${asked}`);
  return new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
}

async function exchange(tenant: Tenant, form: Record<string, string>) {
  const answer = await tenantVisitor(runtime, tenant).submit("/oauth/token", { client_id: "shop", ...form });
  return (await answer.json()) as { error?: string; refresh_token?: string };
}

const redemption = (code: string) => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: returnTo,
  code_verifier: verifier,
});

test("each tenant is the issuer of its own address", async () => {
  for (const tenant of [acme, globex]) {
    const { base_url } = tenant.config;
    const answer = await tenantVisitor(runtime, tenant).request("/.well-known/openid-configuration");
    expect(await answer.json()).toMatchObject({
      issuer: base_url,
      authorization_endpoint: `${base_url}/oauth/authorize`,
      jwks_uri: `${base_url}/.well-known/jwks.json`,
    });
  }
});

test("the metadata of an issuer with a path is also where RFC 8414 puts it", async () => {
  for (const name of ["oauth-authorization-server", "openid-configuration"]) {
    const answer = await visitor(runtime).request(`/.well-known/${name}/t/${acme.id}`);
    expect(await answer.json()).toMatchObject({ issuer: acme.config.base_url });
  }
  const unknown = await visitor(runtime).request(`/.well-known/jwks.json/t/${acme.id}`);
  expect(unknown.status).toBe(404);
});

test("a tenant has neither the provider nor the clients of the server", async () => {
  const off = await tenantVisitor(runtime, initech).request("/.well-known/openid-configuration");
  expect(off.status).toBe(404);
  const foreign = new URLSearchParams(asked);
  foreign.set("client_id", "ours");
  expect((await tenantVisitor(runtime, acme).request(`/oauth/authorize?${foreign}`)).status).toBe(400);
});

test("A213 signing out leads back to an address of the client at this tenant alone", async () => {
  const leave = async (tenant: Tenant, address: string) => {
    const query = new URLSearchParams({ client_id: "shop", post_logout_redirect_uri: address });
    return (await tenantVisitor(runtime, tenant).request(`/oauth/logout?${query}`)).status;
  };
  expect(await leave(acme, "https://app.example.com/goodbye")).toBe(303);
  expect(await leave(acme, "https://app.example.com/other")).toBe(400);
  expect(await leave(initech, "https://app.example.com/goodbye")).toBe(404);
});

test("A214 a code and a refresh token of one tenant are of no use at another", async () => {
  const code = await codeAt(acme);
  expect(await exchange(globex, redemption(code))).toMatchObject({ error: "invalid_grant" });
  const { refresh_token = "" } = await exchange(acme, redemption(code));
  expect(refresh_token).not.toBe("");
  const renewal = { grant_type: "refresh_token", refresh_token };
  expect(await exchange(globex, renewal)).toMatchObject({ error: "invalid_grant" });
  expect(await exchange(acme, renewal)).toMatchObject({ token_type: "Bearer" });
});
