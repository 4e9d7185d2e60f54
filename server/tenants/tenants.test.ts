import { randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { commandLine } from "../audit/audit.ts";
import type { Tree } from "../lib/tree.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { createTenant, deleteTenant, listTenants, restoreSettings, updateTenant } from "./manage-tenants.ts";
import { listOAuthProviders } from "./oauth-providers.ts";
import { listOpenidClients } from "./openid-clients.ts";
import {
  changeSamlProvider,
  listSamlProviders,
  patchedSamlProvider,
  type SamlProvider,
} from "./saml-providers.ts";
import { openSettings, sealSettings } from "./sealed-settings.ts";
import { pageOfVersions } from "./settings-history.ts";
import { tenantObject } from "./tenant-object.ts";
import { createTenants, type Tenants } from "./tenants.ts";

const { tenants, users, sessions, passcodes, auditLogs } = schema;

const runtime = await runtimeForTests({ STILE_SERVER_HOSTS: "sso.example.com" });

const acme = { name: "Acme", hosts: [], settings: {} };
const newHost = () => `${randomUUID()}.example`;

/** Creates the registry of another process. */
const otherProcess = (): Tenants =>
  createTenants({ defaultTenant: runtime.tenant, database: runtime.database, vault: runtime.vault });

describe("a tenant", () => {
  test("is found by its id and by its host names", async () => {
    const host = newHost();
    const alias = newHost();
    const { id } = await createTenant(runtime, { ...acme, hosts: [host.toUpperCase(), alias] });
    for (const registry of [runtime.tenants, otherProcess()]) {
      expect(await registry.byId(id)).toMatchObject({ id, config: { base_url: `http://${host}:3000` } });
      expect((await registry.byHost(host))?.id).toBe(id);
      expect((await registry.byHost(alias))?.id).toBe(id);
    }
    expect(await runtime.tenants.byId(randomUUID())).toBeNull();
    expect(await runtime.tenants.byHost(newHost())).toBeNull();
  });

  test("is the configured one by default, of which the database stores only the name", async () => {
    expect(await runtime.tenants.byId(runtime.tenant.id)).toBe(runtime.tenant);
    const [row] = await runtime.database.read.select().from(tenants).where(eq(tenants.id, runtime.tenant.id));
    expect(row).toMatchObject({ hosts: [], config: {}, sealedConfig: null });
  });

  test("is a new object immediately after a change by this process, and the same object before", async () => {
    const { id } = await createTenant(runtime, acme);
    const before = await runtime.tenants.byId(id);
    expect(await runtime.tenants.byId(id)).toBe(before);
    await createTenant(runtime, acme);
    expect(await runtime.tenants.byId(id)).toBe(before);
    await updateTenant(runtime, id, { settings: () => ({ password: { min_length: 20 } }) });
    expect((await runtime.tenants.byId(id))?.config).toMatchObject({
      password: { min_length: 20 },
      service: { name: "Acme" },
    });
    await updateTenant(runtime, id, { name: "Acme & Sons" });
    expect((await runtime.tenants.byId(id))?.config).toMatchObject({
      password: { min_length: 20 },
      service: { name: "Acme & Sons" },
    });
    await deleteTenant(runtime, id, { withUsers: false });
    expect(await runtime.tenants.byId(id)).toBeNull();
  });

  test("keeps its secrets when something else is changed", async () => {
    const settings = { third_party: { providers: { github: { client_id: "acme", secret: "hush" } } } };
    const { id } = await createTenant(runtime, { ...acme, settings });
    await updateTenant(runtime, id, { name: "Acme & Sons" });
    expect((await runtime.tenants.byId(id))?.config.third_party.providers.github.secret).toBe("hush");
    const [row] = await runtime.database.read.select().from(tenants).where(eq(tenants.id, id));
    expect(JSON.stringify(row?.config)).not.toContain("hush");
  });

  test("with invalid settings is reported by its id, and does not affect other tenants", async () => {
    const { id } = await createTenant(runtime, acme);
    const { id: other } = await createTenant(runtime, acme);
    await runtime.database.write
      .update(tenants)
      .set({ config: { mfa: "red" }, updatedAt: sql`now() + interval '1 minute'` })
      .where(eq(tenants.id, id));
    const registry = otherProcess();
    await expect(registry.byId(id)).rejects.toThrow(`tenant ${id}: mfa: `);
    expect((await registry.byId(other))?.id).toBe(other);
    const listed = await listTenants(runtime);
    expect(listed.find(({ row }) => row.id === id)?.tenant).toBeNull();
    await deleteTenant(runtime, id, { withUsers: false });
  });
});

/**
 * Creates a tenant, and stores settings for it that no change would accept.
 *
 * @param sealed those of them that the version which has stored them holds for secrets
 * @returns its id
 */
async function storedTenant(settings: Tree, sealed: Tree = {}): Promise<string> {
  const { id } = await createTenant(runtime, acme);
  await runtime.database.write
    .update(tenants)
    .set({
      ...sealSettings(runtime.vault, id, settings, sealed),
      updatedAt: sql`now() + interval '1 minute'`,
    })
    .where(eq(tenants.id, id));
  runtime.tenants.forget();
  return id;
}

/** The settings of a tenant as they are stored, secrets included, and the plain part of them. */
async function storedSettings(id: string) {
  const [row] = await runtime.database.read.select().from(tenants).where(eq(tenants.id, id));
  if (!row) throw new Error("the tenant has no row");
  return { settings: openSettings(runtime.vault, id, row), plain: row.config };
}

describe("settings that another version has stored", () => {
  const hook = { callback: "https://acme.example/hook", events: ["user"] };
  const settings = {
    colour: "red",
    mfa: { enforced_by: "policy" },
    webhooks: { hooks: [{ ...hook, format: "cloud" }] },
    password: { min_length: 20 },
  };
  const newerRow = () => storedTenant(settings);

  test("are ignored with one warning each, and the others hold", async () => {
    const id = await newerRow();
    const warnings: unknown[] = [];
    const log = { warn: (...line: unknown[]) => void warnings.push(line) };
    const { tenant: defaultTenant, database, vault } = runtime;
    const tenant = await createTenants({ defaultTenant, database, vault, log }).byId(id);
    expect(tenant?.config.password.min_length).toBe(20);
    const lines = ["mfa.enforced_by", "webhooks.hooks.format", "colour"].map(
      (name) => `${name} is not a setting; it is ignored`,
    );
    expect(warnings).toEqual(lines.map((line) => [{ tenant: id }, line]));
  });

  test("stay when others are changed, and cannot be added", async () => {
    const id = await newerRow();
    const change = (more: object) => updateTenant(runtime, id, { settings: (now) => ({ ...now, ...more }) });
    await change({ password: { min_length: 30 } });
    const changed = { ...settings, password: { min_length: 30 } };
    // What the version that knows them holds for no secret is plain, as before.
    expect(await storedSettings(id)).toEqual({ settings: changed, plain: { ...changed, webhooks: {} } });
    await expect(change({ colour: "blue" })).rejects.toThrow(/^colour is not a setting$/);
    await expect(change({ pasword: {} })).rejects.toThrow(
      "pasword is not a setting; the nearest is password",
    );
  });

  test("are more than a fault if they are more than a version could store", async () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`x${at}`, at]));
    const id = await newerRow();
    const change = updateTenant(runtime, id, { settings: (now) => ({ ...now, ...many }) });
    await expect(change).rejects.toThrow(/is not a setting$/);
  });

  test("stay beside one that this version leaves to the server", async () => {
    const id = await storedTenant({ ...settings, funnel: { retention: 5 } });
    expect((await runtime.tenants.byId(id))?.config.funnel).toEqual(runtime.config.funnel);
    await updateTenant(runtime, id, { name: "Other" });
    expect((await storedSettings(id)).settings).toMatchObject({ colour: "red", funnel: { retention: 5 } });
    const adding = updateTenant(runtime, id, { settings: (now) => ({ ...now, port: 1 }) });
    await expect(adding).rejects.toThrow(/^port is a setting of the server: a tenant cannot have its own$/);
  });

  test("are restored with what was sealed of them sealed again", async () => {
    const secret = { service: { name: "hush" }, colour: "hush-hush" };
    const id = await storedTenant(secret, secret);
    const change = (settings: Tree) => updateTenant(runtime, id, { settings: () => settings });
    await change({ ...secret, password: { min_length: 30 } });
    await change({});
    const versions = async () => {
      const { id: tenantId } = runtime.tenant;
      const page = { number: 1, size: 10 };
      return (await pageOfVersions(runtime.database.read, { id: tenantId }, id, page)).versions;
    };
    const [, former] = await versions();
    await restoreSettings(runtime, id, former?.id ?? "", {}, commandLine);
    expect(await storedSettings(id)).toEqual({
      settings: { ...secret, password: { min_length: 30 } },
      plain: { service: {}, password: { min_length: 30 } },
    });
    expect(JSON.stringify(await versions())).not.toContain("hush");
  });
});

