import { randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { storedTenant } from "../testing/stored-tenant.ts";
import { createTenant, deleteTenant, listTenants, updateTenant } from "./manage-tenants.ts";
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

describe("A141 a row from before there were bounds", () => {
  const good = ["https://app.example.com/*"];
  const settings = {
    hosted: { allowed_redirect_urls: [...good, `https://a.example/${"*/".repeat(500)}`] },
    passkey_server: { cors: { allowed_origins: ["https://*-*-*-*-*-x.example", "https://*.example.com"] } },
    cors: { allow_origins: Array.from({ length: 120 }, (_, at) => `https://a${at}.example.com`) },
    session: { jwt_template: { claims: { slow: "{{.}}".repeat(25_000), role: "user" } } },
  };
  const oldRow = () => storedTenant(runtime, settings);

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
