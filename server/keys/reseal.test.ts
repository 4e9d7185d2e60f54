import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { devicesOf, insertDevice, newDevice, pushTokensOf } from "../authenticator/devices.ts";
import { StartError } from "../config/errors.ts";
import { loadConfig } from "../config/load.ts";
import type { Tenant } from "../config/tenant.ts";
import { eventDataContext, previousSecretContext, webhookSecretContext } from "../events/seal-contexts.ts";
import { totpSealContext } from "../methods/totp/totp.ts";
import { artifactStorage } from "../openid/artifact-storage.ts";
import { storeProviderSession } from "../sessions/provider-sessions.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { pageOfVersions, settingsOfVersion } from "../tenants/settings-history.ts";
import { createTenants } from "../tenants/tenants.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";
import { reseal } from "./reseal.ts";
import { checkSealingKeys, sealedColumns } from "./sealed-columns.ts";
import { createTenantSigningKeys } from "./tenant-signing-keys.ts";
import { createVault, type Vault } from "./vault.ts";

const [old, fresh] = ["the key of last year", "the key of this year"];
const config = loadConfig({ STILE_SESSION_ALGORITHM: "ES256" }, "/nowhere");
const defaultTenant: Tenant = { id: config.tenant.id, config };
const platform = { randomBytes, uuid: randomUUID, clockShift: () => 0 };
const log = pino({ level: "silent" });

let postgres: TestDatabase;
beforeEach(async () => {
  postgres = await testDatabase();
});
afterEach(() => postgres.close());

/** A runtime with these secret keys. */
function withKeys(...secretKeys: string[]) {
  const { database } = postgres;
  const vault = createVault(secretKeys);
  const tenants = createTenants({ defaultTenant, database, vault });
  const signingKeys = createTenantSigningKeys({ database, vault, platform, log });
  return {
    config,
    tenant: defaultTenant,
    tenants,
    database,
    vault,
    platform,
    signingKeys,
    auditOutput: null,
  };
}

type Process = ReturnType<typeof withKeys>;

const totpSecret = Buffer.from("twenty bytes of it..");

async function insertTotp({ database, vault }: Process, tenantId: string): Promise<string> {
  const userId = randomUUID();
  const sealedSecret = vault.seal(totpSecret, totpSealContext(tenantId, userId));
  await database.write.insert(schema.users).values({ tenantId, id: userId });
  await database.write.insert(schema.totpSecrets).values({ tenantId, userId, sealedSecret, lastStep: 7 });
  return userId;
}

/** Inserts a device with a push token. */
async function insertPhone({ database, vault }: Process, tenantId: string): Promise<void> {
  const key = {
    aaid: "006F#0001",
    keyId: randomUUID(),
    publicKey: Buffer.of(),
    keyFormat: 0x0101,
    algorithm: 2,
    signCounter: 0,
    regCounter: 0,
    authenticatorVersion: 1,
    attestation: "surrogate" as const,
  };
  const device = newDevice({ vault, platform }, key, {
    tenantId,
    userId: "ada",
    info: { pushToken: "push-1" },
    fallbackName: "Phone",
    isSecondFactorOnly: false,
    now: new Date(),
  });
  await database.write.transaction((tx) => insertDevice(tx, device));
}

const settings = { third_party: { providers: { google: { client_id: "acme", secret: "hush" } } } };

/** Inserts a webhook whose secret is being rotated, and a mail that it waits for. */
async function insertWebhook({ database, vault }: Process, tenantId: string): Promise<void> {
  const id = randomUUID();
  const seal = (text: string, context: string) => vault.seal(Buffer.from(text), context);
  await database.write.insert(schema.webhooks).values({
    tenantId,
    id,
    callback: "https://app.example.com/events",
    events: [{ id: randomUUID(), event: "email.send" }],
    expiresAt: new Date(),
    sealedSecret: seal("new", webhookSecretContext(tenantId, id)),
    sealedPreviousSecret: seal("old", previousSecretContext(tenantId, id)),
  });
  const sealedData = seal("{}", eventDataContext(tenantId, id));
  await database.write.insert(schema.events).values({ tenantId, id, name: "email.send", sealedData });
}

/** Inserts a grant of the OpenID provider. */
async function insertGrant({ database, vault }: Process, tenantId: string): Promise<void> {
  const context = { runtime: { database, vault, platform }, tenant: { id: tenantId } as Tenant };
  await artifactStorage(context, "Grant").upsert("grant-1", { clientId: "shop" }, 60);
}

