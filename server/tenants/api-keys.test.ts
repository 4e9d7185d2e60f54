import { createHash, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { createApiKey, deleteApiKey, listApiKeys, verifyApiKey } from "./api-keys.ts";
import { createTenant } from "./manage-tenants.ts";

const runtime = await runtimeForTests();
const other = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });

const made = (interfaceName: "passkeys" | "authenticator" | "admin" = "passkeys", tenant = runtime.tenant) =>
  createApiKey(runtime, tenant, { interface: interfaceName, name: "the shop" });

describe("an API key", () => {
  test("is 256 random bits after a prefix, and only its hash is stored", async () => {
    const { id, key } = await made();
    expect(key).toMatch(/^stile_[A-Za-z0-9_-]{43}$/);
    const rows = await runtime.database.read.select().from(schema.apiKeys);
    expect(rows.find((row) => row.id === id)?.keyHash).toEqual(createHash("sha256").update(key).digest());
    expect(JSON.stringify(rows)).not.toContain(key);
    expect((await made()).key).not.toBe(key);
  });

  test("is valid for its interface and its tenant, and identifies the tenant", async () => {
    const { id, key } = await made();
    const expected = { id, tenantId: runtime.tenant.id, interface: "passkeys", name: "the shop" };
    expect(await verifyApiKey(runtime, { interface: "passkeys" }, key)).toMatchObject({ key: expected });
    const access = { interface: "passkeys", tenant: runtime.tenant } as const;
    expect(await verifyApiKey(runtime, access, key)).toMatchObject({ key: expected });
  });

  test("A67 A68 is rejected for another interface, and for another tenant", async () => {
    const { key } = await made("admin", other);
    const reasonAt = async (access: Parameters<typeof verifyApiKey>[1]) => {
      const verdict = await verifyApiKey(runtime, access, key);
      return verdict.ok ? null : verdict.reason;
    };
    expect(await reasonAt({ interface: "passkeys" })).toBe("other_interface");
    expect(await reasonAt({ interface: "passkeys", tenant: other })).toBe("other_interface");
    expect(await reasonAt({ interface: "admin", tenant: runtime.tenant })).toBe("other_tenant");
    expect(await reasonAt({ interface: "admin", tenant: other })).toBeNull();
  });

  test("A67 is rejected if it is incomplete or altered", async () => {
    const { key } = await made();
    const wrong = [
      "",
      key.slice(0, -1),
      `${key.slice(0, -1)}${key.endsWith("A") ? "E" : "A"}`,
      key.slice("stile_".length),
      `${key}, ${key}`,
      ` ${key}`,
      key.toUpperCase(),
      `${key}\0`,
      "x".repeat(1_000_000),
    ];
    for (const given of wrong)
      expect(await verifyApiKey(runtime, { interface: "passkeys" }, given)).toMatchObject({ ok: false });
  });

  test("can be rotated: a second key is valid beside it, and a deleted one is rejected", async () => {
    const [old, fresh] = [await made(), await made()];
    expect(await verifyApiKey(runtime, { interface: "passkeys" }, old.key)).toMatchObject({ ok: true });
    expect(await deleteApiKey(runtime, runtime.tenant, old.id)).toBe(true);
    expect(await deleteApiKey(runtime, runtime.tenant, old.id)).toBe(false);
    expect(await verifyApiKey(runtime, { interface: "passkeys" }, old.key)).toMatchObject({
      ok: false,
      reason: "unknown_key",
    });
    expect(await verifyApiKey(runtime, { interface: "passkeys" }, fresh.key)).toMatchObject({ ok: true });
  });

  test("is listed with its last use, which is recorded once a minute", async () => {
    const { id, key } = await made("authenticator");
    const listed = async () => (await listApiKeys(runtime, runtime.tenant)).find((one) => one.id === id);
    expect(await listed()).toMatchObject({ name: "the shop", lastUsedAt: null });
    await verifyApiKey(runtime, { interface: "authenticator" }, key);
    const first = (await listed())?.lastUsedAt;
    expect(first).toBeInstanceOf(Date);
    await verifyApiKey(runtime, { interface: "authenticator" }, key);
    expect((await listed())?.lastUsedAt).toEqual(first);
    runtime.advanceClock(61);
    await verifyApiKey(runtime, { interface: "authenticator" }, key);
    expect((await listed())?.lastUsedAt?.getTime()).toBeGreaterThan(first?.getTime() ?? 0);
    expect(JSON.stringify(await listApiKeys(runtime))).not.toContain(key);
  });

  test("is deleted with its tenant", async () => {
    const gone = await createTenant(runtime, { name: "Gone", hosts: [], settings: {}, id: randomUUID() });
    const { key } = await made("admin", gone);
    await runtime.database.write.delete(schema.tenants).where(eq(schema.tenants.id, gone.id));
    expect(await verifyApiKey(runtime, { interface: "admin" }, key)).toMatchObject({
      ok: false,
      reason: "unknown_key",
    });
  });
});