describe("A367 settings that this version does not know, and a tenant that changes its settings itself", () => {
  const clients = {
    app: { name: "App", redirect_uris: ["https://app.example.com/back"], mtls_key: "hush-client" },
  };
  const custom_providers = {
    acme: {
      display_name: "Acme",
      client_id: "acme",
      secret: "hush",
      issuer: "https://id.acme.example",
      private_jwk: "hush-provider",
    },
  };
  const identity_providers = [
    {
      id: "6f1e2c8e-52a5-4b0e-9f70-4a8b6a0d3c11",
      name: "Acme",
      domain: "acme.example",
      metadata: "<EntityDescriptor/>",
      allow_private: true,
    },
  ];
  const settings = {
    sms_budget: 10,
    openid: { clients },
    third_party: { custom_providers },
    saml: { enabled: true, identity_providers },
  };
  const sealed = {
    openid: { clients: { app: { mtls_key: "hush-client" } } },
    third_party: { custom_providers: { acme: { private_jwk: "hush-provider" } } },
  };
  const laterRow = (more: object = {}) => storedTenant({ ...settings, ...more }, sealed);
  const itself = { ...commandLine, itself: true };
  const changing = (id: string, change: (now: Tree) => Tree) =>
    updateTenant(runtime, id, { settings: change }, itself);

  test("are told by the warnings about them alone", async () => {
    const id = await laterRow();
    const [found] = (await listTenants(runtime)).filter(({ row }) => row.id === id);
    if (!found) throw new Error("the tenant is not listed");
    const { config, secrets, warnings } = tenantObject(runtime.vault, { ...found, isDefault: false });
    expect(JSON.stringify([config, secrets])).not.toMatch(
      /hush|sms_budget|mtls_key|private_jwk|allow_private/,
    );
    expect(warnings).toContain("sms_budget is not a setting; it is ignored");
    const told = [await listOpenidClients(runtime, id), await listOAuthProviders(runtime, id)];
    expect(JSON.stringify(told)).not.toMatch(/hush|mtls_key|private_jwk/);
    expect(told[0]).toMatchObject([{ id: "app", secrets: [] }]);
    expect(told[1]).toContainEqual(expect.objectContaining({ id: "custom_acme", secrets: ["secret"] }));
  });

  test("are neither seen nor removed by the tenant itself", async () => {
    const id = await laterRow();
    let seen: Tree = {};
    await changing(id, (now) => {
      seen = now;
      return { ...now, password: { min_length: 20 } };
    });
    expect(JSON.stringify(seen)).not.toMatch(/sms_budget|mtls_key|private_jwk|allow_private/);
    await changing(id, ({ password: _, ...now }) => now);
    expect((await storedSettings(id)).settings).toEqual(settings);
  });

  test.each([1, settings.sms_budget])("are not found out by trying: %i", async (sms_budget) => {
    const id = await laterRow();
    await expect(changing(id, (now) => ({ ...now, sms_budget }))).rejects.toThrow(
      /^sms_budget is not a setting/,
    );
  });

  const [provider] = identity_providers;
  const own = { id: randomUUID(), name: "Own", domain: "own.example", metadata: "<x/>" };
  const withProviders = (of: (now: Tree[]) => Tree[]) => (now: Tree) => {
    const { identity_providers: all } = now.saml as { identity_providers: Tree[] };
    return { ...now, saml: { enabled: true, identity_providers: of(all) } };
  };

  test("stay with their item of a list, wherever the tenant moves it and whatever else it changes of it", async () => {
    const id = await laterRow();
    const domain = "other.example";
    await changing(
      id,
      withProviders((all) => [own, ...all.map((one) => ({ ...one, domain }))]),
    );
    expect((await storedSettings(id)).settings).toMatchObject({
      saml: { identity_providers: [own, { ...provider, domain }] },
    });
  });

  test("stay with an item that has no id, if the tenant changes nothing of it", async () => {
    const hook = { callback: "https://acme.example/hook", events: ["user"] };
    const stored = { webhooks: { hooks: [{ ...hook, format: "cloud" }] } };
    const id = await storedTenant(stored);
    const other = { callback: "https://acme.example/other", events: ["user"] };
    await changing(id, () => ({ webhooks: { hooks: [other, hook] } }));
    const hooks = [other, { ...hook, format: "cloud" }];
    expect((await storedSettings(id)).settings).toEqual({ webhooks: { hooks } });
    const changed = { webhooks: { hooks: [{ ...hook, events: [] }] } };
    await expect(changing(id, () => changed)).rejects.toThrow("webhooks.hooks is set by the operator");
  });

  test.each([
    ["given to another item", (all: Tree[]) => [...all, { ...own, allow_private: true }], "is not a setting"],
    ["taken with their item", () => [own], "saml.identity_providers is set by the operator"],
  ] as const)("are not %s by the tenant itself", async (_, change, reason) => {
    const id = await laterRow();
    await expect(changing(id, withProviders(change))).rejects.toThrow(reason);
    expect((await storedSettings(id)).settings).toEqual(settings);
  });

  test("are not taken with what they belong to by the tenant itself", async () => {
    const id = await laterRow();
    await expect(changing(id, ({ openid: _, ...now }) => now)).rejects.toThrow(
      "openid is set by the operator",
    );
    await expect(changing(id, (now) => ({ ...now, openid: { clients: {} } }))).rejects.toThrow(
      "openid.clients.app is set by the operator",
    );
  });

  test("stay when an operator patches a provider of SAML, and are not told", async () => {
    const id = await laterRow();
    const changed = await changeSamlProvider(
      runtime,
      id,
      provider?.id ?? "",
      { change: (now) => patchedSamlProvider(now, { enabled: false }) },
      commandLine,
    );
    expect((await storedSettings(id)).settings).toMatchObject({
      saml: { identity_providers: [{ ...provider, enabled: false }] },
    });
    const { allow_private: _, ...known } = provider as Tree;
    expect(changed).toMatchObject({ ...known, enabled: false });
    expect(changed).not.toHaveProperty("allow_private");
    expect(await listSamlProviders(runtime, id)).toEqual([changed]);
  });

  test("tell of SAML providers whose list a later version has sealed no more than their names", async () => {
    const id = await storedTenant(settings, { ...sealed, saml: { identity_providers } });
    const names = [{ id: provider?.id, name: "Acme" }];
    expect(await listSamlProviders(runtime, id)).toEqual(names);
    const change = { change: (now: SamlProvider) => patchedSamlProvider(now, { enabled: false }) };
    expect([await changeSamlProvider(runtime, id, provider?.id ?? "", change, commandLine)]).toEqual(names);
    expect((await storedSettings(id)).plain).toMatchObject({ saml: { enabled: true } });
  });

  test("do not keep an operator from removing a value that is not known either", async () => {
    const id = await laterRow({ mfa: "later", funnel: { retention: 5 } });
    await expect(updateTenant(runtime, id, { name: "Other" })).rejects.toThrow(/^mfa: /);
    await updateTenant(runtime, id, { settings: ({ mfa: _, ...now }) => now });
    expect((await runtime.tenants.byId(id))?.id).toBe(id);
  });
});

