import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Tree } from "../../lib/tree.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type ConsoleAccount, consoleAccount } from "../../testing/console-account.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { samlIdentityProvider } from "../../testing/saml-identity-provider.ts";

/** Changes that take a second decision: those that lock accounts of the console out, and those of settings that were changed meanwhile. */

const runtime = await runtimeForTests({ STILE_CONSOLE_REQUIRE: "any" });
const strict = runtime.configured({ STILE_CONSOLE_REQUIRE: "multi_factor" });
const saml = samlIdentityProvider();

const acme = {
  display_name: "Acme",
  client_id: "shop",
  issuer: "https://id.acme.test",
};

async function tenantWith(settings: Tree, at = runtime) {
  const { id } = await createTenant(runtime, { name: "Harbour", hosts: [], settings });
  const tenant = await runtime.tenants.byId(id);
  if (!tenant) throw new Error("the tenant is missing");
  return { id, administrator: await consoleAccount(at, "administrator", { tenant }) };
}

const query = (text: string, values: unknown[]) => runtime.database.write.$client.query(text, values);

/** Leaves an account without its mailed codes, with an identity at a provider. */
async function linkTo(provider: string, tenantId: string, { userId }: ConsoleAccount) {
  await query(
    "insert into identities (tenant_id, id, user_id, provider, subject) values ($1, $2, $3, $4, $5)",
    [tenantId, randomUUID(), userId, provider, randomUUID()],
  );
}

const providersAlone = {
  password: { enabled: false },
  passkey: { enabled: false },
  email: { use_for_authentication: false },
};

const confirmed = { query: { unless_locked_out: [] } };

describe("the only way in of an account of the console", () => {
  test("an OAuth provider is not disabled or deleted without a second confirmation", async () => {
    const { id, administrator } = await tenantWith({
      ...providersAlone,
      third_party: {
        custom_providers: { acme },
        providers: { google: { enabled: true, client_id: "shop", secret: "a secret" } },
      },
    });
    await linkTo("custom_acme", id, administrator);
    const provider_id = "custom_acme";
    const refused = {
      status: 409,
      reason: "locks_out",
      message: expect.stringContaining(administrator.userId),
    };
    const off = { provider_id, body: { enabled: false } };
    expect(await administrator.call("changeOAuthProvider", off)).toMatchObject(refused);
    expect(await administrator.call("deleteOAuthProvider", { provider_id })).toMatchObject(refused);
    const named = { provider_id, body: { display_name: "Acme Stores" } };
    expect((await administrator.call("changeOAuthProvider", named)).status).toBe(200);
    expect((await administrator.call("deleteOAuthProvider", { provider_id, ...confirmed })).status).toBe(200);
  });

  test("a SAML provider is not replaced, disabled or deleted without a second confirmation", async () => {
    const settings = { name: "Acme", domains: ["acme.test"], metadata: saml.metadata };
    const { id, administrator } = await tenantWith({
      ...providersAlone,
      saml: { enabled: true, identity_providers: [settings] },
    });
    await linkTo(`saml:${saml.entityId}`, id, administrator);
    const [{ id: provider_id }] = (await administrator.call("listSamlProviders")).data;
    const calls: [string, object][] = [
      ["changeSamlProvider", { provider_id, body: { enabled: false } }],
      ["replaceSamlProvider", { provider_id, body: { ...settings, enabled: false } }],
      ["deleteSamlProvider", { provider_id }],
    ];
    for (const [procedure, input] of calls)
      expect([procedure, (await administrator.call(procedure, input)).reason]).toEqual([
        procedure,
        "locks_out",
      ]);
    expect((await administrator.call("deleteSamlProvider", { provider_id, ...confirmed })).status).toBe(200);
  });
});

