import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { schema } from "#db/client";
import type { Write } from "#db/write";
import { createUser } from "../identity/users.ts";
import { type TestRuntime, testClient, testRuntime } from "../testing/runtime.ts";
import { deleteCredential, renameCredential } from "./owned-credentials.ts";
import { createPassword, deletePassword } from "./passwords.ts";

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await testRuntime();
});
afterAll(() => runtime.close());

const scope = () => ({
  runtime,
  tenant: runtime.tenant,
  client: testClient,
  now: new Date(),
  signal: AbortSignal.timeout(30_000),
});

const write = (change: Write) => runtime.database.write.transaction(change);

/** Somebody with a passkey and a security key. */
async function person() {
  const userId = randomUUID();
  const { tenant, platform } = runtime;
  const made = { passkey: randomUUID(), key: randomUUID() };
  await write(async (tx) => {
    await createUser(tx, tenant.id, { id: userId, now: new Date(), platform });
    await tx.insert(schema.webauthnCredentials).values(
      [made.passkey, made.key].map((id) => ({
        tenantId: tenant.id,
        id,
        userId,
        publicKey: Buffer.of(1),
        signCount: 0,
        aaguid: randomUUID(),
        attestationType: "none",
        transports: [],
        backupEligible: false,
        backupState: false,
        userVerified: true,
        mfaOnly: id === made.key,
      })),
    );
  });
  return { userId, ...made };
}

const namesOf = async (userId: string) => {
  const rows = await runtime.database.read.select().from(schema.webauthnCredentials);
  return rows.filter((row) => row.userId === userId).map(({ id, name }) => [id, name]);
};

it("a credential is renamed and removed by its owner", async () => {
  const { userId, passkey, key } = await person();
  await write(renameCredential(scope(), userId, { id: key, name: "Blue key" }));
  expect(await namesOf(userId)).toContainEqual([key, "Blue key"]);
  await write(deleteCredential(scope(), userId, { id: passkey, mfaOnly: false }));
  expect(await namesOf(userId)).toEqual([[key, "Blue key"]]);
});

it("A68 and by nobody else, nor as what it is not", async () => {
  const [own, other] = [await person(), await person()];
  const refused = [
    renameCredential(scope(), other.userId, { id: own.passkey, name: "Mine" }),
    deleteCredential(scope(), other.userId, { id: own.passkey, mfaOnly: false }),
    deleteCredential(scope(), own.userId, { id: own.passkey, mfaOnly: true }),
    deleteCredential(scope(), own.userId, { id: own.key, mfaOnly: false }),
    deleteCredential(scope(), own.userId, { id: randomUUID(), mfaOnly: false }),
  ];
  for (const change of refused) await expect(write(change)).rejects.toThrow("conflict: passkey");
  expect(await namesOf(own.userId)).toHaveLength(2);
});

it("a password that is removed is gone, of this account alone", async () => {
  const [own, other] = [await person(), await person()];
  await write(createPassword(scope(), own.userId, "hash"));
  await write(createPassword(scope(), other.userId, "hash"));
  await write(deletePassword(scope(), own.userId));
  const left = await runtime.database.read.select().from(schema.passwords);
  expect(left.map(({ userId }) => userId)).toEqual([other.userId]);
});
