import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { schema } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { columnOf, type RuledTable, tables } from "#db/tables";
import { factsById } from "../identity/facts.ts";
import { createUser } from "../identity/users.ts";
import { issueSession } from "../sessions/sessions.ts";
import { verifySession } from "../sessions/verify-session.ts";
import { credentialRow } from "../testing/credential-row.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { requestContext } from "../testing/request-context.ts";
import { dropCredentialsSetBeforeVerification, revokeAccess } from "./access-revocation.ts";

const runtime = await runtimeForTests();
const tenantId = runtime.tenant.id;

interface Account {
  userId: string;
  token: string;
  flowIds: string[];
}

/**
 * Creates an account with every kind of credential, a trusted device, a session, two unfinished logins, and a provider
 * request.
 */
async function account(address: string): Promise<Account> {
  const { platform, database } = runtime;
  const now = new Date();
  const userId = randomUUID();
  const flowIds = [randomUUID(), randomUUID()];
  const made = await issueSession(requestContext(runtime, { now }), {
    userId,
    factors: [],
    amr: [],
    rememberMe: false,
  });
  await database.write.transaction(async (tx) => {
    await createUser(tx, tenantId, { id: userId, identifiers: { email: { value: address } }, now, platform });
    await made.write(tx);
    await tx.insert(schema.passwords).values({ tenantId, userId, hash: "scheme:hash" });
    await tx.insert(schema.webauthnCredentials).values(credentialRow({ tenantId, userId }));
    const own = { tenantId, userId };
    const expiresAt = new Date(now.getTime() + 3_600_000);
    const secret = Buffer.alloc(32, 7);
    await tx.insert(schema.totpSecrets).values({ ...own, sealedSecret: secret, lastStep: 1 });
    await tx.insert(schema.authenticatorDevices).values({
      ...own,
      id: randomUUID(),
      aaid: "006F#0001",
      keyId: randomBytes(32),
      publicKey: secret,
      keyFormat: 0x0101,
      algorithm: 0x0002,
      signCounter: 0,
      regCounter: 0,
      authenticatorVersion: 1,
      attestation: "surrogate",
      keyName: "A phone",
      isSecondFactorOnly: true,
      lastUsedAt: now,
    });
    await tx.insert(schema.recoveryCodes).values({ ...own, codeHash: secret });
    await tx
      .insert(schema.trustedDevices)
      .values({ ...own, id: randomUUID(), tokenHash: randomBytes(32), expiresAt });
    await tx
      .insert(schema.identities)
      .values({ ...own, id: randomUUID(), provider: "google", subject: userId, email: address });
    await tx.insert(schema.thirdPartyRequests).values({
      ...own,
      stateHash: randomBytes(32),
      provider: "google",
      sealed: secret,
      redirectTo: "https://example.com",
      expiresAt,
    });
    await tx
      .insert(schema.exchangeTokens)
      .values({ ...own, tokenHash: randomBytes(32), sealed: secret, expiresAt });
    await tx
      .insert(schema.openidArtifacts)
      .values({ ...own, kind: "RefreshToken", idHash: userId, payload: secret, expiresAt });
    for (const id of flowIds) {
      await tx.insert(schema.flows).values({
        tenantId,
        id,
        type: "login",
        state: "login_password",
        version: 1,
        tokenHash: Buffer.alloc(32),
        resumeHash: Buffer.alloc(32),
        userId,
        data: {},
        history: [],
        payload: {},
        expiresAt: new Date(now.getTime() + 3_600_000),
      });
    }
  });
  return { userId, token: made.issued.token, flowIds };
}

const flowsOf = async ({ userId }: Account) => {
  const all = await runtime.database.read.select().from(schema.flows);
  return all.filter((flow) => flow.userId === userId).map((flow) => flow.id);
};

/** The tables that a revocation empties. Of flows one may be kept. */
const revoked = (how: "access" | "credential") =>
  tables.filter((table) => {
    const rules = rulesOf(table);
    return rules.owner === "account" && rules.revoked === how && table !== schema.flows;
  });
const everyRevoked = [...revoked("access"), ...revoked("credential")];

/** Those of some tables in which an account has rows. */
const tablesWith = async ({ userId }: Account, of: readonly RuledTable[]): Promise<RuledTable[]> => {
  const found: RuledTable[] = [];
  for (const table of of) {
    const isOwn = eq(columnOf(table, "userId"), userId);
    if ((await runtime.database.read.$count(table, isOwn)) > 0) found.push(table);
  }
  return found;
};

