import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { schema } from "#db/client";
import { loadConfig } from "../load-config.ts";
import type { Tenant } from "../runtime.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { profileOf } from "./profile.ts";
import { addEmail, createUser } from "./users.ts";

const noon = new Date("2030-01-01T12:00:00.000Z");
const later = new Date("2030-01-01T13:00:00.000Z");
const environment = { randomBytes, uuid: randomUUID, clockShift: () => 0 };

let postgres: TestDatabase;
beforeAll(async () => {
  postgres = await testDatabase();
});
afterAll(() => postgres.close());

function tenantWith(settings: Record<string, string>): Tenant {
  const config = loadConfig(settings, "/nowhere");
  return { id: config.tenant.id, config };
}
const withUsernames = tenantWith({ STILE_USERNAME_ENABLED: "true" });
const everything = { ...withUsernames, config: { ...withUsernames.config, mfa: { enabled: true } } };

const credential = (userId: string, id: string, mfaOnly: boolean) => ({
  tenantId: everything.id,
  id,
  userId,
  publicKey: Buffer.of(0xa5, 0x01, 0x02, 0xfb),
  signCount: 7,
  aaguid: "00000000-0000-0000-0000-000000000000",
  attestationType: "none",
  transports: ["internal", "hybrid"],
  backupEligible: true,
  backupState: false,
  userVerified: true,
  mfaOnly,
  createdAt: noon,
});

async function person(): Promise<string> {
  const id = randomUUID();
  await postgres.database.write.transaction(async (tx) => {
    await createUser(tx, everything.id, {
      id,
      email: { address: `${id}@example.com`, verifiedAt: noon },
      username: id,
      now: noon,
      environment,
    });
    await addEmail(tx, everything.id, {
      userId: id,
      address: `${id}@work.example`,
      isPrimary: false,
      verifiedAt: null,
      id: randomUUID(),
      now: noon,
    });
    await tx
      .insert(schema.webauthnCredentials)
      .values([
        { ...credential(id, `passkey-${id}`, false), name: "Ada's phone", lastUsedAt: later },
        credential(id, `key-${id}`, true),
      ]);
  });
  return id;
}

it("an account is shown in the shape that clients know", async () => {
  const id = await person();
  const shown = {
    public_key: "pQEC-w",
    attestation_type: "none",
    aaguid: "00000000-0000-0000-0000-000000000000",
    created_at: "2030-01-01T12:00:00.000Z",
    transports: ["internal", "hybrid"],
    backup_eligible: true,
    backup_state: false,
  };
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  expect(await profileOf(postgres.database.read, everything, id)).toEqual({
    id,
    user_id: id,
    passkeys: [
      {
        ...shown,
        id: `passkey-${id}`,
        name: "Ada's phone",
        last_used_at: "2030-01-01T13:00:00.000Z",
        mfa_only: false,
      },
    ],
    security_keys: [{ ...shown, id: `key-${id}`, mfa_only: true }],
    mfa_config: { auth_app_set_up: false, totp_enabled: true, security_keys_enabled: true },
    emails: [
      { id: uuid, address: `${id}@example.com`, is_verified: true, is_primary: true },
      { id: uuid, address: `${id}@work.example`, is_verified: false, is_primary: false },
    ],
    username: {
      id: uuid,
      username: id,
      created_at: "2030-01-01T12:00:00.000Z",
      updated_at: "2030-01-01T12:00:00.000Z",
    },
    created_at: "2030-01-01T12:00:00.000Z",
    updated_at: "2030-01-01T12:00:00.000Z",
  });
});

it("what the configuration switches off is left out", async () => {
  const id = await person();
  const bare = tenantWith({ STILE_EMAIL_ENABLED: "false", STILE_PASSKEY_ENABLED: "false" });
  expect(await profileOf(postgres.database.read, bare, id)).toEqual({
    id,
    user_id: id,
    mfa_config: { auth_app_set_up: false, totp_enabled: false, security_keys_enabled: false },
    created_at: "2030-01-01T12:00:00.000Z",
    updated_at: "2030-01-01T12:00:00.000Z",
  });
});

it("what an account does not have is left out, and the transaction that makes it can show it", async () => {
  const id = randomUUID();
  const profile = await postgres.database.write.transaction(async (tx) => {
    await createUser(tx, everything.id, { id, now: noon, environment });
    return profileOf(tx, everything, id);
  });
  expect(Object.keys(profile ?? {}).sort()).toEqual([
    "created_at",
    "id",
    "mfa_config",
    "updated_at",
    "user_id",
  ]);
});

it("A68 nobody is shown who is unknown, or another tenant's", async () => {
  const id = await person();
  expect(await profileOf(postgres.database.read, everything, randomUUID())).toBeNull();
  expect(await profileOf(postgres.database.read, { ...everything, id: randomUUID() }, id)).toBeNull();
});
