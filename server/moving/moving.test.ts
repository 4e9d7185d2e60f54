import { randomUUID } from "node:crypto";
import { hash as argon2 } from "@node-rs/argon2";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import type { Tenant } from "../config/tenant.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { exportAll, importRecords } from "../testing/moving.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { people } from "../testing/people.ts";
import { softwareAuthenticator } from "../testing/webauthn-authenticator.ts";

const { users } = schema;

const runtime = await runtimeForTests({ STILE_USERNAME_ENABLED: "true" });

const newTenant = () => createTenant(runtime, { name: "Acme", hosts: [], settings: {} });

const take = (records: readonly unknown[], tenant: Tenant = runtime.tenant) =>
  importRecords(runtime, tenant, records);

const give = (tenant: Tenant, withSecrets = true) => exportAll(runtime, tenant, withSecrets);

/** The result of an import that refuses nothing. */
const all = (imported: number) => ({ imported, refused: 0, refusals: [], omitted: {}, resumedAfter: 0 });

const count = async (tenant: Tenant) => (await give(tenant)).length;

const newEmail = () => ({ address: `${randomUUID()}@example.com`, is_primary: true, is_verified: true });

/** Hashes with the lowest cost. */
const hashOf = (password: string) => argon2(password, { memoryCost: 64, timeCost: 1, parallelism: 1 });

/** Returns a line with every member. */
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

test("an export has the members that tables say they are exported as, the secret ones on demand", async () => {
  const tenant = await newTenant();
  expect(await take([{ ...(await everything()), totp: { secret: "A".repeat(32) } }], tenant)).toEqual(all(1));
  const exported = tables.flatMap((table) => {
    const rules = rulesOf(table);
    return rules.owner === "account" && "as" in rules.exported ? rules.exported : [];
  });
  const membersOf = (rules: typeof exported) => rules.flatMap(({ as }) => as).toSorted();
  const [whole] = await give(tenant);
  expect(Object.keys(whole ?? {}).toSorted()).toEqual(membersOf(exported));
  const [without] = await give(tenant, false);
  expect(Object.keys(without ?? {}).toSorted()).toEqual(
    membersOf(exported.filter(({ isSecret }) => !isSecret)),
  );
});

