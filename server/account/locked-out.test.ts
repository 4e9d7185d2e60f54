import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import { accountOwner } from "../testing/account-owner.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { findLockedOut } from "./locked-out.ts";

const runtime = await runtimeForTests({
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "stile",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "a secret for tests alone",
  STILE_USERNAME_ENABLED: "true",
  STILE_USERNAME_USE_AS_LOGIN_IDENTIFIER: "true",
});
const { database } = runtime;

const withPassword = await accountOwner(runtime, { emails: 0, username: "ada", password: true });
const withPasskey = await accountOwner(runtime, { emails: 0, username: "grace", passkeys: 1 });
const withProvider = await accountOwner(runtime, { emails: 0, username: "joan", identities: ["github"] });
const withAddress = await accountOwner(runtime);
const blocked = await accountOwner(runtime, { emails: 0, username: "mary", passkeys: 1 });
await database.write
  .update(schema.users)
  .set({ blockedAt: new Date() })
  .where(eq(schema.users.id, blocked.userId));

/** The users who could not sign in if the configuration was changed. */
async function lockedOutBy(change: (config: Config) => void) {
  const config = structuredClone(runtime.tenant.config);
  change(config);
  const { users, lockedOut } = await findLockedOut(database.read, { ...runtime.tenant, config });
  expect(users).toBe(4);
  return lockedOut;
}

test("no user is locked out who can sign in by one method, and a blocked one is not counted", async () => {
  expect(await lockedOutBy(() => {})).toEqual([]);
});

test("a user is counted with what decides it", async () => {
  const [found, ...others] = await lockedOutBy((config) => {
    config.passkey.enabled = false;
  });
  expect(others).toEqual([]);
  expect(found).toMatchObject({ count: 1, examples: [withPasskey.userId] });
  expect(found?.reasons).toEqual(
    expect.arrayContaining(["`passkey.enabled` is off.", "The account has no password."]),
  );
});

test("an identity counts only while its provider is enabled", async () => {
  const found = await lockedOutBy((config) => {
    config.third_party.providers.github.enabled = false;
  });
  expect(found.map(({ examples }) => examples)).toEqual([[withProvider.userId]]);
});

test("a method that needs an identifier locks out those who have none that is enabled", async () => {
  const found = await lockedOutBy((config) => {
    config.username.use_as_login_identifier = false;
  });
  expect(found.map(({ examples }) => examples)).toEqual([[withPassword.userId]]);
  expect(found[0]?.reasons).toContain("The account has no identifier that is enabled for signing in.");
});

test("the largest group is the first one", async () => {
  const found = await lockedOutBy((config) => {
    config.passkey.enabled = false;
    config.email.use_for_authentication = false;
    config.password.enabled = false;
    config.third_party.providers.github.enabled = false;
  });
  expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  const counts = found.map(({ count }) => count);
  expect(counts).toEqual(counts.toSorted((one, other) => other - one));
  expect(found.flatMap(({ examples }) => examples)).toContain(withAddress.userId);
});