/** Inserts what a provider knows a session by. */
async function insertProviderSession({ database, vault }: Process, tenantId: string): Promise<void> {
  const about = { exchangeToken: "token-1", provider: "custom_acme", session: { idToken: "id-token-1" } };
  await storeProviderSession({ database, vault, platform }, { id: tenantId } as Tenant, about);
}

/** One value in each sealed column, and a retired key, whose private half is erased. */
async function fill(running: Process) {
  const acme = await createTenant(running, { name: "Acme", hosts: [], settings });
  await running.signingKeys.of(acme).ready;
  await running.signingKeys.of(defaultTenant).ready;
  const userId = await insertTotp(running, acme.id);
  await insertPhone(running, acme.id);
  await insertWebhook(running, acme.id);
  await insertGrant(running, acme.id);
  await insertProviderSession(running, acme.id);
  await postgres.database.write.insert(schema.signingKeys).values({
    tenantId: acme.id,
    id: randomUUID(),
    purpose: "session",
    algorithm: "ES256",
    publicJwk: {},
    sealedPrivateJwk: Buffer.alloc(0),
    sealedBy: "a removed key",
    retiredAt: new Date(0),
  });
  return { acme, userId };
}

const moved = async ({ database, vault }: { database: Process["database"]; vault: Vault }) =>
  Object.fromEntries(
    (await reseal(database, vault)).map(({ table, column, moved }) => [`${table}.${column}`, moved]),
  );

describe("reseal", () => {
  test("reseals every value under the first key", async () => {
    const { acme, userId } = await fill(withKeys(old));
    expect(await moved(withKeys(fresh, old))).toEqual({
      "signing_keys.sealed_private_jwk": 2,
      "totp_secrets.sealed_secret": 1,
      "authenticator_devices.sealed_handles": 1,
      "tenants.sealed_config": 1,
      "settings_history.sealed_config": 1,
      "webhooks.sealed_secret": 1,
      "webhooks.sealed_previous_secret": 1,
      "events.sealed_data": 1,
      "openid_artifacts.payload": 1,
      "provider_sessions.sealed": 1,
    });

    const after = withKeys(fresh);
    await checkSealingKeys(after.database, after.vault);
    const tenant = await after.tenants.byId(acme.id);
    expect(tenant?.config.third_party.providers.google.secret).toBe("hush");
    const { versions } = await pageOfVersions(after.database.read, after.tenant, acme.id, {
      number: 1,
      size: 1,
    });
    expect(await settingsOfVersion(after.database.read, after, acme.id, versions[0]?.id ?? "")).toMatchObject(
      { settings },
    );
    const grants = artifactStorage({ runtime: { ...after, platform }, tenant: acme }, "Grant");
    expect(await grants.find("grant-1")).toMatchObject({ clientId: "shop" });
    const devices = await devicesOf(after.database.read, acme, "ada");
    expect(pushTokensOf(after, devices)).toEqual(["push-1"]);
    const [row] = await after.database.read
      .select()
      .from(schema.totpSecrets)
      .where(eq(schema.totpSecrets.userId, userId));
    expect(after.vault.unseal(row?.sealedSecret ?? Buffer.of(), totpSealContext(acme.id, userId))).toEqual(
      totpSecret,
    );
    expect(row?.lastStep).toBe(7);
  });

  test("keeps existing signing keys", async () => {
    const before = withKeys(old);
    await fill(before);
    const { keys } = await before.signingKeys.of(defaultTenant).jwks();
    await moved(withKeys(fresh, old));
    const after = withKeys(fresh);
    await after.signingKeys.of(defaultTenant).ready;
    expect((await after.signingKeys.of(defaultTenant).jwks()).keys).toEqual(keys);
  });

  test("changes nothing when it runs again", async () => {
    await fill(withKeys(old));
    await moved(withKeys(fresh, old));
    const again = await moved(withKeys(fresh, old));
    expect(Object.values(again)).toEqual(sealedColumns.map(() => 0));
  });

  test("changes each value once when it runs twice concurrently", async () => {
    await fill(withKeys(old));
    const both = await Promise.all([moved(withKeys(fresh, old)), moved(withKeys(fresh, old))]);
    expect(both.map((counts) => counts["totp_secrets.sealed_secret"]).toSorted()).toEqual([0, 1]);
    await checkSealingKeys(postgres.database, createVault([fresh]));
  });

  test("keeps a value that a server with the former key writes meanwhile, and moves that", async () => {
    const running = withKeys(old);
    const userId = await insertTotp(running, defaultTenant.id);
    const context = totpSealContext(defaultTenant.id, userId);
    const written = Buffer.from("twenty other bytes..");
    const moving = withKeys(fresh, old);
    const counts = await running.database.write.transaction(async (tx) => {
      await tx
        .update(schema.totpSecrets)
        .set({ sealedSecret: running.vault.seal(written, context) })
        .where(eq(schema.totpSecrets.userId, userId));
      const counting = moved(moving);
      await withClient(postgres.url, waitsForLock);
      return { counting };
    });
    expect(await counts.counting).toMatchObject({ "totp_secrets.sealed_secret": 1 });
    const [row] = await running.database.read.select().from(schema.totpSecrets);
    expect(withKeys(fresh).vault.unseal(row?.sealedSecret ?? Buffer.of(), context)).toEqual(written);
  });

  test("processes more rows than one batch", async () => {
    const running = withKeys(old);
    await Promise.all(Array.from({ length: 450 }, () => insertTotp(running, defaultTenant.id)));
    expect(await moved(withKeys(fresh, old))).toMatchObject({ "totp_secrets.sealed_secret": 450 });
    await checkSealingKeys(postgres.database, createVault([fresh]));
  });

  test("names the missing keys, and reseals the other values", async () => {
    await fill(withKeys(old));
    const lost = withKeys("a key that is not configured");
    await insertTotp(lost, defaultTenant.id);
    const outcome = await reseal(postgres.database, createVault([fresh, old]));
    expect(outcome).toMatchObject([
      { table: "authenticator_devices", moved: 1, unknown: [] },
      { table: "events", moved: 1, unknown: [] },
      { table: "openid_artifacts", moved: 1, unknown: [] },
      { table: "provider_sessions", moved: 1, unknown: [] },
      { table: "settings_history", moved: 1, unknown: [] },
      { table: "signing_keys", moved: 2, unknown: [] },
      { table: "tenants", moved: 1, unknown: [] },
      { table: "totp_secrets", moved: 1, unknown: lost.vault.keyIds },
      { table: "webhooks", column: "sealed_secret", moved: 1, unknown: [] },
      { table: "webhooks", column: "sealed_previous_secret", moved: 1, unknown: [] },
    ]);
  });
});

