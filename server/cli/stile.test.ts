import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { startEmbedded } from "../database/embedded.ts";
import { runningPostmaster } from "../database/postmaster.ts";
import { createVault } from "../keys/vault.ts";
import { verifyApiKey } from "../tenants/api-keys.ts";
import { insertAnyRow } from "../testing/any-row.ts";
import { credentialRow } from "../testing/credential-row.ts";
import { folderForTests, openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { type ProgramResult, run } from "../testing/program.ts";
import { runStile } from "../testing/stile.ts";

const root = join(import.meta.dirname, "../..");
const [old, fresh] = ["the key of last year", "the key of this year"];

const postgres = await openForTests(testDatabase());
const folder = folderForTests("cli");
// PostgreSQL may run under another account, which must be able to enter the folder.
chmodSync(folder, 0o755);

interface Call {
  input?: string;
  env?: Record<string, string>;
  /** Whether to run the program in a separate process, as an operator runs it. */
  program?: boolean;
  /** The folder of `stile.config.json`. */
  cwd?: string;
}

/** Runs the CLI on the test's database. */
function stile(
  words: string[],
  { input = "", env = {}, program = false, cwd = root }: Call = {},
): Promise<ProgramResult> {
  const inherited = Object.fromEntries(
    ["PATH", "HOME", "TMPDIR"].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const given = { DATABASE_URL: postgres.url, SECRET_KEYS: old, ...env };
  const environment = Object.assign({ NODE_ENV: "development" as const }, inherited, given);
  const start = { cwd, env: environment, input };
  return program ? run(join(root, "bin", "stile.js"), words, start) : runStile(words, start);
}

/** Runs the CLI and returns its output. Fails if it reports an error. */
async function printed(words: string[], options?: Call): Promise<string> {
  const ended = await stile(words, options);
  expect(ended).toMatchObject({ code: 0, err: "" });
  return ended.out;
}

const aLine = expect.stringMatching(/^stile: [^\n]+\n$/);

test("stile passkey-users delete deletes a user of one tenant by the application's id", async () => {
  const { passkeyUsers } = schema;
  const tenantId = "00000000-0000-4000-8000-000000000001";
  const user = { tenantId, userId: "ada/1", name: "ada", displayName: "Ada" };
  await postgres.database.write.insert(passkeyUsers).values({ ...user, id: randomUUID() });
  expect(await stile(["passkey-users", "delete", "grace"])).toEqual({
    code: 1,
    out: "",
    err: "stile: there is no user grace\n",
  });
  expect(await printed(["passkey-users", "delete", "ada/1", "--tenant", tenantId])).toBe("");
  expect(await postgres.database.read.$count(passkeyUsers)).toBe(0);
});

describe("stile authenticator-users delete", () => {
  const { authenticatorDevices, authenticatorRequests, trustedDevices, users } = schema;
  const tenantId = "00000000-0000-4000-8000-000000000001";
  const asSecondFactor = { STILE_MFA_AUTHENTICATOR_ENABLED: "true" };

  async function insertDevice(tenant: string, userId: string): Promise<void> {
    await postgres.database.write.insert(authenticatorDevices).values({
      tenantId: tenant,
      id: randomUUID(),
      userId,
      aaid: "006F#0001",
      keyId: randomBytes(32),
      publicKey: Buffer.alloc(65),
      keyFormat: 0x0100,
      algorithm: 1,
      signCounter: 0,
      regCounter: 0,
      authenticatorVersion: 1,
      attestation: "surrogate",
      keyName: "Phone",
      isSecondFactorOnly: false,
      lastUsedAt: new Date(),
    });
    await postgres.database.write.insert(authenticatorRequests).values({
      tenantId: tenant,
      id: randomBytes(22).toString("hex"),
      operation: "AUTH",
      status: "PENDING",
      userId,
      username: "ada",
      message: "[]",
      deviceTokenHash: randomBytes(32),
      validUntil: new Date(),
    });
  }

  async function usersLeft(): Promise<string[]> {
    const { read } = postgres.database;
    const rows = [
      ...(await read.select({ userId: authenticatorDevices.userId }).from(authenticatorDevices)),
      ...(await read.select({ userId: authenticatorRequests.userId }).from(authenticatorRequests)),
    ];
    return rows.map(({ userId }) => userId);
  }

  test("deletes devices and requests of one tenant's user by the application's id", async () => {
    const other = (await printed(["tenants", "create", "--name", "Other"])).trim();
    for (const tenant of [tenantId, other]) await insertDevice(tenant, "ada/1");
    await insertDevice(tenantId, "grace");

    expect(await stile(["authenticator-users", "delete", "alan"])).toEqual({
      code: 1,
      out: "",
      err: "stile: there is no user alan\n",
    });
    expect(await printed(["authenticator-users", "delete", "ada/1"])).toBe("");
    expect((await usersLeft()).sort()).toEqual(["ada/1", "ada/1", "grace", "grace"]);
    expect(await printed(["authenticator-users", "delete", "ada/1", "--tenant", other])).toBe("");
    expect((await usersLeft()).sort()).toEqual(["grace", "grace"]);
    expect((await stile(["authenticator-users", "delete", "ada/1"])).code).toBe(1);
    await printed(["authenticator-users", "delete", "grace"]);
    expect(await usersLeft()).toEqual([]);
    await printed(["tenants", "delete", other]);
  });

  test("ends the trusted devices of an account whose second factor is deleted", async () => {
    const id = randomUUID();
    await postgres.database.write.insert(users).values({ tenantId, id });
    const trust = {
      tenantId,
      userId: id,
      tokenHash: randomBytes(32),
      expiresAt: new Date(Date.now() + 60_000),
    };
    await postgres.database.write.insert(trustedDevices).values({ ...trust, id: randomUUID() });
    await insertDevice(tenantId, id);
    await printed(["authenticator-users", "delete", id], { env: asSecondFactor });
    expect(await postgres.database.read.$count(trustedDevices)).toBe(0);
    expect(await postgres.database.read.$count(users, eq(users.id, id))).toBe(1);
    await postgres.database.write.delete(users).where(eq(users.id, id));
  });
});

describe("stile", () => {
  test("prints help, and exits with 2 for invalid arguments", async () => {
    expect(await printed(["--help"], { program: true })).toContain("tenants create");
    expect(await printed(["users", "import", "--help"])).toContain("argon2id");
    expect(await stile(["tenants", "make"], { program: true })).toEqual({ code: 2, out: "", err: aLine });
    expect(await stile(["keys", "create", "--interface", "everything"])).toEqual({
      code: 2,
      out: "",
      err: aLine,
    });
  });

  test("config check prints OK, or the error of a start", async () => {
    expect(await printed(["config", "check"], { program: true })).toBe("OK\n");
    expect(await stile(["config", "check"], { env: { STILE_COLOUR: "red" }, program: true })).toEqual({
      code: 1,
      out: "",
      err: "stile: STILE_COLOUR (environment variable) is not a setting\n",
    });
  });

  test("config check warns of a redirect URL that can never match", async () => {
    const env = { STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://app.example/#done" };
    expect(await stile(["config", "check"], { env, program: true })).toEqual({
      code: 0,
      out: "OK\n",
      err: "stile: warning: STILE_HOSTED_ALLOWED_REDIRECT_URLS has the entry https://app.example/#done, which no address can match\n",
    });
  });

  test("config check --against-database warns of users whom the configuration locks out", async () => {
    const userId = randomUUID();
    const tenantId = "00000000-0000-4000-8000-000000000001";
    await postgres.database.write.insert(schema.users).values({ tenantId, id: userId });
    const { code, out, err } = await stile(["config", "check", "--against-database"]);
    expect({ code, out }).toEqual({ code: 0, out: "OK\n" });
    expect(err).toMatch(
      /^stile: warning: \d+ of \d+ users of tenant 00000000-0000-4000-8000-000000000001 \(.+\) cannot sign in: /m,
    );
    expect(err).toContain("The account has no passkey.");
    await postgres.database.write.delete(schema.users).where(eq(schema.users.id, userId));
    expect((await stile(["config", "check", "--against-database"])).err).not.toContain(userId);
  });

  test("config check --former tells what a change does to users and flows, and --export lists who is locked out", async () => {
    const tenantId = "00000000-0000-4000-8000-000000000001";
    const [withPasskey, without, flowId] = [randomUUID(), randomUUID(), randomUUID()];
    const { write } = postgres.database;
    for (const id of [withPasskey, without]) await write.insert(schema.users).values({ tenantId, id });
    await write
      .insert(schema.webauthnCredentials)
      .values(credentialRow({ tenantId, userId: withPasskey, id: withPasskey }));
    await insertAnyRow(postgres.database, "flows", {
      tenant_id: `'${tenantId}'`,
      id: `'${flowId}'`,
      type: "'login'",
      state: "'login_password'",
      expires_at: "now() + interval '1 hour'",
    });
    const cwd = folderForTests("former");
    const check = (former: object, file: string, call: Call = {}) =>
      stile(["config", "check", "--against-database", "--former", "-", "--export", join(cwd, file)], {
        input: JSON.stringify(former),
        ...call,
      });
    const changed = await check({ passkey: { enabled: true } }, "changed", {
      env: { STILE_PASSKEY_ENABLED: "false" },
    });
    // The environment counts for both, so that nothing changes.
    expect(changed.err).not.toContain("no longer can");
    expect(readFileSync(join(cwd, "changed"), "utf8")).toBe("");
    const config = { passkey: { enabled: false }, password: { enabled: false } };
    writeFileSync(join(cwd, "stile.config.json"), JSON.stringify(config));
    const { code, out, err } = await check({}, "locked-out", { cwd });
    expect({ code, out }).toEqual({ code: 0, out: "OK\n" });
    expect(err).toMatch(
      /: 1 of \d+ users of tenant \S+ \(.+\) could sign in and no longer can: .*`passkey.enabled` is off/,
    );
    expect(err).toMatch(/ cannot sign in: /);
    expect(err).toMatch(
      /: 1 flows under way of .+ of the type login in the state login_password, lose `password_login`/,
    );
    expect(readFileSync(join(cwd, "locked-out"), "utf8")).toBe(
      `${JSON.stringify({ tenant_id: tenantId, user_id: withPasskey })}\n`,
    );
    const again = await check({}, "changed");
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("cannot be created: EEXIST") });
    expect((await check({ colour: "red" }, "other")).err).toContain("--former -: colour");
    expect(await stile(["config", "check", "--former", "-"])).toMatchObject({ code: 2 });
    await write.delete(schema.flows).where(eq(schema.flows.id, flowId));
    for (const id of [withPasskey, without]) await write.delete(schema.users).where(eq(schema.users.id, id));
  });

  test("flow graph prints a diagram or JSON", async () => {
    expect(await printed(["flow", "graph", "registration"])).toMatch(
      /^stateDiagram-v2\n {2}\[\*\] --> preflight\n/,
    );
    const graph = JSON.parse(await printed(["flow", "graph", "--json"]));
    expect(Object.keys(graph.flows)).toEqual([
      "login",
      "registration",
      "profile",
      "token_exchange",
      "consent",
    ]);
    expect((await stile(["flow", "graph", "logout"])).code).toBe(2);
  });

  test("creates, lists, updates and deletes tenants", async () => {
    const file = join(folder, "acme.json");
    writeFileSync(
      file,
      JSON.stringify({
        password: { min_length: 20 },
        third_party: { providers: { google: { client_id: "acme", secret: "hush-google" } } },
      }),
    );
    const id = (await printed(["tenants", "create", "--name", "Acme", "--config", file])).trim();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const chosen = randomUUID();
    const host = `${chosen}.example`;
    const made = await printed([
      "tenants",
      "create",
      "--name",
      "Globex",
      "--id",
      chosen,
      "--host",
      host,
      "--json",
    ]);
    expect(JSON.parse(made)).toEqual({ id: chosen, name: "Globex", address: `http://${host}:3000` });

    const listed = JSON.parse(await printed(["tenants", "list", "--json"]));
    expect(listed).toMatchObject([
      { address: "http://localhost:3000", default: true },
      { id, name: "Acme", address: `http://localhost:3000/t/${id}`, default: false },
      { id: chosen, name: "Globex" },
    ]);
    expect((await printed(["tenants", "list"])).split("\n")).toHaveLength(5);
    const [row] = await postgres.database.read.select().from(schema.tenants).where(eq(schema.tenants.id, id));
    expect(JSON.stringify(row)).not.toContain("hush-google");
    expect(row?.sealedConfig).toBeInstanceOf(Buffer);

    await printed(["tenants", "update", id, "--name", "Acme & Sons"]);
    expect(await printed(["tenants", "list"])).toContain("Acme & Sons");
    await printed(["tenants", "delete", chosen]);
    expect(await stile(["tenants", "delete", chosen])).toEqual({ code: 1, out: "", err: aLine });
    const refused = await stile(["tenants", "create", "--name", "x", "--config", "-"], {
      input: '{"port": 1}',
    });
    expect(refused).toEqual({
      code: 1,
      out: "",
      err: "stile: --config -: port is a setting of the server: a tenant cannot have its own\n",
    });
    expect((await stile(["tenants", "create", "--name", "x", "--config", "/no/such"])).err).toBe(
      "stile: /no/such cannot be read: ENOENT\n",
    );
  });

  test("keys create prints a key once, keys list omits it, and keys delete revokes it", async () => {
    const out = await printed(["keys", "create", "--interface", "passkeys", "--name", "the shop"]);
    expect(out).toMatch(/^stile_[A-Za-z0-9_-]{43}\n$/);
    const key = out.trim();
    const runtime = {
      database: postgres.database,
      platform: { randomBytes: Buffer.alloc, uuid: randomUUID, clockShift: () => 0 },
    };
    const verdict = await verifyApiKey(runtime, { interface: "passkeys" }, key);
    const found = verdict.ok ? verdict.key : null;
    expect(found).toMatchObject({ name: "the shop", tenantId: "00000000-0000-4000-8000-000000000001" });
    const listed = await printed(["keys", "list", "--json"]);
    expect(listed).not.toContain(key);
    expect(JSON.parse(listed)).toMatchObject([{ id: found?.id, interface: "passkeys", name: "the shop" }]);
    expect(await printed(["keys", "list"])).toContain("the shop");
    await printed(["keys", "delete", found?.id ?? ""]);
    expect(await verifyApiKey(runtime, { interface: "passkeys" }, key)).toMatchObject({ ok: false });
    expect(await stile(["keys", "delete", found?.id ?? ""])).toEqual({ code: 1, out: "", err: aLine });
    expect((await stile(["keys", "create", "--interface", "admin", "--tenant", randomUUID()])).code).toBe(1);
  });

  test("users export prints a line for each user, and users import reads these lines", async () => {
    const tenant = (await printed(["tenants", "create", "--name", "Old"])).trim();
    const other = (await printed(["tenants", "create", "--name", "New"])).trim();
    const lines = [
      { emails: [{ address: "ada@example.com", is_verified: true }], created_at: "2020-01-02T03:04:05.000Z" },
      { emails: [{ address: "ada@example.com" }] },
      { emails: [{ address: "grace@example.com" }] },
    ].map((line) => JSON.stringify(line));
    const file = join(folder, "users.jsonl");
    writeFileSync(file, `${lines.join("\n")}\n`);
    expect(await stile(["users", "import", file, "--tenant", tenant])).toEqual({
      code: 1,
      out: "2 imported (stile)\n",
      err: "stile: line 2: an email address is in use, or listed twice\nstile: 1 refused\n",
    });
    const { out: exported, err } = await stile(["users", "export", "--tenant", tenant]);
    expect(err).toMatch(/^stile: the output contains secrets/);
    expect(exported.trim().split("\n")).toHaveLength(2);
    expect(
      JSON.parse(
        await printed(["users", "import", "--tenant", other, "--json"], { input: exported, program: true }),
      ),
    ).toEqual({
      form: "stile",
      imported: 2,
      refused: 0,
      omitted: {},
      resumedAfter: 0,
      refusals: [],
    });
    const secret = join(folder, "secret.jsonl");
    expect(
      await stile(["users", "export", "--tenant", other, "--output", secret], { program: true }),
    ).toMatchObject({ code: 0, out: "" });
    expect(readFileSync(secret, "utf8")).toBe(exported);
    expect(statSync(secret).mode & 0o777).toBe(0o600);
    expect(await stile(["users", "export", "--output", secret])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/cannot be created: EEXIST\n$/),
    });
    expect(await printed(["users", "export", "--tenant", other, "--without-secrets"])).not.toContain(
      "password_hash",
    );
    expect(await printed(["users", "list", "--tenant", other])).toContain("ada@example.com");
    expect(await printed(["users", "list"])).toBe("");
    expect((await stile(["tenants", "delete", other])).err).toContain("2 users");
    await printed(["tenants", "delete", other, "--with-users"]);
  });

  test("secrets reseal seals values with the first key, and names a missing key", async () => {
    const settings = JSON.stringify({ third_party: { providers: { github: { secret: "hush" } } } });
    const id = (
      await printed(["tenants", "create", "--name", "Sealed", "--config", "-"], { input: settings })
    ).trim();
    const out = await printed(["secrets", "reseal", "--json"], { env: { SECRET_KEYS: `${fresh},${old}` } });
    expect(JSON.parse(out)).toContainEqual({
      table: "tenants",
      column: "sealed_config",
      moved: 2,
      unknown: [],
      broken: 0,
    });
    const again = await printed(["secrets", "reseal"], { env: { SECRET_KEYS: fresh } });
    expect(again).toContain("tenants.sealed_config: 0 moved\n");
    const [row] = await postgres.database.read.select().from(schema.tenants).where(eq(schema.tenants.id, id));
    const opened = createVault([fresh]).unseal(row?.sealedConfig ?? Buffer.of(), `tenants/${id}/config`);
    expect(opened.toString()).toContain("hush");
    expect(await stile(["secrets", "reseal"], { env: { SECRET_KEYS: old } })).toMatchObject({
      code: 1,
      err: "stile: some values were not changed: SECRET_KEYS lacks the key that sealed them ".concat(
        `(${createVault([fresh]).keyIds[0]})\n`,
      ),
    });
  });

  test("A133 secrets status counts the values under each key, and names a key that is not configured", async () => {
    const [one, other] = ["a key before the roll", "a key after the roll"];
    const [idOfOne, idOfOther] = createVault([one, other]).keyIds;
    const settings = JSON.stringify({ third_party: { providers: { github: { secret: "hush" } } } });
    const make = ["tenants", "create", "--name", "Counted", "--config", "-"];
    for (const table of ["tenants", "settings_history"])
      await postgres.database.write.execute(sql`update ${sql.identifier(table)} set sealed_config = null`);
    for (const first of [one, one, other])
      await printed(make, { input: settings, env: { SECRET_KEYS: first } });

    const both = await printed(["secrets", "status", "--json"], { env: { SECRET_KEYS: `${other},${one}` } });
    expect(JSON.parse(both)).toEqual({
      keys: [idOfOther, idOfOne],
      values: [
        { holds: "former settings of a tenant", after: "reseal", key: idOfOther, place: 1, count: 1 },
        { holds: "former settings of a tenant", after: "reseal", key: idOfOne, place: 2, count: 2 },
        { holds: "the settings of a tenant", after: "reseal", key: idOfOther, place: 1, count: 1 },
        { holds: "the settings of a tenant", after: "reseal", key: idOfOne, place: 2, count: 2 },
      ],
    });
    const behind = await stile(["secrets", "status"], { env: { SECRET_KEYS: one } });
    expect(behind).toMatchObject({
      code: 1,
      err: `stile: SECRET_KEYS lacks keys that stored values are under (${idOfOther})\n`,
    });
    expect(behind.out).toMatch(new RegExp(`the settings of a tenant +1 \\(${idOfOne}\\) +2\n`));
    expect(behind.out).toMatch(new RegExp(`the settings of a tenant +unknown \\(${idOfOther}\\) +1 `));
    await printed(["secrets", "reseal"], { env: { SECRET_KEYS: `${one},${other}` } });
    const after = await printed(["secrets", "status"], { env: { SECRET_KEYS: one } });
    expect(after).toMatch(new RegExp(`the settings of a tenant +1 \\(${idOfOne}\\) +3\n`));
  });

  test("migrate prepares an empty database, and can run again", async () => {
    const name = `empty_${randomUUID().replaceAll("-", "")}`;
    await withClient(
      postgres.url.replace(/[^/]+$/, "postgres").replace(/\/\/[^@]+@/, "//postgres:test@"),
      (client) => client.query(`create database ${name} owner stile`),
    );
    const env = { DATABASE_URL: postgres.url.replace(/[^/]+$/, name) };
    expect(await printed(["migrate"], { env, program: true })).toBe("OK\n");
    expect(await printed(["migrate"], { env })).toBe("OK\n");
    expect(JSON.parse(await printed(["tenants", "list", "--json"], { env }))).toHaveLength(1);
  });

  test("prints one line and exits with 1 for an unreachable database", async () => {
    const ended = await stile(["tenants", "list"], { env: { DATABASE_URL: "postgres://127.0.0.1:1/none" } });
    expect(ended).toEqual({ code: 1, out: "", err: aLine });
  });

  test("runs the embedded database while it is needed, or shares that of a running server", async () => {
    const dataDir = join(folder, "data");
    const env = { DATABASE_URL: "", DATA_DIR: dataDir, SECRET_KEYS: "" };
    const id = (await printed(["tenants", "create", "--name", "Acme"], { env, program: true })).trim();
    expect(runningPostmaster(join(dataDir, "postgres"))).toBeUndefined();

    const embedded = await startEmbedded(dataDir, 20, pino({ level: "silent" }));
    try {
      expect(await printed(["tenants", "list"], { env, program: true })).toContain(id);
      await withClient(embedded.url, (client) => client.query("select 1"));
      expect(existsSync(join(dataDir, "postgres", "postmaster.pid"))).toBe(true);
    } finally {
      await embedded.stop();
    }
  });
});
