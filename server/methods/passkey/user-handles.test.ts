import { randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { deleteAccount } from "../../account/deletion.ts";
import type { RequestContext } from "../../runtime.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { verifyAssertion } from "../../testing/verify-assertion.ts";
import { type Authenticator, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { commitWrites } from "../../testing/writes.ts";
import { legacyUserHandle } from "../../webauthn/user-handle.ts";
import { insertCredential } from "../webauthn-credentials.ts";
import { createCreationOptions, createRequestOptions, verifyAttestation } from "./passkeys.ts";

const { users, userHandles, webauthnCredentials } = schema;

const runtime = await runtimeForTests({ BASE_URL: "https://login.example" });

const origin = "https://login.example";

async function newUser(context = requestContext(runtime), id: string = randomUUID()): Promise<string> {
  await runtime.database.write.insert(users).values({ tenantId: context.tenant.id, id });
  return id;
}

type Kind = "passkey" | "security_key";

/** Opens a ceremony of creation; returns its options, and a function that verifies the response and stores the credential. */
async function creation(
  userId: string,
  { context = requestContext(runtime), kind = "passkey" as Kind } = {},
) {
  const flowId = randomUUID();
  const user = { id: userId, name: "ada", displayName: "Ada" };
  const { options, write } = await createCreationOptions(context, { flowId, user, pending: [], kind });
  await commitWrites(runtime, write);
  return {
    handle: options.publicKey.user.id,
    excluded: (options.publicKey.excludeCredentials ?? []).map(({ id }) => id),
    async finish(authenticator: Authenticator, { isStored = true, ignoreExcluded = false } = {}) {
      const response = authenticator.create(options, { origin, ignoreExcluded });
      const verdict = await verifyAttestation(context, { flowId, userId, response, kind });
      if (!verdict.ok) throw new Error(verdict.reason);
      const store = () => commitWrites(runtime, insertCredential(context, userId, verdict.credential));
      if (isStored) await store();
      return { id: verdict.credential.id, store };
    },
  };
}

async function register(
  userId: string,
  authenticator: Authenticator,
  about: Parameters<typeof creation>[1] = {},
) {
  const opened = await creation(userId, about);
  return { handle: opened.handle, ...(await opened.finish(authenticator)) };
}

async function signIn(
  authenticator: Authenticator,
  {
    context = requestContext(runtime),
    ...call
  }: {
    context?: RequestContext;
    userHandle?: string;
    credential?: Authenticator["credentials"][number];
  } = {},
) {
  const flowId = randomUUID();
  const { options, write } = await createRequestOptions(context, { flowId });
  await commitWrites(runtime, write);
  const response = authenticator.get(options, { origin, ...call });
  const verdict = await verifyAssertion(context, { flowId, response });
  if (verdict.ok) await commitWrites(runtime, ...verdict.writes);
  return verdict.ok ? verdict.userId : verdict.reason;
}

const handleOfCredential = async (id: string) => {
  const [row] = await runtime.database.read
    .select()
    .from(webauthnCredentials)
    .where(eq(webauthnCredentials.id, id));
  return row?.userHandle?.toString("base64url") ?? null;
};

/** Sets what is recorded with a credential: null as former versions recorded it. */
const record = (id: string, userHandle: Buffer | null) =>
  runtime.database.write
    .update(webauthnCredentials)
    .set({ userHandle })
    .where(eq(webauthnCredentials.id, id));

const storedHandles = (userId: string) =>
  runtime.database.read.select().from(userHandles).where(eq(userHandles.userId, userId));

const legacy = (userId: string) => legacyUserHandle(userId).toString("base64url");

describe("the user handle of an account", () => {
  test.each<Kind>(["passkey", "security_key"])("is 64 random bytes, made with its first %s", async (kind) => {
    const [one, two] = [await newUser(), await newUser()];
    expect(await storedHandles(one)).toEqual([]);
    const authenticator = softwareAuthenticator();
    const first = await register(one, authenticator, { kind });
    expect(Buffer.from(first.handle, "base64url")).toHaveLength(64);
    expect(await handleOfCredential(first.id)).toBe(first.handle);
    expect((await register(one, softwareAuthenticator())).handle).toBe(first.handle);
    expect((await register(one, softwareAuthenticator(), { kind: "security_key" })).handle).toBe(
      first.handle,
    );
    expect((await register(two, softwareAuthenticator(), { kind })).handle).not.toBe(first.handle);
    expect(await storedHandles(one)).toMatchObject([{ expiresAt: null }]);
  });

  test("is one for ceremonies that begin together", async () => {
    const userId = await newUser();
    const opened = await Promise.all(Array.from({ length: 10 }, () => creation(userId)));
    expect(new Set(opened.map(({ handle }) => handle)).size).toBe(1);
  });

  test("is made before the account, which a registration creates at its end", async () => {
    const [userId, authenticator] = [randomUUID(), softwareAuthenticator()];
    const opened = await creation(userId);
    const { store, id } = await opened.finish(authenticator, { isStored: false });
    await newUser(requestContext(runtime), userId);
    await store();
    expect(await handleOfCredential(id)).toBe(opened.handle);
    expect(await signIn(authenticator)).toBe(userId);
  });

  test("is deleted with the account, and with a registration that no account came of", async () => {
    const [deleted, kept] = [await newUser(), await newUser()];
    for (const userId of [deleted, kept]) await register(userId, softwareAuthenticator());
    await runtime.database.write.transaction(deleteAccount(requestContext(runtime), deleted, null));
    const [abandoned, opened] = [randomUUID(), await newUser()];
    for (const userId of [abandoned, opened]) await creation(userId);
    await runtime.database.write
      .update(userHandles)
      .set({ expiresAt: new Date("2020-01-01") })
      .where(eq(userHandles.userId, abandoned));
    await runtime.database.write
      .update(userHandles)
      .set({ expiresAt: new Date("2020-01-01") })
      .where(eq(userHandles.userId, opened));
    await runtime.purgeExpired();
    const left = await Promise.all([deleted, kept, abandoned, opened].map(storedHandles));
    expect(left.map((rows) => rows.length)).toEqual([0, 1, 0, 1]);
  });

  test("is refused by the database if another account of the deployment has it", async () => {
    const [one, other] = [
      await newUser(),
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    ];
    await creation(one);
    const [stored] = await storedHandles(one);
    const copy = { tenantId: other.id, userId: randomUUID(), handle: stored?.handle ?? Buffer.alloc(0) };
    await expect(runtime.database.write.insert(userHandles).values(copy)).rejects.toThrow();
  });
});

test("A143 accounts of two tenants with one id have different handles, and both passkeys stay in one authenticator", async () => {
  const tenant = await createTenant(runtime, { name: "Second", hosts: [], settings: {} });
  const [here, there] = [requestContext(runtime), requestContext(runtime, { tenant })];
  expect(there.tenant.config.webauthn.relying_party.id).toBe(here.tenant.config.webauthn.relying_party.id);
  const id = randomUUID();
  const authenticator = softwareAuthenticator();
  for (const context of [here, there]) {
    await newUser(context, id);
    await register(id, authenticator, { context });
  }
  const [first, second] = authenticator.credentials;
  if (!first || !second) throw new Error("a passkey was replaced");
  expect(await signIn(authenticator, { context: here, credential: first })).toBe(id);
  expect(await signIn(authenticator, { context: there, credential: second })).toBe(id);
  expect(await signIn(authenticator, { context: there, credential: first })).toBe("credential_unknown");
});

describe("an account with passkeys of a former version", () => {
  /** As a former version left it: the handle is the account's id, and nothing is recorded. */
  async function ofFormerVersion() {
    const [userId, authenticator] = [await newUser(), softwareAuthenticator()];
    const { id } = await register(userId, authenticator);
    await runtime.database.write.delete(userHandles).where(eq(userHandles.userId, userId));
    await record(id, null);
    const [held] = authenticator.credentials;
    if (held) held.userHandle = legacyUserHandle(userId);
    return { userId, authenticator, id };
  }

  test("signs in with the handle that it has", async () => {
    const { userId, authenticator, id } = await ofFormerVersion();
    expect(await signIn(authenticator)).toBe(userId);
    expect(await handleOfCredential(id)).toBe(null);
    const other = Buffer.alloc(64, 1).toString("base64url");
    expect(await signIn(authenticator, { userHandle: other })).toBe("user_handle_mismatch");
  });

  test("adds further ones under that handle, so that an authenticator replaces and excludes as before", async () => {
    const { userId, authenticator, id } = await ofFormerVersion();
    const { handle, excluded, finish } = await creation(userId);
    expect([handle, excluded]).toEqual([legacy(userId), [id]]);
    await finish(authenticator, { ignoreExcluded: true });
    expect(authenticator.credentials).toHaveLength(1);
    expect(await signIn(authenticator)).toBe(userId);
    expect(await storedHandles(userId)).toEqual([]);
  });

  test("gets a random handle once it has none of them left", async () => {
    const { userId, id } = await ofFormerVersion();
    await runtime.database.write.delete(webauthnCredentials).where(eq(webauthnCredentials.id, id));
    const next = softwareAuthenticator();
    expect((await register(userId, next)).handle).not.toBe(legacy(userId));
    expect(await signIn(next)).toBe(userId);
  });
});

describe("while a former version runs on the same database", () => {
  test("a ceremony that this version opened and that one finished leaves a passkey that signs in", async () => {
    const [userId, authenticator] = [await newUser(), softwareAuthenticator()];
    const { id, handle } = await register(userId, authenticator);
    // The former version records no handle.
    await record(id, null);
    expect(await signIn(authenticator)).toBe(userId);
    // From now on that version accepts it as well.
    expect(await handleOfCredential(id)).toBe(handle);
  });

  test("a ceremony that that one opened and this version finished leaves a passkey that signs in", async () => {
    const [userId, authenticator] = [await newUser(), softwareAuthenticator()];
    await register(userId, authenticator);
    const [held] = authenticator.credentials;
    if (held) held.userHandle = legacyUserHandle(userId);
    expect(await signIn(authenticator)).toBe(userId);
  });
});

test("an imported passkey keeps the handle that it was created with, and further ones get the account's", async () => {
  const [userId, authenticator] = [await newUser(), softwareAuthenticator()];
  const { id } = await register(userId, authenticator);
  await runtime.database.write.delete(userHandles).where(eq(userHandles.userId, userId));
  const imported = Buffer.from("an id at another system");
  await record(id, imported);
  const [held] = authenticator.credentials;
  if (held) held.userHandle = imported;
  expect(await signIn(authenticator)).toBe(userId);
  const next = softwareAuthenticator();
  const { handle } = await register(userId, next);
  expect(Buffer.from(handle, "base64url")).toHaveLength(64);
  expect(await signIn(next)).toBe(userId);
  expect(await signIn(authenticator)).toBe(userId);
  expect(await signIn(authenticator, { userHandle: handle })).toBe("user_handle_mismatch");
  const rows = await runtime.database.read
    .select({ userHandle: webauthnCredentials.userHandle })
    .from(webauthnCredentials)
    .where(and(eq(webauthnCredentials.userId, userId), eq(webauthnCredentials.id, id)));
  expect(rows).toEqual([{ userHandle: imported }]);
});
