import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { schema } from "#db/client";
import { type Write, writeOf } from "#db/write";
import type { RequestContext } from "../runtime.ts";
import { credentialRow } from "../testing/credential-row.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { insertUser } from "../testing/users.ts";
import { createPassword, deletePassword } from "./password/passwords.ts";
import { deleteCredential, renameCredential, usedCredential } from "./webauthn-credentials.ts";

const runtime = await runtimeForTests();

const scope = () => requestContext(runtime);

const write = (change: Write) => runtime.database.write.transaction(change);

/** A user with a passkey and a security key. */
async function person() {
  const userId = await insertUser(runtime);
  const made = { passkey: randomUUID(), key: randomUUID() };
  const own = { tenantId: runtime.tenant.id, userId };
  await write(async (tx) => {
    await tx
      .insert(schema.webauthnCredentials)
      .values(Object.values(made).map((id) => credentialRow({ ...own, id, mfaOnly: id === made.key })));
  });
  return { userId, ...made };
}

const namesOf = async (userId: string) => {
  const rows = await runtime.database.read.select().from(schema.webauthnCredentials);
  return rows.filter((row) => row.userId === userId).map(({ id, name }) => [id, name]);
};

it("renames and deletes a credential of its owner", async () => {
  const { userId, passkey, key } = await person();
  await write(renameCredential(scope(), userId, { id: key, name: "Blue key" }));
  expect(await namesOf(userId)).toContainEqual([key, "Blue key"]);
  await write(deleteCredential(scope(), userId, { id: passkey, mfaOnly: false }));
  expect(await namesOf(userId)).toEqual([[key, "Blue key"]]);
});

it("records where a credential was used: the browser, and the network of the address", async () => {
  const { passkey } = await person();
  const counted = { signCount: 1, backupState: false, userVerified: false, strict: false };
  const use = { id: passkey, ...counted, userHandle: null };
  const used = async (context: RequestContext) => {
    await write(writeOf(usedCredential(context, use)));
    const rows = await runtime.database.read.select().from(schema.webauthnCredentials);
    const row = rows.find(({ id }) => id === passkey);
    return [row?.lastUsedUserAgent, row?.lastUsedIpAddress];
  };
  const context = scope();
  const client = { ...context.client, userAgent: "Browser\0", ip: "192.0.2.77" };
  expect(await used({ ...context, client })).toEqual(["Browser\ufffd", "192.0.2.0"]);
  const session = { ...context.tenant.config.session, acquire_ip_address: false, acquire_user_agent: false };
  const tenant = { ...context.tenant, config: { ...context.tenant.config, session } };
  expect(await used({ ...context, client, tenant })).toEqual([null, null]);
});

it("A68 rejects changes for another account, of the other kind, or of an unknown id", async () => {
  const [own, other] = [await person(), await person()];
  const rejected = [
    renameCredential(scope(), other.userId, { id: own.passkey, name: "Mine" }),
    deleteCredential(scope(), other.userId, { id: own.passkey, mfaOnly: false }),
    deleteCredential(scope(), own.userId, { id: own.passkey, mfaOnly: true }),
    deleteCredential(scope(), own.userId, { id: own.key, mfaOnly: false }),
    deleteCredential(scope(), own.userId, { id: randomUUID(), mfaOnly: false }),
  ];
  for (const change of rejected) await expect(write(change)).rejects.toThrow("conflict: passkey");
  expect(await namesOf(own.userId)).toHaveLength(2);
});

it("deletes the password of one account only", async () => {
  const [own, other] = [await person(), await person()];
  await write(createPassword(scope(), own.userId, "hash"));
  await write(createPassword(scope(), other.userId, "hash"));
  await write(deletePassword(scope(), own.userId));
  const left = await runtime.database.read.select().from(schema.passwords);
  expect(left.map(({ userId }) => userId)).toEqual([other.userId]);
});
