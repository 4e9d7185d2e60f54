import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { errorBody, passkeySuite } from "../../testing/passkey-suite.ts";

const { runtime, application, auditLogs, newTenant } = await passkeySuite({
  STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://shop.example/done",
});

const pathOf = (userId: string) => `/users/${encodeURIComponent(userId)}`;

/** Counts the rows of every table with users of the passkey server. */
async function countRows(): Promise<number[]> {
  const {
    passkeyUsers,
    passkeyCredentials,
    passkeyTransactions,
    passkeyChallenges,
    transactionConfirmations,
  } = schema;
  const tables = [
    passkeyUsers,
    passkeyCredentials,
    passkeyTransactions,
    passkeyChallenges,
    transactionConfirmations,
  ];
  const { read } = runtime.database;
  return Promise.all(tables.map((table) => read.$count(table, eq(table.tenantId, runtime.tenant.id))));
}

describe("DELETE users/{user_id}", () => {
  test("deletes the user with credentials, transactions, confirmations and challenges", async () => {
    const before = await countRows();
    const userId = `ada ${randomUUID()}/é`;
    await application.registerUser({}, userId);
    await application.register(userId, { mfa: true });
    await application.post("/transaction/initialize", {
      user_id: userId,
      transaction_id: randomUUID(),
      transaction_data: { amount: 1 },
      confirmation: { redirect_to: "https://shop.example/done" },
    });
    const stored = await countRows();
    for (const [at, rows] of stored.entries()) expect(rows).toBeGreaterThan(before[at] ?? 0);

    expect(await application.call("DELETE", pathOf(userId))).toMatchObject({ status: 204 });
    expect(await countRows()).toEqual(before);
    const entries = (await auditLogs("actor_user_id", userId)).map(({ type }) => type);
    expect(entries.at(-1)).toBe("webauthn_user_deleted");
    expect(await application.call("DELETE", pathOf(userId))).toMatchObject({
      status: 404,
      body: errorBody(404, "user not found"),
    });
  });

  test("rejects the response to a ceremony that was under way", async () => {
    const { userId, authenticator } = await application.registerUser();
    const login = await application.answer(authenticator, "/login");
    const factor = await application.answer(authenticator, "/mfa/login", { user_id: userId });
    await application.call("DELETE", pathOf(userId));
    const { status } = await application.postWithoutKey("/login/finalize", login);
    expect(status).toBe(401);
    expect((await application.post("/mfa/login/finalize", factor)).status).toBe(401);
  });

  test("leaves the users of other tenants, and needs a key", async () => {
    const { userId, credentialId } = await application.registerUser();
    const other = await newTenant();
    expect((await other.call("DELETE", pathOf(userId))).status).toBe(404);
    expect((await application.callWithoutKey("DELETE", pathOf(userId))).status).toBe(401);
    expect((await application.get(`/credentials/${credentialId}`)).status).toBe(200);
  });

  test.each(["\0", "x".repeat(5000), "\ud800"])(
    "answers 404 for an id that no user has: %j",
    async (userId) => {
      const path = `/users/${encodeURIComponent(userId.toWellFormed())}`;
      expect((await application.call("DELETE", path)).status).toBe(404);
    },
  );
});