describe("A141 a row from before there were bounds", () => {
  const good = ["https://app.example.com/*"];
  const settings = {
    hosted: { allowed_redirect_urls: [...good, `https://a.example/${"*/".repeat(500)}`] },
    passkey_server: { cors: { allowed_origins: ["https://*-*-*-*-*-x.example", "https://*.example.com"] } },
    cors: { allow_origins: Array.from({ length: 120 }, (_, at) => `https://a${at}.example.com`) },
    session: { jwt_template: { claims: { slow: "{{.}}".repeat(25_000), role: "user" } } },
  };
  const oldRow = () => storedTenant(settings);

  test("is loaded without the entries beyond them, with one warning for each", async () => {
    const id = await oldRow();
    const warnings: unknown[] = [];
    const log = { warn: (...line: unknown[]) => void warnings.push(line) };
    const registry = createTenants({
      defaultTenant: runtime.tenant,
      database: runtime.database,
      vault: runtime.vault,
      log,
    });
    const tenant = await registry.byId(id);
    expect(tenant?.config).toMatchObject({
      hosted: { allowed_redirect_urls: good },
      passkey_server: { cors: { allowed_origins: ["https://*.example.com"] } },
      cors: { allow_origins: settings.cors.allow_origins.slice(0, 100) },
      session: { jwt_template: { claims: { role: "user" } } },
    });
    registry.forget();
    expect(await registry.byId(id)).toBe(tenant);
    const names = ["cors.allow_origins", "session.jwt_template.claims.slow", "passkey_server", "hosted"];
    expect(warnings).toHaveLength(names.length);
    for (const name of names)
      expect(warnings).toContainEqual([
        { tenant: id },
        expect.stringMatching(new RegExp(`${name}.* ignored$`)),
      ]);
  });

  test("does not keep other settings from being changed, and is not made worse", async () => {
    const id = await oldRow();
    const change = (more: object) => updateTenant(runtime, id, { settings: (now) => ({ ...now, ...more }) });
    await change({ password: { min_length: 20 } });
    await change({ hosted: { allowed_redirect_urls: settings.hosted.allowed_redirect_urls.toReversed() } });
    const [row] = await runtime.database.read.select().from(tenants).where(eq(tenants.id, id));
    expect(row?.config).toMatchObject({ password: { min_length: 20 }, session: settings.session });
    await expect(
      change({ cors: { allow_origins: [...settings.cors.allow_origins, "https://b.example"] } }),
    ).rejects.toThrow("(cors.allow_origins): must not have more than 100 entries");
    await expect(change({ saml: { allowed_redirect_urls: ["https://*.*.*.example/"] } })).rejects.toThrow(
      "(saml.allowed_redirect_urls) (number 1): must not have more than 2 wildcards in a host",
    );
    await change({ cors: { allow_origins: good.map((entry) => new URL(entry).origin) } });
  });
});

