import { randomUUID } from "node:crypto";
import { hash as argon2 } from "@node-rs/argon2";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { people } from "../../testing/people.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { type ExportedUser, exportUsers } from "./export.ts";
import { type Imported, importUsers } from "./import.ts";

const { users } = schema;

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await testRuntime({ STILE_USERNAME_ENABLED: "true" });
});
afterAll(() => runtime.close());

const newTenant = () => createTenant(runtime, { name: "Acme", hosts: [], settings: {} });

async function* each(lines: readonly unknown[]) {
  for (const line of lines) yield typeof line === "string" ? line : JSON.stringify(line);
}

const take = (lines: readonly unknown[], tenant: Tenant = runtime.tenant): Promise<Imported> =>
  importUsers(runtime, tenant, each(lines), () => {});

async function give(tenant: Tenant, withHashes = true): Promise<ExportedUser[]> {
  const all = [];
  for await (const user of exportUsers(runtime, tenant, { withHashes })) all.push(user);
  return all;
}

const count = async (tenant: Tenant) => (await give(tenant)).length;

const newEmail = () => ({ address: `${randomUUID()}@example.com`, is_primary: true, is_verified: true });

/** As cheap as it may be. */
const hashOf = (password: string) => argon2(password, { memoryCost: 64, timeCost: 1, parallelism: 1 });

/** Somebody with everything that a line can hold. */
async function everything() {
  return {
    id: randomUUID(),
    name: "Ada Lovelace",
    given_name: "Ada",
    family_name: "Lovelace",
    picture: "https://example.com/ada.png",
    emails: [newEmail(), { ...newEmail(), is_primary: false, is_verified: false }],
    username: `ada_${randomUUID().slice(0, 8)}`,
    password_hash: await hashOf("correct horse battery"),
    public_metadata: { plan: "gold" },
    private_metadata: { note: "a friend" },
    unsafe_metadata: { colour: "red" },
    passkeys: [],
    identities: [{ provider: "google", subject: randomUUID(), email: "ada@example.com" }],
    created_at: "2020-01-02T03:04:05.678Z",
  };
}

