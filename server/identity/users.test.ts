import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { executePart } from "#db/part";
import { loadConfig } from "../config/load.ts";
import { credentialRow } from "../testing/credential-row.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { addEmail, setEmailVerified } from "./email/emails.ts";
import { factsById, factsByIdentifier } from "./facts.ts";
import { usernamePart } from "./username/usernames.ts";
import { createUser, type NewUser } from "./users.ts";

const tenantId = loadConfig({}, "/nowhere").tenant.id;
const noon = new Date("2030-01-01T12:00:00.000Z");
const later = new Date("2030-01-01T13:00:00.000Z");
const platform = { randomBytes, uuid: randomUUID, clockShift: () => 0 };

let postgres: TestDatabase;
let read: ReadOnly;
let otherTenantId: string;

beforeAll(async () => {
  postgres = await testDatabase();
  read = postgres.database.read;
  otherTenantId = randomUUID();
  await postgres.database.write.insert(schema.tenants).values({ id: otherTenantId, name: "another" });
});
afterAll(() => postgres.close());

const write = <Result>(change: (tx: Transaction) => Promise<Result>) =>
  postgres.database.write.transaction(change);

async function newUser(identifiers: NewUser["identifiers"] = {}, tenant = tenantId): Promise<string> {
  const id = randomUUID();
  await write((tx) => createUser(tx, tenant, { id, identifiers, now: noon, platform }));
  return id;
}

/** Returns the error of a write, with the constraint that it violates. */
async function errorOf(change: (tx: Transaction) => Promise<unknown>): Promise<unknown> {
  const error = await write(change).then(
    () => null,
    (cause: unknown) => cause,
  );
  return error instanceof Error ? (error.cause ?? error) : error;
}

const nothing = {
  hasPassword: false,
  hasPasskey: false,
  hasSecurityKey: false,
  hasTotp: false,
  hasAuthenticator: false,
  hasRecoveryCode: false,
  hasIdentity: false,
  credentialCount: 0,
  username: null,
  email: null,
  emailVerified: false,
  language: null,
  blocked: false,
  passkeyDeclinedAt: null,
  phone: null,
  phoneVerified: false,
};

const passkey = (userId: string, mfaOnly: boolean) => credentialRow({ tenantId, userId, mfaOnly });

describe("user facts", () => {
  it("are the same by address, by username and by id", async () => {
    const id = await newUser({
      email: { value: "ada@example.com", verifiedAt: noon },
      username: { value: "ada" },
    });
    const facts = { ...nothing, userId: id, username: "ada", email: "ada@example.com", emailVerified: true };
    expect(await factsByIdentifier(read, tenantId, "email", "ada@example.com")).toEqual(facts);
    expect(await factsByIdentifier(read, tenantId, "username", "ada")).toEqual(facts);
    expect(await factsById(read, tenantId, id)).toEqual(facts);
  });

  it("are found for an account without identifiers", async () => {
    const id = await newUser();
    expect(await factsById(read, tenantId, id)).toEqual({ ...nothing, userId: id });
  });

  it("distinguish passkeys from security keys, and include the password", async () => {
    const id = await newUser();
    await write(async (tx) => {
      await tx.insert(schema.webauthnCredentials).values(passkey(id, true));
      await tx.insert(schema.passwords).values({ tenantId, userId: id, hash: "scheme:hash" });
    });
    expect(await factsById(read, tenantId, id)).toMatchObject({
      hasPassword: true,
      hasPasskey: false,
      credentialCount: 1,
    });
    await write((tx) => tx.insert(schema.webauthnCredentials).values(passkey(id, false)));
    expect(await factsById(read, tenantId, id)).toMatchObject({ hasPasskey: true, credentialCount: 2 });
  });

  it("are null for an unknown user", async () => {
    expect(await factsByIdentifier(read, tenantId, "email", "unknown@example.com")).toBeNull();
    expect(await factsByIdentifier(read, tenantId, "username", "unknown")).toBeNull();
    expect(await factsById(read, tenantId, randomUUID())).toBeNull();
  });

  it("A68 are not found by the identifiers of another tenant's account", async () => {
    const email = { value: "grace@example.com" };
    const own = await newUser({ email, username: { value: "grace" } });
    const foreign = await newUser({ email, username: { value: "grace" } }, otherTenantId);
    expect(await factsByIdentifier(read, tenantId, "email", email.value)).toMatchObject({ userId: own });
    expect(await factsByIdentifier(read, otherTenantId, "email", email.value)).toMatchObject({
      userId: foreign,
    });
    expect(await factsByIdentifier(read, otherTenantId, "username", "grace")).toMatchObject({
      userId: foreign,
    });
    expect(await factsById(read, otherTenantId, own)).toBeNull();
  });

  it("can be read inside the transaction that changes them", async () => {
    const facts = await write(async (tx) => {
      const id = randomUUID();
      await createUser(tx, tenantId, {
        id,
        identifiers: { username: { value: "inside" } },
        now: noon,
        platform,
      });
      return factsByIdentifier(tx, tenantId, "username", "inside");
    });
    expect(facts).toMatchObject({ username: "inside" });
  });
});