describe("managing tenants", () => {
  test.each([
    [{ name: " " }, "a tenant's name must have 1 to 200 characters"],
    [{ name: "x".repeat(201) }, "a tenant's name must have 1 to 200 characters"],
    [{ hosts: ["localhost"] }, "localhost is not a host name"],
    [{ hosts: ["127.0.0.1"] }, "127.0.0.1 is not a host name"],
    [{ hosts: ["acme.example:443"] }, "acme.example:443 is not a host name"],
    [{ hosts: ["https://acme.example"] }, "https://acme.example is not a host name"],
    [{ hosts: ["sso.example.com"] }, "sso.example.com is the server's own host name"],
    [{ settings: { port: 1 } }, "port is a setting of the server"],
    [{ settings: { smtp_url: "smtp://user:pass#word@mail.example" } }, "SMTP_URL cannot be read"],
  ])("rejects a tenant with %j", async (wrong, message) => {
    const before = await listTenants(runtime);
    await expect(createTenant(runtime, { ...acme, ...wrong })).rejects.toThrow(message);
    expect(await listTenants(runtime)).toHaveLength(before.length);
  });

  test("rejects an id or a host name of another tenant", async () => {
    const host = newHost();
    const { id } = await createTenant(runtime, { ...acme, hosts: [host] });
    await expect(createTenant(runtime, { ...acme, id })).rejects.toThrow(`tenant ${id} already exists`);
    const taken = `${host} is the host name of tenant ${id}`;
    await expect(createTenant(runtime, { ...acme, hosts: [host] })).rejects.toThrow(taken);
    const { id: other } = await createTenant(runtime, acme);
    await expect(updateTenant(runtime, other, { hosts: [host] })).rejects.toThrow(taken);
    await updateTenant(runtime, id, { hosts: [host, newHost()] });
  });

  test("gives a host name to one of several tenants that claim it concurrently", async () => {
    const hosts = [newHost()];
    const rivals = await Promise.allSettled(
      [1, 2, 3, 4].map(() => createTenant(runtime, { ...acme, hosts })),
    );
    expect(rivals.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("rejects a change of the default tenant", async () => {
    const { id } = runtime.tenant;
    await expect(updateTenant(runtime, id, { name: "x" })).rejects.toThrow("the default tenant");
    await expect(deleteTenant(runtime, id, { withUsers: true })).rejects.toThrow("the default tenant");
    await expect(createTenant(runtime, { ...acme, id })).rejects.toThrow("already exists");
  });

  test("rejects a change or deletion of an unknown tenant", async () => {
    await expect(updateTenant(runtime, randomUUID(), { name: "x" })).rejects.toThrow("there is no tenant");
    await expect(deleteTenant(runtime, randomUUID(), { withUsers: true })).rejects.toThrow(
      "there is no tenant",
    );
  });
});

test("deletes all data of a tenant, and its users only with the option for it", async () => {
  const { id } = await createTenant(runtime, acme);
  const { id: other } = await createTenant(runtime, acme);
  const { write, read } = runtime.database;
  for (const tenantId of [id, other]) {
    await write.insert(users).values({ tenantId, id: randomUUID() });
    await write.insert(auditLogs).values({ tenantId, id: randomUUID(), type: "user_created", details: {} });
    await write.insert(passcodes).values({
      tenantId,
      flowId: randomUUID(),
      purpose: "login",
      recipient: Buffer.from("r"),
      codeHash: Buffer.from("c"),
      expiresAt: new Date(Date.now() + 60_000),
    });
  }
  await expect(deleteTenant(runtime, id, { withUsers: false })).rejects.toThrow(/has 1 users/);
  await deleteTenant(runtime, id, { withUsers: true });
  for (const table of [users, auditLogs, passcodes]) {
    expect(await read.select().from(table).where(eq(table.tenantId, id))).toHaveLength(0);
    expect(await read.select().from(table).where(eq(table.tenantId, other))).toHaveLength(1);
  }
});

test("deletes a large tenant in batches, and what an interrupted deletion left when it is repeated", async () => {
  const { id } = await createTenant(runtime, acme);
  const { write, read } = runtime.database;
  await write.execute(sql`
    with owner as (
      insert into users (tenant_id, id) select ${id}, gen_random_uuid() from generate_series(1, 6000) returning id),
    signed_in as (
      insert into sessions (tenant_id, id, user_id, authenticated_at, factors, amr, last_used_at, expires_at)
      select ${id}, gen_random_uuid(), id, now(), '[]', '{}', now(), now() from owner)
    insert into audit_logs (tenant_id, id, type, details)
    select ${id}, gen_random_uuid(), 'user_created', '{}' from generate_series(1, 17000)`);
  const counts = async () => {
    const tables = [users, sessions, auditLogs];
    const rows = tables.map((table) => read.select().from(table).where(eq(table.tenantId, id)));
    return (await Promise.all(rows)).map(({ length }) => length);
  };
  await write.execute(sql.raw("create table held (id uuid references tenants)"));
  await write.execute(sql`insert into held values (${id})`);
  await expect(deleteTenant(runtime, id, { withUsers: true })).rejects.toThrow();
  expect(await counts()).toEqual([5_000, 5_000, 5_000]);
  await write.execute(sql.raw("drop table held"));
  await deleteTenant(runtime, id, { withUsers: true });
  expect(await counts()).toEqual([0, 0, 0]);
});
