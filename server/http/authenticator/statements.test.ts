import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openDatabase } from "#db/client";
import { authenticatorApplication } from "../../testing/authenticator-application.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { countStatements } from "../../testing/statement-counter.ts";

/**
 * How many statements a request to an authenticator and its answer send to PostgreSQL, `begin` and `commit` included. A
 * number that grows is a loss for every application; decision 0011 says how they are few.
 */

const runtime = await runtimeForTests();
const { connectionString = "" } = runtime.database.write.$client.options;
const counter = await openForTests(countStatements(connectionString));
const database = await openForTests(openDatabase(counter.url, 2, () => {}));
const application = await authenticatorApplication({ ...runtime, database });

/** Runs a call, and returns the statements that it has sent. */
async function statementsOf<Result>(call: () => Promise<Result>): Promise<[Result, string[]]> {
  const before = counter.sent.length;
  const result = await call();
  return [result, counter.sent.slice(before).map(({ statement }) => statement)];
}

test("a request takes five statements, and its answer four", async () => {
  const userId = `user ${randomUUID()}`;
  const { authenticator } = await application.enroll(userId, { counts: true });
  const [made, ofRequest] = await statementsOf(() => application.create("AUTH", userId));
  expect(ofRequest).toEqual([
    "api_key_by_hash",
    "now",
    "authenticator_devices_of_user",
    "requests_serialized",
    "superseded+request_inserted",
  ]);
  const uafResponse = application.answerOf(authenticator, made);
  const [answered, ofAnswer] = await statementsOf(() => application.answer(made, uafResponse));
  expect(answered.body).toMatchObject({ status: "OK", device: { deviceId: answered.body.deviceID } });
  expect(ofAnswer).toEqual([
    "api_key_by_hash",
    "authenticator_request",
    "challenge_taken",
    "key_used+request_ended+audit",
  ]);
});

test("an answer that is rejected takes as many statements", async () => {
  const userId = `user ${randomUUID()}`;
  const { authenticator } = await application.enroll(userId);
  const made = await application.create("AUTH", userId);
  const wrong = application.answerOf(authenticator, made, { signature: "flipped" });
  const [answered, ofAnswer] = await statementsOf(() => application.answer(made, wrong));
  expect(answered.body.status).toBe("FAILED");
  expect(ofAnswer).toHaveLength(4);
});
