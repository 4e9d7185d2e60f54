import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { schema } from "#db/client";
import { loadConfig } from "../config/load.ts";
import type { Tenant } from "../config/tenant.ts";
import { addEmail } from "../identity/email/emails.ts";
import { createUser } from "../identity/users.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { profileOf } from "./profile.ts";

const noon = new Date("2030-01-01T12:00:00.000Z");
const later = new Date("2030-01-01T13:00:00.000Z");
const platform = { randomBytes, uuid: randomUUID, clockShift: () => 0 };

const postgres = await openForTests(testDatabase());

function tenantWith(settings: Record<string, string>): Tenant {
  const config = loadConfig(settings, "/nowhere");
  return { id: config.tenant.id, config };
}
const everything = tenantWith({
  STILE_USERNAME_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "us",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "secret",
});

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

/** Adds the optional parts of a profile to an account. */
async function addOptionalParts(userId: string): Promise<void> {
  const { tenantId } = credential(userId, "", false);
  await postgres.database.write.transaction(async (tx) => {
    await tx
      .update(schema.users)
      .set({
        name: "Ada Lovelace",
        givenName: "Ada",
        familyName: "Lovelace",
        picture: "https://example.com/ada.png",
        publicMetadata: { plan: "gold" },
        privateMetadata: { note: "for the operator alone" },
        unsafeMetadata: { theme: "dark" },
      })
      .where(eq(schema.users.id, userId));
    await tx.insert(schema.totpSecrets).values({ tenantId, userId, sealedSecret: Buffer.of(1), lastStep: 1 });
    await tx
      .insert(schema.identities)
      .values([
        identity(userId, "google", `${userId}@example.com`, noon),
        identity(userId, "github", `${userId}@example.com`, noon),
        identity(userId, "unheard_of", null, later),
      ]);
  });
}

const identity = (userId: string, provider: string, email: string | null, createdAt: Date) => ({
  tenantId: everything.id,
  id: randomUUID(),
  userId,
  provider,
  subject: `${provider}-${userId}`,
  email,
  createdAt,
});

async function person(): Promise<string> {
  const id = randomUUID();
  await postgres.database.write.transaction(async (tx) => {
    await createUser(tx, everything.id, {
      id,
      identifiers: { email: { value: `${id}@example.com`, verifiedAt: noon }, username: { value: id } },
      now: noon,
      platform,
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

it("describes an account in the shape of the interface", async () => {
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

it("includes names, metadata, the authenticator app and identities, without private metadata and disabled providers", async () => {
  const id = await person();
  await addOptionalParts(id);
  const google = { id: `google-${id}`, provider: "Google", identity_id: expect.any(String) };
  const shown = await profileOf(postgres.database.read, everything, id);
  expect(shown).toMatchObject({
    name: "Ada Lovelace",
    given_name: "Ada",
    family_name: "Lovelace",
    picture: "https://example.com/ada.png",
    metadata: { public_metadata: { plan: "gold" }, unsafe_metadata: { theme: "dark" } },
    mfa_config: { auth_app_set_up: true },
    identities: [google],
    emails: [{ address: `${id}@example.com`, identity: google, identities: [google] }, {}],
  });
  expect(shown?.emails?.[1]).not.toHaveProperty("identity");
  expect(JSON.stringify(shown)).not.toMatch(/operator alone|github|unheard_of/);
});

it("leaves out what the configuration disables", async () => {
  const id = await person();
  const bare = tenantWith({
    STILE_EMAIL_ENABLED: "false",
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ENABLED: "false",
  });
  expect(await profileOf(postgres.database.read, bare, id)).toEqual({
    id,
    user_id: id,
    mfa_config: { auth_app_set_up: false, totp_enabled: false, security_keys_enabled: false },
    created_at: "2030-01-01T12:00:00.000Z",
    updated_at: "2030-01-01T12:00:00.000Z",
  });
});

it("leaves out empty parts, and can be read in the transaction that creates the account", async () => {
  const id = randomUUID();
  const profile = await postgres.database.write.transaction(async (tx) => {
    await createUser(tx, everything.id, { id, now: noon, platform });
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

it("A68 returns null for an unknown user, and for one of another tenant", async () => {
  const id = await person();
  expect(await profileOf(postgres.database.read, everything, randomUUID())).toBeNull();
  expect(await profileOf(postgres.database.read, { ...everything, id: randomUUID() }, id)).toBeNull();
});