test("a SAML provider for the mail domain of an account of the console asks for a second confirmation", async () => {
  const { id, administrator } = await tenantWith({ passkey: { enabled: false }, saml: { enabled: true } });
  const [, domain = ""] = administrator.email.split("@");
  const settings = { name: "Acme", domains: [domain], metadata: saml.metadata };
  const add = (more: object = {}) => administrator.call("createSamlProvider", { body: settings, ...more });
  const refused = {
    status: 409,
    reason: "locks_out",
    message: expect.stringContaining(administrator.userId),
  };
  expect(await add()).toMatchObject(refused);
  const off = await add({ body: { ...settings, enabled: false } });
  expect(off.status).toBe(200);
  const provider_id = off.data.id;
  const on = { provider_id, body: { enabled: true } };
  expect(await administrator.call("changeSamlProvider", on)).toMatchObject(refused);
  // Another address, by which the account still signs in.
  const other = [id, randomUUID(), administrator.userId, `${randomUUID()}@elsewhere.test`];
  await query(
    "insert into emails (tenant_id, id, user_id, address, is_primary) values ($1, $2, $3, $4, false)",
    other,
  );
  expect((await administrator.call("changeSamlProvider", on)).status).toBe(200);
  await query("delete from emails where id = $1", [other[1]]);
  expect((await administrator.call("deleteSamlProvider", { provider_id })).status).toBe(200);
  expect((await add(confirmed)).status).toBe(200);
});

test("an account that is linked to the SAML provider of its mail domain signs in there", async () => {
  const { id, administrator } = await tenantWith({ passkey: { enabled: false }, saml: { enabled: true } });
  await linkTo(`saml:${saml.entityId}`, id, administrator);
  const body = { name: "Acme", domains: [administrator.email.split("@")[1]], metadata: saml.metadata };
  expect((await administrator.call("createSamlProvider", { body })).status).toBe(200);
});

test("an account that could still sign in, but not as the console requires, is locked out too", async () => {
  const settings = {
    mfa: { enabled: false },
    third_party: { custom_providers: { acme: { ...acme, satisfies_mfa: true } } },
  };
  const weaker = { provider_id: "custom_acme", body: { satisfies_mfa: false } };
  for (const [at, reason] of [
    [runtime, undefined],
    [strict, "locks_out"],
  ] as const) {
    const { id, administrator } = await tenantWith(settings, at);
    await linkTo("custom_acme", id, administrator);
    expect((await administrator.call("changeOAuthProvider", weaker)).reason).toBe(reason);
  }
});

test("a second factor that accounts set up at the sign-in is a way in", async () => {
  const { id, administrator } = await tenantWith(
    { third_party: { custom_providers: { acme: { ...acme, satisfies_mfa: true } } } },
    strict,
  );
  await linkTo("custom_acme", id, administrator);
  const provider_id = "custom_acme";
  expect((await administrator.call("deleteOAuthProvider", { provider_id })).status).toBe(200);
});

test("a change of settings that ends the second factors locks accounts of the console out", async () => {
  const { administrator } = await tenantWith({ passkey: { enabled: false } }, strict);
  const body = { config: { mfa: { enabled: false } } };
  expect(await administrator.call("changeOwnTenant", { body })).toMatchObject({
    status: 409,
    reason: "locks_out",
  });
  const all = { body: { ...body, unless_locked_out: [] } };
  expect((await administrator.call("changeOwnTenant", all)).status).toBe(200);
});

test("A317 a change of settings that were changed meanwhile is refused with what was changed, and made when it is known", async () => {
  const { administrator } = await tenantWith({});
  const change = (config: Tree, more: object = {}) =>
    administrator.call("changeOwnTenant", { body: { config, ...more } });
  const seen = (await change({ password: { min_length: 10 } })).data.updated_at;
  const first = await change({ password: { min_length: 12 } });
  const mine = { password: { min_length: 16 } };
  expect(await change(mine, { if_unchanged_since: seen })).toMatchObject({
    status: 409,
    reason: "changed_since",
    changes: [
      {
        created_at: first.data.updated_at,
        by: { kind: "user", id: administrator.userId },
        changes: [{ path: "password.min_length", before: 10, after: 12 }],
      },
    ],
  });
  expect((await change(mine, { if_unchanged_since: first.data.updated_at })).data.config).toEqual(mine);
});
