import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { commandLine } from "../audit/audit.ts";
import type { Tree } from "../lib/tree.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { storedTenant } from "../testing/stored-tenant.ts";
import {
  existingTenant,
  judgeSettings,
  listTenants,
  MAX_SETTINGS_CHARACTERS,
  restoreSettings,
  updateTenant,
} from "./manage-tenants.ts";
import { listOAuthProviders } from "./oauth-providers.ts";
import { listOpenidClients } from "./openid-clients.ts";
import {
  changeSamlProvider,
  createSamlProvider,
  deleteSamlProvider,
  listSamlProviders,
  patchedSamlProvider,
  type SamlProvider,
  withSamlProvider,
} from "./saml-providers.ts";
import { openSettings } from "./sealed-settings.ts";
import { pageOfVersions } from "./settings-history.ts";
import { listSettings } from "./settings-list.ts";
import { tenantObject } from "./tenant-object.ts";
import { createTenants } from "./tenants.ts";

const { tenants } = schema;

const runtime = await runtimeForTests();

/** The settings of a tenant as they are stored, secrets included, and the plain part of them. */
async function storedSettings(id: string) {
  const [row] = await runtime.database.read.select().from(tenants).where(eq(tenants.id, id));
  if (!row) throw new Error("the tenant has no row");
  return { settings: openSettings(runtime.vault, id, row), plain: row.config };
}

/** The versions of the settings of a tenant, newest first. */
async function versionsOf(id: string) {
  const page = { number: 1, size: 10 };
  return (await pageOfVersions(runtime.database.read, runtime.tenant, id, page)).versions;
}

const changesOf = async (id: string) => (await versionsOf(id)).map(({ changes }) => changes);

