import { randomBytes, randomUUID } from "node:crypto";
import { getTableColumns, getTableName } from "drizzle-orm";
import { schema } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import { readUserObject } from "../objects/user-object.ts";
import { accountOwner } from "./account-owner.ts";
import { insertAnyRow } from "./any-row.ts";
import { newName, newNumber } from "./people.ts";
import type { TestRuntime } from "./runtime.ts";

/** Ids of a user and of what belongs to it, by their names in paths of the administration interface. */
export type UserIds = Record<
  "id" | "email_id" | "credential_id" | "identity_id" | "session_id" | "browser_id" | "phone_id",
  string
>;

/** Creates a user with one of everything that an account can have: a row in each table of accounts at least. */
export async function userWithEverything(runtime: TestRuntime): Promise<UserIds> {
  const owner = await accountOwner(runtime, {
    emails: 2,
    username: newName(),
    phone: { number: newNumber() },
    password: true,
    passkeys: 1,
    securityKeys: 1,
    totp: true,
    recoveryCodes: true,
    identities: ["google"],
  });
  const { userId } = owner;
  const own = { tenantId: runtime.tenant.id, userId };
  const [browser_id, phone_id] = [randomUUID(), randomUUID()];
  const expiresAt = new Date(Date.now() + 3_600_000);
  await runtime.database.write
    .insert(schema.trustedDevices)
    .values({ ...own, id: browser_id, tokenHash: randomBytes(32), expiresAt });
  await runtime.database.write.insert(schema.authenticatorDevices).values({
    ...own,
    id: phone_id,
    aaid: "006F#0001",
    keyId: randomBytes(32),
    publicKey: Buffer.alloc(32, 7),
    keyFormat: 0x0101,
    algorithm: 0x0002,
    signCounter: 0,
    regCounter: 0,
    authenticatorVersion: 1,
    attestation: "surrogate",
    keyName: "A phone",
    isSecondFactorOnly: true,
    lastUsedAt: new Date(),
  });
  await fillOtherTables(runtime, { userId, sessionId: owner.sessionId });
  const user = await readUserObject(runtime.database.read, runtime.tenant, userId);
  return {
    id: userId,
    email_id: user?.emails?.[1]?.id ?? "",
    credential_id: owner.passkeys[0] ?? "",
    identity_id: user?.identities?.[0]?.id ?? "",
    session_id: owner.sessionId,
    browser_id,
    phone_id,
  };
}

/** Inserts a row into each table of accounts in which the user has none, such as one of an unfinished sign-in. */
async function fillOtherTables(
  { database, tenant }: TestRuntime,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<void> {
  for (const table of tables) {
    if (rulesOf(table).owner !== "account" || table === schema.users) continue;
    const [column, id] = "userId" in getTableColumns(table) ? ["user_id", userId] : ["session_id", sessionId];
    const name = getTableName(table);
    const { rowCount } = await database.read.$client.query(
      `select from ${name} where tenant_id = $1 and ${column} = $2`,
      [tenant.id, id],
    );
    if (rowCount === 0)
      await insertAnyRow(database, name, { tenant_id: `'${tenant.id}'`, [column]: `'${id}'` });
  }
}
