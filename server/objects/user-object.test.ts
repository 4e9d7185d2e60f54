import { randomBytes, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { expect, it } from "vitest";
import { schema } from "#db/client";
import { addEmail } from "../identity/email/emails.ts";
import { createUser } from "../identity/users.ts";
import { credentialRow } from "../testing/credential-row.ts";
import { openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { type UserObject, userObject, userObjectSchema } from "./user-object.ts";

const noon = new Date("2030-01-01T12:00:00.000Z");
const later = new Date("2030-01-01T13:00:00.050Z");
const platform = { randomBytes, uuid: randomUUID, clockShift: () => 0 };
const tenantId = "00000000-0000-4000-8000-000000000001";
const { users, identities, passwords, totpSecrets, webauthnCredentials } = schema;

const postgres = await openForTests(testDatabase());

async function read(id: string): Promise<UserObject | undefined> {
  const [row] = await postgres.database.read
    .select({ user: userObject({ id: tenantId, config: { base_url: "https://login.example" } }) })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.id, id)));
  return row?.user;
}

it("leaves out of a user what is empty", async () => {
  const id = randomUUID();
  await postgres.database.write.transaction((tx) => createUser(tx, tenantId, { id, now: noon, platform }));

  const user = await read(id);

  expect(user).toEqual({ id, created_at: noon.toISOString(), updated_at: noon.toISOString() });
  expect(userObjectSchema.parse(user)).toEqual(user);
});

it("builds in SQL the user that the schema describes", async () => {
  const id = randomUUID();
  const address = `${id}@example.com`;
  const metadata = { plan: null, seats: [1, null], nested: { none: null } };
  const publicKey = Buffer.from(`fbefff${"a5".repeat(120)}`, "hex");
  await postgres.database.write.transaction(async (tx) => {
    await createUser(tx, tenantId, {
      id,
      identifiers: {
        email: { value: address, verifiedAt: noon },
        username: { value: id },
        phone: { value: "+4915112345678", verifiedAt: noon },
      },
      now: noon,
      platform,
    });
    const second = { userId: id, address: `a${address}`, isPrimary: false, verifiedAt: null };
    await addEmail(tx, tenantId, { ...second, id: randomUUID(), now: noon });
    await tx
      .update(users)
      .set({
        name: "Ada Lovelace",
        givenName: "Ada",
        familyName: "Lovelace",
        picture: "https://example.com/ada.png",
        publicMetadata: metadata,
        privateMetadata: metadata,
        unsafeMetadata: metadata,
        blockedAt: later,
        language: "en",
        lastSignInAt: noon,
        updatedAt: later,
      })
      .where(eq(users.id, id));
    await tx
      .insert(passwords)
      .values({ tenantId, userId: id, hash: "hash", createdAt: noon, updatedAt: later });
    const secret = { sealedSecret: Buffer.of(1), lastStep: 1, createdAt: noon };
    await tx.insert(totpSecrets).values({ tenantId, userId: id, ...secret });
    const credential = { tenantId, userId: id, publicKey, createdAt: noon };
    await tx
      .insert(webauthnCredentials)
      .values([
        credentialRow({ ...credential, id: `b-${id}`, transports: ["internal", "hybrid"] }),
        credentialRow({ ...credential, id: `a-${id}`, name: "Key", lastUsedAt: later, mfaOnly: true }),
      ]);
    const identity = { tenantId, userId: id, createdAt: noon, updatedAt: noon };
    await tx.insert(identities).values([
      { ...identity, id: randomUUID(), provider: "google", subject: `g-${id}`, email: address },
      {
        ...identity,
        id: randomUUID(),
        provider: "github",
        subject: `h-${id}`,
        email: "other@example.com",
        createdAt: later,
      },
    ]);
  });

  const user = await read(id);

  expect(userObjectSchema.parse(user)).toEqual(user);
  const every = Object.keys(userObjectSchema.shape);
  expect(Object.keys(user ?? {}).toSorted()).toEqual(every.toSorted());
  expect(user?.emails?.map((email) => [email.address, email.is_primary, email.is_verified])).toEqual([
    [address, true, true],
    [`a${address}`, false, false],
  ]);
  const [key, passkey] = user?.webauthn_credentials ?? [];
  expect(key).toMatchObject({
    id: `a-${id}`,
    name: "Key",
    last_used_at: later.toISOString(),
    mfa_only: true,
  });
  expect(passkey).toMatchObject({ id: `b-${id}`, transports: ["internal", "hybrid"], mfa_only: false });
  expect(passkey?.public_key).toBe(publicKey.toString("base64url"));
  expect(user?.password).toEqual({
    id,
    tenant_id: tenantId,
    created_at: noon.toISOString(),
    updated_at: later.toISOString(),
  });
  expect(user?.otp).toEqual({ id, created_at: noon.toISOString() });
  const stated = user?.identities?.map((identity) => [identity.provider_name, identity.email_id]);
  expect(stated).toEqual([
    ["google", user?.emails?.[0]?.id],
    ["github", undefined],
  ]);
  expect(user?.metadata).toEqual({
    public_metadata: metadata,
    private_metadata: metadata,
    unsafe_metadata: metadata,
  });
});