describe("an import", () => {
  test("makes a user with all that stands in the line, who signs in with the password", async () => {
    const ada = await everything();
    expect(await take([ada])).toEqual({ imported: 1, refused: [] });
    const [imported] = (await give(runtime.tenant)).filter(({ id }) => id === ada.id);
    expect(imported).toEqual(ada);
    const flow = await people().signIn(runtime, { identifier: ada.username });
    expect(flow.state.name).toBe("success");
  });

  test("brings names into the form that they are compared in", async () => {
    const at = randomUUID();
    const line = { emails: [{ address: ` ${at}@EXAMPLE.com ` }], username: ` U${at.slice(0, 8)} ` };
    expect(await take([line, "", "  "])).toEqual({ imported: 1, refused: [] });
    const [found] = (await give(runtime.tenant)).filter(({ emails }) => emails[0]?.address.startsWith(at));
    expect(found).toMatchObject({
      emails: [{ address: `${at}@example.com`, is_primary: true, is_verified: false }],
      username: `u${at.slice(0, 8)}`,
    });
  });

  test.each([
    ["what is no JSON", "{", "it is not JSON"],
    ["what is no object", "[]", /^it: /],
    ["an unknown member", { emails: [newEmail()], role: "admin" }, "role is not known"],
    ["nobody", {}, "it has nothing that a person could sign in with"],
    ["an id that is none", { id: "7", emails: [newEmail()] }, /^id: /],
    ["an address that is none", { emails: [{ address: "ada" }] }, "emails.0 is not an address"],
    [
      "two primary addresses",
      { emails: [newEmail(), newEmail()] },
      "more than one address is the primary one",
    ],
    ["a username that is none", { username: "ada lovelace" }, "the username is none that this tenant allows"],
    ["a bcrypt hash", { emails: [newEmail()], password_hash: `$2b$12$${"x".repeat(53)}` }, /is not argon2id/],
    [
      "an argon2i hash",
      {
        emails: [newEmail()],
        password_hash: `$argon2i$v=19$m=65536,t=3,p=4$${"A".repeat(22)}$${"A".repeat(43)}`,
      },
      /is not argon2id/,
    ],
    ["a password in the clear", { emails: [newEmail()], password_hash: "hunter2" }, /is not argon2id/],
    [
      "a hash that would take minutes",
      {
        emails: [newEmail()],
        password_hash: `$argon2id$v=19$m=9999999,t=99,p=1$${"A".repeat(22)}$${"A".repeat(43)}`,
      },
      /costs more/,
    ],
    [
      "a hash of parameters that there are none of",
      {
        emails: [newEmail()],
        password_hash: `$argon2id$v=19$m=1,t=1,p=4$${"A".repeat(22)}$${"A".repeat(43)}`,
      },
      /parameters/,
    ],
    [
      "a hash with another server's pepper",
      {
        emails: [newEmail()],
        password_hash: `pepper:abc$argon2id$v=19$m=64,t=1,p=1$${"A".repeat(22)}$${"A".repeat(43)}`,
      },
      /another pepper/,
    ],
    [
      "a passkey that nothing could verify",
      { passkeys: [{ id: "AAAA", public_key: "AAAA" }] },
      "the public key of a passkey is none that this server can verify with",
    ],
    [
      "metadata without end",
      { username: "ada", public_metadata: { x: "x".repeat(3_000) } },
      /^public_metadata: /,
    ],
    ["a text that cannot be stored", { username: "nul", name: "a\0b" }, "a value in it cannot be stored"],
    ["a picture that runs", { username: "ada", picture: "javascript:alert(1)" }, /^picture: /],
  ])("refuses %s, and tells the line", async (_, line, reason) => {
    const tenant = await newTenant();
    const good = { emails: [newEmail()] };
    const outcome = await take([good, line, { emails: [newEmail()] }], tenant);
    expect(outcome).toEqual({ imported: 2, refused: [{ line: 2, reason: expect.stringMatching(reason) }] });
    expect(await count(tenant)).toBe(2);
  });

  test("leaves nothing of a line that is refused half way", async () => {
    const tenant = await newTenant();
    const [first, second] = [await everything(), await everything()];
    await take([first], tenant);
    const clashes = {
      "there is a user of this id already": { ...second, id: first.id },
      "an address is taken, or stands there twice": {
        ...second,
        emails: [second.emails[0], first.emails[1]],
      },
      "the username is taken": { ...second, username: first.username },
      "an identity is taken, or stands there twice": { ...second, identities: first.identities },
    };
    for (const [reason, line] of Object.entries(clashes))
      expect(await take([line], tenant)).toEqual({ imported: 0, refused: [{ line: 1, reason }] });
    expect(await count(tenant)).toBe(1);
    const audit = await runtime.database.read
      .select()
      .from(schema.emails)
      .where(eq(schema.emails.tenantId, tenant.id));
    expect(audit).toHaveLength(2);
    expect(await take([second], tenant)).toMatchObject({ imported: 1 });
  });

  test("tells nothing of what stands in a line that it refuses", async () => {
    const { refused } = await take([{ emails: [{ address: "secret@" }], password_hash: "secret" }, "secret"]);
    expect(JSON.stringify(refused)).not.toContain("secret");
  });

  test("A68 touches no other tenant, where the same people may be", async () => {
    const tenant = await newTenant();
    const before = await count(runtime.tenant);
    const [ada] = [await everything()];
    expect(await take([ada], tenant)).toMatchObject({ imported: 1 });
    expect(await count(runtime.tenant)).toBe(before);
    expect(await take([ada])).toMatchObject({ imported: 1 });
  });

  test("takes the hashes of this server's own pepper, and no other", async () => {
    const peppered = runtime.configured({ STILE_PASSWORD_PEPPER: "a pepper for tests alone" });
    const own = await peppered.passwordHasher.hash("correct horse battery");
    const other = await runtime
      .configured({ STILE_PASSWORD_PEPPER: "another pepper for tests" })
      .passwordHasher.hash("correct horse battery");
    const outcome = await importUsers(
      peppered,
      peppered.tenant,
      each([
        { emails: [newEmail()], password_hash: own },
        { emails: [newEmail()], password_hash: other },
      ]),
      () => {},
    );
    expect(outcome).toMatchObject({ imported: 1, refused: [{ line: 2 }] });
  });
});

describe("an export", () => {
  test("can be imported elsewhere, passkeys and all", async () => {
    const passkeys = runtime.configured({ STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "always" });
    const authenticator = softwareAuthenticator();
    const { email } = await people().register(passkeys, { authenticator });
    const [exported] = (await give(runtime.tenant)).filter(({ emails }) => emails[0]?.address === email);
    expect(exported?.passkeys).toHaveLength(1);
    const tenant = await newTenant();
    expect(await take([exported], tenant)).toEqual({ imported: 1, refused: [] });
    expect(await give(tenant)).toEqual([exported]);
  });

  test("holds no hash unless that was asked for", async () => {
    const tenant = await newTenant();
    await take([await everything()], tenant);
    const [user] = await give(tenant, false);
    expect(user).not.toHaveProperty("password_hash");
    expect(JSON.stringify(user)).not.toContain("argon2");
  });

  test("goes through more users than one batch has", async () => {
    const tenant = await newTenant();
    const { write, read } = runtime.database;
    const rows = Array.from({ length: 450 }, () => ({ tenantId: tenant.id, id: randomUUID() }));
    await write.insert(users).values(rows);
    const exported = (await give(tenant)).map(({ id }) => id);
    expect(exported).toEqual(rows.map(({ id }) => id).toSorted());
    const [one] = await read
      .select()
      .from(users)
      .where(and(eq(users.tenantId, tenant.id), eq(users.id, exported[0] ?? "")));
    expect(one).toBeDefined();
  });
});