describe("email addresses", () => {
  it("are primary if they are the first of the account", async () => {
    const id = await newUser({ email: { value: "first@example.com", verifiedAt: null } });
    const second = {
      userId: id,
      address: "second@example.com",
      isPrimary: false,
      verifiedAt: noon,
      id: randomUUID(),
      now: noon,
    };
    await write((tx) => addEmail(tx, tenantId, second));
    expect(await factsById(read, tenantId, id)).toMatchObject({
      email: "first@example.com",
      emailVerified: false,
    });
    expect(await factsByIdentifier(read, tenantId, "email", "second@example.com")).toMatchObject({
      userId: id,
    });
  });

  it("are unique in a tenant, by a named constraint", async () => {
    await newUser({ email: { value: "taken@example.com", verifiedAt: null } });
    const userId = await newUser();
    const address = {
      userId,
      address: "taken@example.com",
      isPrimary: true,
      verifiedAt: null,
      id: randomUUID(),
      now: noon,
    };
    expect(await errorOf((tx) => addEmail(tx, tenantId, address))).toMatchObject({
      code: "23505",
      constraint: "emails_address_unique",
    });
  });

  it("are unique among twenty accounts that are created concurrently", async () => {
    const email = { value: "race@example.com" };
    const made = await Promise.allSettled(Array.from({ length: 20 }, () => newUser({ email })));
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await factsByIdentifier(read, tenantId, "email", email.value)).not.toBeNull();
  });

  it("keep the time of their first verification", async () => {
    const userId = await newUser({ email: { value: "proof@example.com", verifiedAt: null } });
    const proof = { userId, address: "proof@example.com", now: noon };
    await write((tx) => setEmailVerified(tx, tenantId, proof));
    await write((tx) => setEmailVerified(tx, tenantId, { ...proof, now: later }));
    const rows = await postgres.database.read.select().from(schema.emails);
    expect(rows.find((row) => row.userId === userId)?.verifiedAt).toEqual(noon);
  });

  it("cannot be verified for an account or a tenant that does not have them", async () => {
    const address = "mine@example.com";
    const owner = await newUser({ email: { value: address, verifiedAt: null } });
    const other = await newUser();
    const verify = (tenant: string, userId: string) =>
      errorOf((tx) => setEmailVerified(tx, tenant, { userId, address, now: noon }));
    expect(await verify(tenantId, other)).toMatchObject({ reason: "email" });
    expect(await verify(otherTenantId, owner)).toMatchObject({ reason: "email" });
    expect(await factsById(read, tenantId, owner)).toMatchObject({ emailVerified: false });
  });
});

describe("usernames", () => {
  it("are set once, by a named constraint", async () => {
    const userId = await newUser();
    const named = (username: string) => ({ userId, username, id: randomUUID(), now: noon });
    await write((tx) => executePart(tx, usernamePart(tenantId, named("hedy"))));
    expect(await factsById(read, tenantId, userId)).toMatchObject({ username: "hedy" });
    expect(await errorOf((tx) => executePart(tx, usernamePart(tenantId, named("lamarr"))))).toMatchObject({
      code: "23505",
      constraint: "usernames_user_unique",
    });
  });

  it("are unique in a tenant, by a named constraint", async () => {
    await newUser({ username: { value: "taken" } });
    const userId = await newUser({ username: { value: "free" } });
    const change = { userId, username: "taken", id: randomUUID(), now: noon };
    expect(await errorOf((tx) => executePart(tx, usernamePart(tenantId, change)))).toMatchObject({
      code: "23505",
      constraint: "usernames_username_unique",
    });
    expect(await factsById(read, tenantId, userId)).toMatchObject({ username: "free" });
  });
});

it("createUser writes nothing if the username is taken", async () => {
  await newUser({ username: { value: "half" } });
  const id = randomUUID();
  const email = { value: "half@example.com" };
  await errorOf((tx) =>
    createUser(tx, tenantId, {
      id,
      identifiers: { email, username: { value: "half" } },
      now: noon,
      platform,
    }),
  );
  expect(await factsById(read, tenantId, id)).toBeNull();
  expect(await factsByIdentifier(read, tenantId, "email", email.value)).toBeNull();
});