const isSignedIn = async ({ token }: Account) => {
  const { tenant } = runtime;
  return (await verifySession(runtime, tenant, { cookies: [token], bound: [] }, { touch: false })).ok;
};

describe("dropCredentialsSetBeforeVerification", () => {
  it("A41 revokes the password, passkeys and sessions that an attacker may have created before", async () => {
    const victim = await account("victim@example.com");
    const [flowId = ""] = victim.flowIds;
    expect(await isSignedIn(victim)).toBe(true);
    await runtime.database.write.transaction((tx) =>
      dropCredentialsSetBeforeVerification(tx, { runtime, tenant: runtime.tenant }, victim.userId, flowId),
    );
    expect(await factsById(runtime.database.read, tenantId, victim.userId)).toMatchObject({
      email: "victim@example.com",
      hasPassword: false,
      hasPasskey: false,
      hasTotp: false,
      hasAuthenticator: false,
      hasRecoveryCode: false,
      hasIdentity: false,
      credentialCount: 0,
    });
    expect(await isSignedIn(victim)).toBe(false);
  });

  it("A42 deletes every other unfinished login, and keeps the one that verified the address", async () => {
    const victim = await account("waiting@example.com");
    const [flowId = ""] = victim.flowIds;
    await runtime.database.write.transaction((tx) =>
      dropCredentialsSetBeforeVerification(tx, { runtime, tenant: runtime.tenant }, victim.userId, flowId),
    );
    expect(await flowsOf(victim)).toEqual([flowId]);
  });

  it("A42 deletes identities, open requests to providers, and trusted devices", async () => {
    const victim = await account("connected@example.com");
    await runtime.database.write.transaction((tx) =>
      dropCredentialsSetBeforeVerification(
        tx,
        { runtime, tenant: runtime.tenant },
        victim.userId,
        randomUUID(),
      ),
    );
    expect(everyRevoked.length).toBeGreaterThan(8);
    expect(await tablesWith(victim, everyRevoked)).toEqual([]);
  });

  it("does not change other accounts or other tenants", async () => {
    const [one, other] = [await account("one@example.com"), await account("other@example.com")];
    const drop = (id: string, userId: string) =>
      runtime.database.write.transaction((tx) =>
        dropCredentialsSetBeforeVerification(
          tx,
          { runtime, tenant: { ...runtime.tenant, id } },
          userId,
          randomUUID(),
        ),
      );
    await drop(tenantId, one.userId);
    await expect(drop(randomUUID(), other.userId)).rejects.toThrow("conflict: user");
    expect(await flowsOf(one)).toEqual([]);
    expect(await flowsOf(other)).toHaveLength(2);
    expect(await isSignedIn(other)).toBe(true);
    expect(await factsById(runtime.database.read, tenantId, other.userId)).toMatchObject({
      hasPassword: true,
      hasPasskey: true,
      hasTotp: true,
      hasAuthenticator: true,
      hasRecoveryCode: true,
      hasIdentity: true,
    });
    expect(await tablesWith(other, everyRevoked)).toEqual(everyRevoked);
  });

  it("is rolled back with its transaction", async () => {
    const victim = await account("undone@example.com");
    const failing = runtime.database.write.transaction(async (tx) => {
      await dropCredentialsSetBeforeVerification(
        tx,
        { runtime, tenant: runtime.tenant },
        victim.userId,
        randomUUID(),
      );
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    expect(await isSignedIn(victim)).toBe(true);
    expect(await flowsOf(victim)).toHaveLength(2);
  });
});

it("A24 revokeAccess deletes sessions, other logins and trusted devices, and keeps credentials", async () => {
  const owner = await account("owner@example.com");
  const [, flowId = ""] = owner.flowIds;
  await runtime.database.write.transaction((tx) =>
    revokeAccess(tx, { runtime, tenant: runtime.tenant }, owner.userId, flowId),
  );
  expect(await flowsOf(owner)).toEqual([flowId]);
  expect(await isSignedIn(owner)).toBe(false);
  const facts = await factsById(runtime.database.read, tenantId, owner.userId);
  expect(facts).toMatchObject({ hasPassword: true, hasPasskey: true, hasTotp: true, hasRecoveryCode: true });
  expect(await tablesWith(owner, everyRevoked)).toEqual(revoked("credential"));
});