describe("settings that another version has stored", () => {
  const hook = { callback: "https://acme.example/hook", events: ["user"] };
  const settings = {
    colour: "red",
    mfa: { enforced_by: "policy" },
    webhooks: { hooks: [{ ...hook, format: "cloud" }] },
    password: { min_length: 20 },
  };
  const newerRow = () => storedTenant(runtime, settings);

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
    const id = await storedTenant(runtime, { ...settings, funnel: { retention: 5 } });
    expect((await runtime.tenants.byId(id))?.config.funnel).toEqual(runtime.config.funnel);
    await updateTenant(runtime, id, { name: "Other" });
    expect((await storedSettings(id)).settings).toMatchObject({ colour: "red", funnel: { retention: 5 } });
    const adding = updateTenant(runtime, id, { settings: (now) => ({ ...now, port: 1 }) });
    await expect(adding).rejects.toThrow(/^port is a setting of the server: a tenant cannot have its own$/);
  });

  test("are restored with what was sealed of them sealed again", async () => {
    const secret = { service: { name: "hush" }, colour: "hush-hush" };
    const id = await storedTenant(runtime, secret, secret);
    const change = (settings: Tree) => updateTenant(runtime, id, { settings: () => settings });
    await change({ ...secret, password: { min_length: 30 } });
    await change({});
    const [, former] = await versionsOf(id);
    await restoreSettings(runtime, id, former?.id ?? "", {}, commandLine);
    expect(await storedSettings(id)).toEqual({
      settings: { ...secret, password: { min_length: 30 } },
      plain: { service: {}, password: { min_length: 30 } },
    });
    expect(JSON.stringify(await versionsOf(id))).not.toContain("hush");
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
  const laterRow = (more: object = {}) => storedTenant(runtime, { ...settings, ...more }, sealed);
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
    const id = await storedTenant(runtime, stored);
    const other = { callback: "https://acme.example/other", events: ["user"] };
    await changing(id, () => ({ webhooks: { hooks: [other, hook] } }));
    const hooks = [other, { ...hook, format: "cloud" }];
    expect((await storedSettings(id)).settings).toEqual({ webhooks: { hooks } });
    const { events, callback } = hook;
    await changing(id, () => ({ webhooks: { hooks: [other, { events, callback }] } }));
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
      "openid.clients is set by the operator",
    );
    await expect(changing(id, (now) => ({ ...now, openid: { clients: {} } }))).rejects.toThrow(
      "openid.clients.app is set by the operator",
    );
  });

  test("stay in a section whose settings the tenant removes", async () => {
    const section = { mfa: { enforced_by: "policy", enabled: false }, webhooks: { retention: "10d" } };
    const id = await storedTenant(runtime, section);
    await changing(id, () => ({ password: { min_length: 20 } }));
    expect((await storedSettings(id)).settings).toEqual({
      password: { min_length: 20 },
      mfa: { enforced_by: "policy" },
      webhooks: { retention: "10d" },
    });
  });

  test("stay with one of two items that are the same without them, by their order", async () => {
    const [plain, flagged] = [{ aaid: "1234#0001" }, { aaid: "1234#0001", min_os: 12 }];
    const before = [plain, flagged];
    const id = await storedTenant(runtime, { authenticator: { accepted: before } });
    const other = { aaid: "1234#0002" };
    for (const after of [before, [other, ...before], [flagged]]) {
      const accepted = after.map(({ aaid }) => ({ aaid }));
      await changing(id, () => ({ authenticator: { accepted } }));
      expect((await storedSettings(id)).settings).toEqual({ authenticator: { accepted: after } });
    }
    const several = [plain, flagged, plain, { ...plain, min_os: 13 }];
    const ofSeveral = await storedTenant(runtime, { authenticator: { accepted: several } });
    await changing(ofSeveral, () => ({ authenticator: { accepted: [plain, plain] } }));
    const accepted = [flagged, { ...plain, min_os: 13 }];
    expect((await storedSettings(ofSeveral)).settings).toEqual({ authenticator: { accepted } });
  });

  test("below a key of the tenant's own are not taken with what needs them", async () => {
    const jwks = { keys: [], rotated: "2026-11-01" };
    const id = await storedTenant(runtime, { openid: { clients: { app: { ...clients.app, jwks } } } });
    const changed = { openid: { clients: { app: { name: "App", redirect_uris: [] } } } };
    await expect(changing(id, () => changed)).rejects.toThrow(
      "openid.clients.app.jwks is set by the operator",
    );
  });

  test("stay with a SAML provider without an id while others come and go", async () => {
    const { id: _, ...withoutId } = provider as SamlProvider & { id: string };
    const stored = { enabled: true, identity_providers: [withoutId] };
    const id = await storedTenant(runtime, { saml: stored });
    const added = await createSamlProvider(runtime, id, { ...own, domain: "b.example" }, {}, itself);
    expect((await storedSettings(id)).settings).toMatchObject({
      saml: { identity_providers: [withoutId, { domain: "b.example" }] },
    });
    await deleteSamlProvider(runtime, id, added.id, {}, itself);
    const tried = (now: Tree) => withSamlProvider(now, null, own).settings;
    expect(await judgeSettings(runtime, id, tried, itself)).toMatchObject({ tenantId: id });
    const [listed] = await listSamlProviders(runtime, id);
    const change = { change: (now: SamlProvider) => patchedSamlProvider(now, { enabled: false }) };
    for (const by of [itself, commandLine])
      await changeSamlProvider(runtime, id, listed?.id ?? "", change, by);
    expect((await storedSettings(id)).settings).toMatchObject({
      saml: { identity_providers: [{ ...withoutId, enabled: false }] },
    });
  });

  test("make no change of what is only written in another order", async () => {
    const [one] = identity_providers;
    const stored = { enabled: true, identity_providers: [{ zones: 1, ...one }] };
    const id = await storedTenant(runtime, { saml: stored });
    await changing(id, (now) => ({ ...now, password: { min_length: 20 } }));
    await updateTenant(runtime, id, { settings: (now) => ({ ...now, password: { min_length: 30 } }) });
    expect(await changesOf(id)).toEqual([
      [{ path: "password.min_length", before: 20, after: 30 }],
      [{ path: "password.min_length", after: 20 }],
      [],
      [],
    ]);
  });

  test("do not make a secret a plain value in the history", async () => {
    const id = await storedTenant(runtime, { openid: { clients: ["later"] } });
    const { name, redirect_uris } = clients.app;
    const app = { name, redirect_uris, secret: "hush-hush-hush-hush-hush-hush-hush" };
    await updateTenant(runtime, id, { settings: () => ({ openid: { clients: { app } } }) });
    expect(JSON.stringify(await changesOf(id))).not.toContain("hush");
  });

  test("are not stated by an operator in an item of a list", async () => {
    const accepted = [{ aaid: "1234#0001", min_os: 12 }, { aaid: "1234#0001" }];
    const id = await storedTenant(runtime, { authenticator: { accepted } });
    const stating = updateTenant(runtime, id, { settings: () => ({ authenticator: { accepted } }) });
    await expect(stating).rejects.toThrow(/^authenticator.accepted.min_os is not a setting/);
  });

  test("are told by the history of the settings no more than secrets are", async () => {
    const id = await laterRow();
    await updateTenant(runtime, id, {
      settings: ({ sms_budget: _, ...now }) => ({ ...now, password: { min_length: 20 } }),
    });
    await changing(
      id,
      withProviders((all) => [...all, own]),
    );
    const told = await changesOf(id);
    const { allow_private: _, ...known } = provider as Tree;
    expect(told).toEqual([
      [{ path: "saml.identity_providers", before: [known], after: [known, own] }],
      [
        { path: "sms_budget", before: "***" },
        { path: "password.min_length", after: 20 },
      ],
      // What was stored by hand, and the creation.
      [],
      [],
    ]);
    expect(JSON.stringify(told)).not.toMatch(/hush|allow_private/);
  });

  test("are no characters of the settings that the tenant may have", async () => {
    const later = { later: "x".repeat(MAX_SETTINGS_CHARACTERS) };
    const id = await storedTenant(runtime, later);
    await updateTenant(runtime, id, { name: "Other" }, itself);
    await changing(id, () => ({ password: { min_length: 20 } }));
    await updateTenant(runtime, id, { settings: (now) => ({ ...now, password: { min_length: 30 } }) });
    expect((await storedSettings(id)).settings).toEqual({ ...later, password: { min_length: 30 } });
    await updateTenant(runtime, id, { settings: () => ({ password: { min_length: 40 } }) });
    const [, former] = await versionsOf(id);
    await restoreSettings(runtime, id, former?.id ?? "", {}, commandLine);
    expect((await storedSettings(id)).settings).toEqual({ ...later, password: { min_length: 30 } });
  });

  test("stay in an item of a list that an operator changes, moves, or puts another one beside", async () => {
    const id = await laterRow();
    const before = await storedSettings(id);
    await updateTenant(runtime, id, {
      settings: withProviders((all) => {
        expect(JSON.stringify(all)).not.toContain("allow_private");
        return [own, ...all.map((one) => ({ ...one, enabled: false }))];
      }),
    });
    const providers = [own, { ...provider, enabled: false }];
    expect((await storedSettings(id)).settings).toMatchObject({ saml: { identity_providers: providers } });
    await updateTenant(runtime, id, { settings: withProviders(() => [own]) });
    const saml = { enabled: true, identity_providers: [own] };
    expect((await storedSettings(id)).settings).toEqual({ ...before.settings, saml });
  });

  test.each([
    ["an operator", commandLine],
    ["the tenant itself", itself],
  ])("below a member of a provider stay when %s patches it", async (_, by) => {
    const attribute_map = { email: "mail", groups: "memberOf" };
    const stored = { ...provider, attribute_map };
    const id = await storedTenant(runtime, { saml: { enabled: true, identity_providers: [stored] } });
    const change = { change: (now: SamlProvider) => patchedSamlProvider(now, { enabled: false }) };
    await changeSamlProvider(runtime, id, provider?.id ?? "", change, by);
    expect((await storedSettings(id)).settings).toMatchObject({
      saml: { identity_providers: [{ ...stored, enabled: false }] },
    });
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
    const id = await storedTenant(runtime, settings, { ...sealed, saml: { identity_providers } });
    const names = [{ id: provider?.id, name: "Acme" }];
    expect(await listSamlProviders(runtime, id)).toEqual(names);
    const change = { change: (now: SamlProvider) => patchedSamlProvider(now, { enabled: false }) };
    expect([await changeSamlProvider(runtime, id, provider?.id ?? "", change, commandLine)]).toEqual(names);
    expect((await storedSettings(id)).plain).toMatchObject({ saml: { enabled: true } });
  });

  test("are not told of a tenant whose other settings are invalid either", async () => {
    const id = await laterRow({ mfa: "later" });
    const found = await existingTenant(runtime, id);
    const { config, base_url, warnings } = tenantObject(runtime.vault, { ...found, isDefault: false });
    expect(base_url).toBeNull();
    expect(JSON.stringify(config)).not.toMatch(/hush|sms_budget|allow_private/);
    expect(warnings).toContain("sms_budget is not a setting; it is ignored");
    await updateTenant(runtime, id, { settings: ({ mfa: _, ...now }) => now });
  });

  test("are no source of a setting", async () => {
    const id = await storedTenant(runtime, { funnel: { retention: 5 }, password: { min_length: 20 } });
    const found = await existingTenant(runtime, id);
    const listed = listSettings({ ...runtime, isDefault: false, isOperator: true }, found);
    const sourceOf = (name: string) => listed.find(({ path }) => path.join(".") === name)?.source;
    expect([sourceOf("funnel.retention"), sourceOf("password.min_length")]).toEqual(["default", "tenant"]);
  });

  test.each([[null], [{}], ["x"]])(
    "a list of SAML providers that is %j is an answer, no failure",
    async (all) => {
      const id = await storedTenant(runtime, { saml: { enabled: true, identity_providers: [all] } });
      await expect(createSamlProvider(runtime, id, own, {}, commandLine)).rejects.toThrow(
        /identity_providers/,
      );
    },
  );

  test("do not keep an operator from removing a value that is not known either", async () => {
    const id = await laterRow({ mfa: "later", funnel: { retention: 5 } });
    await expect(updateTenant(runtime, id, { name: "Other" })).rejects.toThrow(/^mfa: /);
    await updateTenant(runtime, id, { settings: ({ mfa: _, ...now }) => now });
    expect((await runtime.tenants.byId(id))?.id).toBe(id);
  });
});
