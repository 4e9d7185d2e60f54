import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createUser } from "../identity/users.ts";
import { authenticatorApplication } from "../testing/authenticator-application.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { testRuntime } from "../testing/runtime.ts";
import { createUafAuthenticator } from "../testing/uaf-authenticator/authenticator.ts";

const runtime = await runtimeForTests({ STILE_MFA_AUTHENTICATOR_ENABLED: "true" });
const application = await authenticatorApplication(runtime);

/** Creates an account with an email address. */
async function account(): Promise<{ id: string; address: string }> {
  const { database, platform, tenant } = runtime;
  const [id, now] = [randomUUID(), new Date()];
  const address = `${id}@example.com`;
  await database.write.transaction((tx) =>
    createUser(tx, tenant.id, {
      id,
      identifiers: { email: { value: address, verifiedAt: now } },
      now,
      platform,
    }),
  );
  return { id, address };
}

const mailsTo = (address: string) =>
  runtime.enqueued.filter(({ to }) => to === address).map(({ mail }) => mail);

test("notifies the account owner of a registered and of a deregistered second factor", async () => {
  const { id, address } = await account();
  await application.enroll(id);
  expect(mailsTo(address)).toEqual([{ type: "mfa_create", factor: "authenticator" }]);
  await application.create("DEREG", id);
  expect(mailsTo(address)).toEqual([
    { type: "mfa_create", factor: "authenticator" },
    { type: "mfa_delete", factor: "authenticator" },
  ]);
  // No device is left to deregister.
  await application.create("DEREG", id);
  expect(mailsTo(address)).toHaveLength(2);
});

test("sends no notice of an answer, a wrong answer, or a device of a user without an account", async () => {
  const { id, address } = await account();
  const { authenticator } = await application.enroll(id);
  const before = runtime.enqueued.length;
  const asked = await application.create("AUTH", id);
  await application.answer(asked, application.answerOf(authenticator, asked));
  const refused = await application.create("REG", id);
  const another = createUafAuthenticator();
  await application.answer(refused, application.answerOf(another, refused, { signature: "flipped" }));
  await application.enroll("ada@example.com");
  await application.enroll(randomUUID());
  expect(runtime.enqueued).toHaveLength(before);
  expect(mailsTo(address)).toHaveLength(1);
});

test("sends no notice if authenticators are not second factors", async () => {
  const off = await testRuntime();
  const there = await authenticatorApplication(off);
  const id = randomUUID();
  const { database, platform, tenant } = off;
  const now = new Date();
  const identifiers = { email: { value: "ada@example.com", verifiedAt: now } };
  await database.write.transaction((tx) => createUser(tx, tenant.id, { id, identifiers, now, platform }));
  await there.enroll(id);
  expect(off.enqueued).toEqual([]);
  await off.close();
});
