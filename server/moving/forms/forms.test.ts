import { pbkdf2Sync, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import bcryptjs from "bcryptjs";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { exportAll, importRecords, importText } from "../../testing/moving.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { origin, password, people } from "../../testing/people.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { legacyUserHandle } from "../../webauthn/user-handle.ts";
import { idOf } from "../source-fields.ts";
import { parseFirebaseParameters } from "./firebase-parameters.ts";

const runtime = await runtimeForTests({
  STILE_USERNAME_ENABLED: "true",
  // They are for onboarding, which is not tested here.
  STILE_PASSKEY_ACQUIRE_ON_LOGIN: "never",
  STILE_USERNAME_ACQUIRE_ON_LOGIN: "false",
});

const { begin, signIn } = people();
const bcrypt = bcryptjs.hashSync(password, 4);
const newEmail = () => `${randomUUID()}@example.com`;

const importOne = async (record: unknown, options?: Parameters<typeof importRecords>[3]) => {
  const result = await importRecords(runtime, runtime.tenant, [record], options);
  expect(result).toMatchObject({ imported: 1, refusals: [] });
  return result.omitted;
};

async function exported(id: string) {
  const found = (await exportAll(runtime, runtime.tenant)).find((user) => user.id === id);
  if (!found) throw new Error("no such user");
  return found;
}

/** Signs in with the imported password, after which the hash is argon2id, and once more. */
async function signInTwice(id: string, email: string): Promise<void> {
  const { passwords } = schema;
  for (const scheme of [/^\$argon2id\$/, /^\$argon2id\$/]) {
    expect((await signIn(runtime, { identifier: email })).state.name).toBe("success");
    const [row] = await runtime.database.read
      .select({ hash: passwords.hash })
      .from(passwords)
      .where(and(eq(passwords.tenantId, runtime.tenant.id), eq(passwords.userId, id)));
    expect(row?.hash).toMatch(scheme);
  }
}

const timeZoneFree = "2021-05-06 07:08:09.123456+00";

describe("a user of Hanko", () => {
  const record = (email: string) => ({
    user_id: randomUUID(),
    emails: [{ address: email, is_primary: true, is_verified: true }],
    username: `u${randomUUID().slice(0, 8)}`,
    password: {
      password: bcrypt,
      created_at: "2021-01-01T00:00:00Z",
      updated_at: "2022-01-01T00:00:00.5Z",
    },
    created_at: "2020-01-02T03:04:05.678901Z",
    updated_at: "2023-01-02T03:04:05Z",
  });

  test("signs in with the password, whose hash is renewed", async () => {
    const email = newEmail();
    const user = record(email);
    expect(await importOne({ ...user, future_field: 1 })).toEqual({ future_field: 1 });
    expect(await exported(user.user_id)).toMatchObject({
      emails: [{ address: email, is_primary: true, is_verified: true }],
      username: user.username,
      password_hash: bcrypt,
      password_set_at: "2022-01-01T00:00:00.500Z",
      created_at: "2020-01-02T03:04:05.678Z",
      updated_at: "2023-01-02T03:04:05.000Z",
    });
    await signInTwice(user.user_id, email);
  });

  test("signs in with the code of the authenticator app", async () => {
    const email = newEmail();
    // 80 bits.
    const secret = "JBSWY3DPEHPK3PXP";
    await importOne({ ...record(email), otp_secret: { secret, created_at: "2021-01-01T00:00:00Z" } });
    const flow = await signIn(runtime, { identifier: email });
    expect(flow.state.name).toBe("login_otp");
    const otp_code = authenticatorApp(secret).code(Date.now());
    await flow.act("otp_code_validate", { otp_code });
    if (flow.state.name === "device_trust") await flow.act("skip");
    expect(flow.state.name).toBe("success");
  });

  test.each([
    ["another user handle, from the first state", Buffer.from("a user id of before"), false],
    ["another user handle, after the identifier", Buffer.from("a user id of before"), true],
    ["the id of the user as handle", null, false],
  ])("signs in with a passkey with %s", async (_, handle, identified) => {
    const email = newEmail();
    const user = record(email);
    const own = Buffer.from(user.user_id.replaceAll("-", ""), "hex");
    const authenticator = softwareAuthenticator();
    // Registered elsewhere: this server has never seen the ceremony.
    const { id } = authenticator.create(
      {
        rp: { id: "localhost", name: "Elsewhere" },
        user: { id: (handle ?? own).toString("base64url"), name: email, displayName: email },
        challenge: "AAAA",
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        authenticatorSelection: { residentKey: "required" },
      },
      { origin },
    );
    const [held] = authenticator.credentials;
    const credential = {
      id,
      name: "Phone",
      public_key: held?.key.cose.toString("base64url"),
      attestation_type: "none",
      aaguid: "00000000-0000-0000-0000-000000000000",
      sign_count: 0,
      transports: ["internal"],
      backup_eligible: true,
      backup_state: true,
      mfa_only: false,
      ...(handle ? { user_handle: handle.toString("base64url") } : {}),
    };
    expect(await importOne({ ...user, webauthn_credentials: [credential] })).toEqual({});
    expect((await exported(user.user_id)).passkeys).toMatchObject([
      { id, name: "Phone", user_handle: (handle ?? legacyUserHandle(user.user_id)).toString("base64url") },
    ]);

    const flow = await begin(runtime, "login");
    if (identified) {
      await flow.act("continue_with_login_identifier", { identifier: email });
      await flow.act("webauthn_generate_request_options");
    }
    const options = flow.state.payload.request_options;
    const assertion_response = authenticator.get(options, { origin });
    await flow.act("webauthn_verify_assertion_response", { assertion_response });
    expect(flow.state).toMatchObject({ name: "success", payload: { user: { user_id: user.user_id } } });
  });

  test("is read from a JSON array too", async () => {
    const users = [record(newEmail()), record(newEmail())];
    const text = JSON.stringify(users, null, 2);
    expect(await importText(runtime, runtime.tenant, text)).toMatchObject({ imported: 2, refused: 0 });
    expect(await importText(runtime, runtime.tenant, text)).toMatchObject({
      imported: 0,
      refusals: [
        { line: 2, reason: "a user with this id exists" },
        { line: expect.any(Number), reason: "a user with this id exists" },
      ],
    });
  });
});

describe("a user of Firebase", () => {
  const parameters = {
    base64_signer_key:
      "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
    base64_salt_separator: "Bw==",
    rounds: 8,
    mem_cost: 14,
  };
  function user(email: string) {
    return {
      localId: randomUUID().replaceAll("-", "").slice(0, 28),
      email,
      emailVerified: true,
      // Hash of `password` by the package firebase-scrypt 2.2.0.
      passwordHash:
        "RJkBVVJmq2D8z/P8tVAJsfbxFyFigzGZ/ZYbhXRpcO8eM8P7B9iMegRBywYXvJPgxpf783rPSVXOZ0CE5x+Q/g==",
      salt: "42xEC+ixf3L2lw==",
      displayName: "Ada Lovelace",
      photoUrl: "https://example.com/ada.png",
      createdAt: "1500000000000",
      lastSignedInAt: "1600000000000",
      phoneNumber: "+15555550100",
      disabled: false,
      customAttributes: '{"admin":true}',
      providerUserInfo: [
        { providerId: "google.com", rawId: `google ${email}`, email, displayName: "Ada" },
        { providerId: "twitter.com", rawId: "42" },
        { providerId: "password", rawId: email, email },
      ],
    };
  }

  test("signs in with the password, and what cannot be carried over is counted", async () => {
    const email = newEmail();
    const given = user(email);
    const text = JSON.stringify({ users: [given, user(newEmail())] });
    const result = await importText(runtime, runtime.tenant, text, { firebase: parameters });
    expect(result).toEqual({
      imported: 2,
      refused: 0,
      refusals: [],
      resumedAfter: 0,
      omitted: { "identity (twitter.com)": 2, lastSignedInAt: 2, phoneNumber: 2 },
    });
    const id = idOf("firebase", given.localId);
    expect(await exported(id)).toMatchObject({
      name: "Ada Lovelace",
      picture: "https://example.com/ada.png",
      emails: [{ address: email, is_verified: true }],
      public_metadata: { admin: true },
      private_metadata: { firebase_id: given.localId },
      identities: [{ provider: "google", subject: `google ${email}`, email }],
      created_at: "2017-07-14T02:40:00.000Z",
    });
    await signInTwice(id, email);
  });

  test("keeps no password without the hash parameters of the project", async () => {
    const given = {
      ...user(newEmail()),
      providerUserInfo: [],
      phoneNumber: "",
      lastSignedInAt: null,
    };
    expect(await importOne(given)).toEqual({
      "password hash (the hash parameters of the project are not given)": 1,
    });
  });

  test("is blocked if it was disabled", async () => {
    const email = newEmail();
    const given = user(email);
    await importOne({ ...given, disabled: true }, { firebase: parameters });
    expect((await exported(idOf("firebase", given.localId))).blocked_at).toBe("2017-07-14T02:40:00.000Z");
    expect((await signIn(runtime, { identifier: email })).state.name).not.toBe("success");
  });

  test("has hash parameters that are read as the console shows them", () => {
    const block = `hash_config {
      algorithm: SCRYPT,
      base64_signer_key: ${parameters.base64_signer_key},
      base64_salt_separator: Bw==,
      rounds: 8,
      mem_cost: 14,
    }`;
    expect(parseFirebaseParameters(block)).toEqual(parameters);
    expect(parseFirebaseParameters(JSON.stringify(parameters))).toEqual(parameters);
    expect(parseFirebaseParameters("rounds: 8")).toBeNull();
  });
});

describe("a user of Auth0", () => {
  const user = (email: string) => ({
    user_id: `auth0|${randomUUID().replaceAll("-", "").slice(0, 24)}`,
    email,
    email_verified: false,
    given_name: "Ada",
    user_metadata: { colour: "red" },
    app_metadata: { plan: "gold" },
    nickname: "ada",
    created_at: "2020-01-02T03:04:05.678Z",
    identities: [
      { provider: "auth0", user_id: "1", connection: "Users", isSocial: false },
      {
        provider: "google-oauth2",
        user_id: `1${Math.random()}`,
        connection: "google-oauth2",
        isSocial: true,
      },
      { provider: "oauth2", user_id: "acme-1", connection: "acme" },
    ],
  });

  test("signs in with the password, and has the providers that are named", async () => {
    const email = newEmail();
    const given = user(email);
    const record = { ...given, passwordHash: bcrypt };
    expect(await importOne(record, { providers: { oauth2: "custom_acme" } })).toEqual({ nickname: 1 });
    const id = idOf("auth0", given.user_id);
    expect(await exported(id)).toMatchObject({
      given_name: "Ada",
      emails: [{ address: email, is_verified: false }],
      unsafe_metadata: { colour: "red" },
      private_metadata: { plan: "gold", auth0_id: given.user_id },
      identities: [{ provider: "custom_acme" }, { provider: "google" }],
    });
    // The address is verified by a code at the first login.
    const flow = await signIn(runtime, { identifier: email });
    expect(["success", "passcode_confirmation"]).toContain(flow.state.name);
  });

  test.each([
    [
      "PBKDF2",
      {
        algorithm: "pbkdf2",
        hash: {
          value: `$pbkdf2-sha512$i=1000,l=64$c2FsdHNhbHQ$${pbkdf2Of(password)}`,
          encoding: "utf8",
        },
      },
    ],
    ["bcrypt", { algorithm: "bcrypt", hash: { value: bcrypt } }],
  ])("signs in with a custom hash of %s", async (_, custom_password_hash) => {
    const email = newEmail();
    const given = { ...user(email), email_verified: true, nickname: "", identities: [] };
    expect(await importOne({ ...given, custom_password_hash })).toEqual({});
    await signInTwice(idOf("auth0", given.user_id), email);
  });

  test("keeps no password of a scheme that is not verified here, and is blocked if it was", async () => {
    const given = { ...user(newEmail()), nickname: "", identities: [], blocked: true };
    const custom_password_hash = { algorithm: "md5", hash: { value: "5f4dcc3b5aa765d61d8327deb882cf99" } };
    expect(await importOne({ ...given, custom_password_hash })).toEqual({ "password hash (md5)": 1 });
    expect((await exported(idOf("auth0", given.user_id))).blocked_at).toBe(given.created_at);
  });
});

describe("users of Clerk", () => {
  const head =
    "id,first_name,last_name,username,primary_email_address,primary_phone_number,verified_email_addresses,unverified_email_addresses,totp_secret,password_digest,password_hasher";

  test("sign in with the password, and with the authenticator app", async () => {
    const [ada, grace] = [newEmail(), newEmail()];
    const more = newEmail();
    const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
    const rows = [
      head,
      `user_ada${ada},"Ada ""the first""",Love-\r\nlace,,${ada},,"${ada}|${more}",,,${bcrypt},bcrypt`,
      `user_grace${grace},Grace,,grace.hopper,${grace},+15555550100,${grace},,${secret},${bcrypt},bcrypt`,
      `user_md5${ada},,,,${newEmail()},,,,,5f4dcc3b5aa765d61d8327deb882cf99,md5`,
      "too,few",
    ];
    const text = `\uFEFF${rows.join("\r\n")}\r\n`.replace("Love-\r\nlace", '"Love-\r\nlace"');
    expect(await importText(runtime, runtime.tenant, text)).toEqual({
      imported: 3,
      refused: 1,
      resumedAfter: 0,
      refusals: [{ line: 6, reason: "has another number of values than there are columns" }],
      omitted: {
        "password hash (md5)": 1,
        primary_phone_number: 1,
        "username (not allowed by this tenant)": 1,
      },
    });
    const id = idOf("clerk", `user_ada${ada}`);
    expect(await exported(id)).toMatchObject({
      given_name: 'Ada "the first"',
      family_name: "Love-\r\nlace",
      emails: [
        { address: ada, is_primary: true, is_verified: true },
        { address: more, is_primary: false, is_verified: true },
      ],
      private_metadata: { clerk_id: `user_ada${ada}` },
    });
    await signInTwice(id, ada);
    const flow = await signIn(runtime, { identifier: grace });
    await flow.act("otp_code_validate", { otp_code: authenticatorApp(secret).code(Date.now()) });
    if (flow.state.name === "device_trust") await flow.act("skip");
    expect(flow.state.name).toBe("success");
  });
});

describe("users of Supabase", () => {
  const user = (email: string) => ({
    instance_id: "00000000-0000-0000-0000-000000000000",
    id: randomUUID(),
    aud: "authenticated",
    role: "authenticated",
    email,
    encrypted_password: bcrypt.replace("$2b$", "$2a$"),
    email_confirmed_at: timeZoneFree,
    raw_app_meta_data: { provider: "email", providers: ["email"] },
    raw_user_meta_data: { full_name: "Ada Lovelace" },
    is_super_admin: null,
    created_at: timeZoneFree,
    banned_until: null as string | null,
    last_sign_in_at: null,
    is_sso_user: false,
    is_anonymous: false,
  });

  test("sign in with the password, and have identities from a file of their own", async () => {
    const email = newEmail();
    const given = user(email);
    const identities = [
      { user_id: given.id, provider: "email", provider_id: given.id, identity_data: { email } },
      { user_id: given.id, provider: "google", provider_id: `g ${email}`, identity_data: { email } },
      { user_id: randomUUID(), provider: "google", provider_id: "another", identity_data: {} },
    ];
    const lines = identities.map((identity) => JSON.stringify(identity)).join("\n");
    expect(await importOne(given, { identities: Readable.from([Buffer.from(lines)]) })).toEqual({});
    expect(await exported(given.id)).toMatchObject({
      name: "Ada Lovelace",
      emails: [{ address: email, is_verified: true, verified_at: "2021-05-06T07:08:09.123Z" }],
      public_metadata: { provider: "email" },
      identities: [{ provider: "google", subject: `g ${email}`, email }],
      created_at: "2021-05-06T07:08:09.123Z",
    });
    await signInTwice(given.id, email);
  });

  test("are read from CSV, as psql writes it", async () => {
    const given = user(newEmail());
    const columns = [
      "id",
      "email",
      "encrypted_password",
      "raw_user_meta_data",
      "is_anonymous",
      "banned_until",
    ];
    const values = [
      given.id,
      given.email,
      given.encrypted_password,
      '"{""full_name"": ""Ada, Countess""}"',
      "f",
      "2100-01-01 00:00:00+00",
    ];
    const text = `${columns.join(",")}\n${values.join(",")}\n`;
    expect(await importText(runtime, runtime.tenant, text)).toMatchObject({
      imported: 1,
      omitted: { "banned_until (blocked without an end)": 1 },
    });
    expect(await exported(given.id)).toMatchObject({
      name: "Ada, Countess",
      blocked_at: expect.any(String),
      emails: [{ is_verified: false }],
    });
  });

  test("are not blocked after the end of a ban, and not imported if they are deleted or anonymous", async () => {
    const given = user(newEmail());
    await importOne({ ...given, banned_until: "2020-01-01 00:00:00+00" });
    expect((await exported(given.id)).blocked_at).toBeNull();
    const others = [
      { ...user(newEmail()), deleted_at: timeZoneFree },
      { ...user(newEmail()), is_anonymous: true },
    ];
    expect(await importRecords(runtime, runtime.tenant, others)).toMatchObject({ imported: 0, refused: 2 });
  });
});

function pbkdf2Of(text: string): string {
  return pbkdf2Sync(text, "saltsalt", 1_000, 64, "sha512").toString("base64").replace(/=+$/, "");
}