describe("a start", () => {
  test("succeeds with all keys, and ignores erased values", async () => {
    await fill(withKeys(old));
    await expect(checkSealingKeys(postgres.database, createVault([fresh, old]))).resolves.toBeUndefined();
  });

  test.each([
    ["a signing key", "signing_keys"],
    ["the secret of an authenticator app", "totp_secrets"],
    ["the push handles of an authenticator", "authenticator_devices"],
    ["the settings of a tenant", "tenants"],
    ["former settings of a tenant", "settings_history"],
    ["the secret of a webhook", "webhooks"],
    ["a mail for a webhook", "events"],
    ["an artifact of the OpenID provider", "openid_artifacts"],
    ["a session at a provider", "provider_sessions"],
  ])("fails without the key that sealed %s, and names the key", async (holds, kept) => {
    const { vault } = withKeys(old);
    await fill(withKeys(old));
    const { write } = postgres.database;
    if (kept !== "signing_keys") await write.delete(schema.signingKeys);
    if (kept !== "totp_secrets") await write.delete(schema.totpSecrets);
    if (kept !== "authenticator_devices") await write.delete(schema.authenticatorDevices);
    if (kept !== "webhooks") await write.delete(schema.webhooks);
    if (kept !== "events") await write.delete(schema.events);
    if (kept !== "openid_artifacts") await write.delete(schema.openidArtifacts);
    if (kept !== "provider_sessions") await write.delete(schema.providerSessions);
    if (kept !== "settings_history") await write.delete(schema.settingsHistory);
    if (kept !== "tenants") await write.update(schema.tenants).set({ sealedConfig: null });
    await expect(checkSealingKeys(postgres.database, createVault([fresh]))).rejects.toEqual(
      new StartError(
        `SECRET_KEYS lacks the key that sealed ${holds} in the database (its name is ${vault.keyIds[0]})`,
      ),
    );
  });
});