describe("an import", () => {
  test("creates a user with every member of the line, who can sign in with the password", async () => {
    const ada = await everything();
    expect(await take([ada])).toEqual(all(1));
    const [imported] = (await give(runtime.tenant)).filter(({ id }) => id === ada.id);
    expect(imported).toMatchObject(ada);
    const flow = await people().signIn(runtime, { identifier: ada.username });
    expect(flow.state.name).toBe("success");
  });

  test("converts addresses and usernames to canonical form", async () => {
    const at = randomUUID();
    const line = { emails: [{ address: ` ${at}@EXAMPLE.com ` }], username: ` U${at.slice(0, 8)} ` };
    expect(await take([line, "", "  "])).toEqual(all(1));
    const [found] = (await give(runtime.tenant)).filter(({ emails }) => emails[0]?.address.startsWith(at));
    expect(found).toMatchObject({
      emails: [{ address: `${at}@example.com`, is_primary: true, is_verified: false }],
      username: `u${at.slice(0, 8)}`,
    });
  });

  test.each([
    ["invalid JSON", "{", "not JSON"],
    ["an array", "[]", "not a JSON object"],
    ["an unknown member", { emails: [newEmail()], role: "admin" }, "role: unknown member"],
    ["an empty user", {}, "no email address, username, passkey or identity to sign in with"],
    ["an invalid id", { id: "7", emails: [newEmail()] }, /^id: /],
    ["an invalid address", { emails: [{ address: "ada" }] }, "emails.0 is not an email address"],
    ["two primary addresses", { emails: [newEmail(), newEmail()] }, "more than one primary address"],
    ["an invalid username", { username: "ada lovelace" }, "this tenant does not allow the username"],
    [
      "an MD5 hash",
      { emails: [newEmail()], password_hash: "5f4dcc3b5aa765d61d8327deb882cf99" },
      /is of no scheme that this server verifies/,
    ],
    ["a password in the clear", { emails: [newEmail()], password_hash: "hunter2" }, /is of no scheme/],
    ["a secret that is not base 32", { emails: [newEmail()], totp: { secret: "0189" } }, /^totp.secret/],
    ["a short secret", { emails: [newEmail()], totp: { secret: "AAAA" } }, /^totp.secret/],
    ["a time that does not exist", { emails: [newEmail()], created_at: "0000-01-01T00:00:00Z" }, /year/],
    [
      "an expensive hash of argon2",
      {
        emails: [newEmail()],
        password_hash: `$argon2id$v=19$m=9999999,t=99,p=1$${"A".repeat(22)}$${"A".repeat(43)}`,
      },
      /^password_hash exceeds the cost that this server allows: m of argon2 is at most 262144$/,
    ],
    [
      "a hash of scrypt with little memory and much work",
      {
        emails: [newEmail()],
        password_hash: `$scrypt$ln=1,r=9999,p=200$${"A".repeat(22)}$${"A".repeat(43)}`,
      },
      /^password_hash exceeds the cost .* r \* p \* \(N \+ 4\) of scrypt is at most \d+$/,
    ],
    [
      "a hash with invalid parameters",
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
      "a passkey with an unsupported public key",
      { passkeys: [{ id: "AAAA", public_key: "AAAA" }] },
      "the public key of a passkey is not supported",
    ],
    [
      "too much metadata",
      { username: "ada", public_metadata: { x: "x".repeat(3_000) } },
      /^public_metadata: /,
    ],
    ["a text that cannot be stored", { username: "nul", name: "a\0b" }, "a value cannot be stored"],
    ["a picture with a javascript URL", { username: "ada", picture: "javascript:alert(1)" }, /^picture: /],
  ])("rejects %s and reports the line", async (_, line, reason) => {
    const tenant = await newTenant();
    const good = { emails: [newEmail()] };
    const outcome = await take([good, line, { emails: [newEmail()] }], tenant);
    expect(outcome).toEqual({
      ...all(2),
      refused: 1,
      refusals: [{ line: 2, reason: expect.stringMatching(reason) }],
    });
    expect(await count(tenant)).toBe(2);
  });

  test("rolls back a line that the database rejects", async () => {
    const tenant = await newTenant();
    const [first, second] = [await everything(), await everything()];
    await take([first], tenant);
    const clashes = {
      "a user with this id exists": { ...second, id: first.id },
      "an email address is in use, or listed twice": {
        ...second,
        emails: [second.emails[0], first.emails[1]],
      },
      "the username is in use": { ...second, username: first.username },
      "an identity is in use, or listed twice": { ...second, identities: first.identities },
    };
    for (const [reason, line] of Object.entries(clashes))
      expect(await take([line], tenant)).toMatchObject({ imported: 0, refusals: [{ line: 1, reason }] });
    expect(await count(tenant)).toBe(1);
    const audit = await runtime.database.read
      .select()
      .from(schema.emails)
      .where(eq(schema.emails.tenantId, tenant.id));
    expect(audit).toHaveLength(2);
    expect(await take([second], tenant)).toMatchObject({ imported: 1 });
  });

  test("reports no content of a rejected line", async () => {
    const { refusals } = await take([
      { emails: [{ address: "secret@" }], password_hash: "secret" },
      "secret",
    ]);
    expect(JSON.stringify(refusals)).not.toContain("secret");
  });

  test("A68 changes no other tenant, which may have the same users", async () => {
    const tenant = await newTenant();
    const before = await count(runtime.tenant);
    const [ada] = [await everything()];
    expect(await take([ada], tenant)).toMatchObject({ imported: 1 });
    expect(await count(runtime.tenant)).toBe(before);
    expect(await take([ada])).toMatchObject({ imported: 1 });
  });

  test("accepts hashes with the pepper of this server only", async () => {
    const peppered = runtime.configured({ STILE_PASSWORD_PEPPER: "a pepper for tests alone" });
    const own = await peppered.passwordHasher.hash("correct horse battery");
    const other = await runtime
      .configured({ STILE_PASSWORD_PEPPER: "another pepper for tests" })
      .passwordHasher.hash("correct horse battery");
    const outcome = await importRecords(peppered, peppered.tenant, [
      { emails: [newEmail()], password_hash: own },
      { emails: [newEmail()], password_hash: other },
    ]);
    expect(outcome).toMatchObject({ imported: 1, refusals: [{ line: 2 }] });
  });
});

describe("an export", () => {
  test("can be imported into another tenant with its passkeys", async () => {
    const passkeys = runtime.configured({ STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "always" });
    const authenticator = softwareAuthenticator();
    const { email } = await people().register(passkeys, { authenticator });
    const [exported] = (await give(runtime.tenant)).filter(({ emails }) => emails[0]?.address === email);
    expect(exported?.passkeys).toHaveLength(1);
    const tenant = await newTenant();
    expect(await take([exported], tenant)).toEqual(all(1));
    expect(await give(tenant)).toEqual([exported]);
  });

  test("leaves out hashes on request", async () => {
    const tenant = await newTenant();
    await take([await everything()], tenant);
    const [user] = await give(tenant, false);
    expect(user).not.toHaveProperty("password_hash");
    expect(JSON.stringify(user)).not.toContain("argon2");
  });

  test("reads more users than one batch", async () => {
    const tenant = await newTenant();
    const { write } = runtime.database;
    const rows = Array.from({ length: 450 }, () => ({ tenantId: tenant.id, id: randomUUID() }));
    await write.insert(users).values(rows);
    const exported = (await give(tenant)).map(({ id }) => id);
    expect(exported).toEqual(rows.map(({ id }) => id).toSorted());
  });
});
