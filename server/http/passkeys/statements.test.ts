import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openDatabase } from "#db/client";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { passkeyApplication } from "../../testing/passkey-application.ts";
import { countStatements } from "../../testing/statement-counter.ts";

/**
 * How many statements a signed transaction sends to PostgreSQL, `begin` and `commit` included. A number that grows is a
 * loss for every application; decision 0011 says how they are few.
 */

const runtime = await runtimeForTests({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://shop.test/back" });
const { connectionString = "" } = runtime.database.write.$client.options;
const counter = await openForTests(countStatements(connectionString));
const database = await openForTests(openDatabase(counter.url, 2, () => {}));
const application = await passkeyApplication({ ...runtime, database });
// The first transaction creates the signing key.
await confirm();

/** Initializes and finalizes a transaction of a new user; returns the statements of each. */
async function confirm(more: object = {}) {
  const { userId, authenticator } = await application.registerUser();
  const transaction = { user_id: userId, transaction_id: randomUUID(), transaction_data: { amount: "1" } };
  const before = counter.sent.length;
  const answer = await application.answer(authenticator, "/transaction", { ...transaction, ...more });
  const between = counter.sent.length;
  expect((await application.post("/transaction/finalize", answer)).status).toBe(200);
  const statements = counter.sent.map(({ statement }) => statement);
  return { initialize: statements.slice(before, between), finalize: statements.slice(between) };
}

test("a signed transaction takes 9 statements", async () => {
  const { initialize, finalize } = await confirm();
  // Each begins with those of the API key and of the time.
  expect(initialize.slice(2)).toEqual([
    "passkey_transaction_requested",
    "transaction+challenge_opened+audit",
  ]);
  expect(finalize.slice(2)).toEqual([
    "challenge_consumed+transaction_of_challenge",
    "passkey_credential",
    "used_passkey+confirmed+audit",
  ]);
});

test("a transaction with a confirmation page takes no statement more", async () => {
  const { initialize } = await confirm({ confirmation: { redirect_to: "https://shop.test/back" } });
  expect(initialize).toHaveLength(4);
  expect(initialize.at(-1)).toBe("transaction+challenge_opened+confirmation+audit");
});
