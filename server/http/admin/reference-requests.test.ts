import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress, newName } from "../../testing/people.ts";

/**
 * The requests of published administration clients, and the shapes that they read. Nothing here is derived from our
 * schemas.
 */

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);

const uuid = expect.stringMatching(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const times = { created_at: time, updated_at: time };
const error = (code: number) => ({ code, message: expect.any(String) });

const email = (address: string, { verified = true, primary = true } = {}) => ({
  id: uuid,
  address,
  is_verified: verified,
  is_primary: primary,
  ...times,
});
const username = (name: string) => ({ id: uuid, username: name, ...times });
const passwordOf = (id: string) => ({ id, tenant_id: runtime.tenant.id, ...times });
const credential = {
  id: expect.any(String),
  public_key: expect.any(String),
  attestation_type: expect.any(String),
  aaguid: expect.any(String),
  created_at: time,
  transports: expect.any(Array),
  backup_eligible: expect.any(Boolean),
  backup_state: expect.any(Boolean),
  mfa_only: false,
};
const session = (userId: string) => ({
  id: uuid,
  user_id: userId,
  user_agent: null,
  ip_address: null,
  ...times,
  expires_at: time,
  last_used: time,
});

/** Performs a request and compares status and body; returns the body. */
async function expectAnswer(
  [method, path, body]: [string, string, unknown?],
  status: number,
  shape: unknown = undefined,
) {
  const answer = await call(method, path, body);
  expect([method, path, answer.status, answer.body]).toEqual([method, path, status, shape]);
  return answer.body;
}

async function newUser() {
  const address = newAddress();
  const emails = [{ address, is_primary: true, is_verified: true }];
  const user = await expectAnswer(["POST", "/users", { emails }], 200, {
    id: uuid,
    emails: [email(address)],
    ...times,
  });
  return { id: user.id as string, path: `/users/${user.id}`, address, emailId: user.emails[0].id as string };
}

describe("users", () => {
  test("are created with the given id, time, emails and username", async () => {
    const id = randomUUID();
    const [first, second, name] = [newAddress(), newAddress(), newName()];
    const created = {
      id,
      created_at: "2020-02-03T04:05:06Z",
      username: name,
      emails: [
        { address: first, is_primary: false, is_verified: false },
        { address: second, is_primary: true, is_verified: true },
      ],
    };
    const shape = {
      id,
      emails: [email(second), email(first, { verified: false, primary: false })],
      username: username(name),
      created_at: "2020-02-03T04:05:06.000Z",
      updated_at: time,
    };
    await expectAnswer(["POST", "/users", created], 200, shape);
    await expectAnswer(["GET", `/users/${id}`], 200, shape);
    await expectAnswer(["POST", "/users", created], 409, error(409));
    await expectAnswer(["POST", "/users", { ...created, id: randomUUID() }], 409, error(409));
    await expectAnswer(["POST", "/users", { username: name }], 409, error(409));
  });

  test.each([
    ["nothing", {}],
    ["no emails", { emails: [] }],
    ["no primary email", { emails: [{ address: newAddress(), is_primary: false, is_verified: true }] }],
    [
      "two primary emails",
      { emails: [newAddress(), newAddress()].map((address) => ({ address, is_primary: true })) },
    ],
    [
      "one email twice",
      {
        emails: [
          { address: "ada@example.com", is_primary: true },
          { address: "ADA@example.com ", is_primary: false },
        ],
      },
    ],
    ["what is no email", { emails: [{ address: "ada", is_primary: true }] }],
    ["what is no username", { username: "a b" }],
    ["what is no id", { id: "1", username: newName() }],
    ["a time to come", { username: newName(), created_at: "2999-01-01T00:00:00Z" }],
    [
      "more emails than a user may have",
      {
        emails: Array.from({ length: 6 }, (_, index) => ({ address: newAddress(), is_primary: index === 0 })),
      },
    ],
  ])("are not created with %s", async (_, body) => {
    await expectAnswer(["POST", "/users", body], 400, error(400));
  });

  test("are changed field by field: a text sets, null clears, what is absent stays", async () => {
    const { path, id, address } = await newUser();
    const name = newName();
    const shape = { id, emails: [email(address)], ...times };
    const picture = "https://example.com/ada.png";
    const all = { username: name, name: "Ada Lovelace", given_name: "Ada", family_name: "Lovelace", picture };
    await expectAnswer(["PATCH", path, all], 200, { ...shape, ...all, username: username(name) });
    await expectAnswer(["PATCH", path, { name: null, picture: null }], 200, {
      ...shape,
      given_name: "Ada",
      family_name: "Lovelace",
      username: username(name),
    });
    const cleared = { username: null, given_name: null, family_name: null };
    await expectAnswer(["PATCH", path, cleared], 200, shape);
    const other = newName();
    await expectAnswer(["POST", "/users", { username: other }], 200, {
      id: uuid,
      username: username(other),
      ...times,
    });
    await expectAnswer(["PATCH", path, { username: other }], 409, error(409));
    for (const wrong of [
      { name: "" },
      { username: "" },
      { picture: "" },
      { picture: "javascript:alert(1)" },
      { picture: `https://example.com/${"a".repeat(2048)}` },
      { name: "a\nb" },
    ])
      await expectAnswer(["PATCH", path, wrong], 400, error(400));
  });

  test("are deleted once, with their sessions", async () => {
    const { path, id } = await newUser();
    await expectAnswer(["POST", "/sessions", { user_id: id }], 200, { session_token: expect.any(String) });
    await expectAnswer(["DELETE", path], 204);
    await expectAnswer(["GET", path], 404, error(404));
    await expectAnswer(["DELETE", path], 404, error(404));
    await expectAnswer(["POST", "/sessions", { user_id: id }], 404, error(404));
  });
});

describe("emails", () => {
  test("are added, made the primary one, and removed", async () => {
    const { path, emailId, address } = await newUser();
    const second = newAddress();
    const added = await expectAnswer(
      ["POST", `${path}/emails`, { address: second, is_primary: true, is_verified: false }],
      201,
      email(second, { verified: false, primary: false }),
    );
    await expectAnswer(["GET", `${path}/emails`], 200, [
      email(address),
      email(second, { verified: false, primary: false }),
    ]);
    await expectAnswer(["GET", `${path}/emails/${added.id}`], 200, added);
    await expectAnswer(["DELETE", `${path}/emails/${emailId}`], 409, error(409));
    await expectAnswer(["POST", `${path}/emails/${added.id}/set_primary`], 204);
    await expectAnswer(["POST", `${path}/emails/${added.id}/set_primary`], 204);
    await expectAnswer(["DELETE", `${path}/emails/${emailId}`], 204);
    await expectAnswer(["DELETE", `${path}/emails/${emailId}`], 404, error(404));
    await expectAnswer(["POST", `${path}/emails`, { address: second }], 400, error(400));
    await expectAnswer(["POST", `${path}/emails`, { address: "x" }], 400, error(400));
    for (let more = 0; more < 4; more++)
      expect((await call("POST", `${path}/emails`, { address: newAddress() })).status).toBe(201);
    await expectAnswer(["POST", `${path}/emails`, { address: newAddress() }], 409, error(409));
  });

  test("of a user without any begin with the primary one", async () => {
    const { body } = await call("POST", "/users", { username: newName() });
    const address = newAddress();
    await expectAnswer(
      ["POST", `/users/${body.id}/emails`, { address, is_verified: true }],
      201,
      email(address),
    );
  });
});

test("a username is set, replaced and removed", async () => {
  const { path } = await newUser();
  const [one, two] = [newName(), newName()];
  await expectAnswer(["GET", `${path}/username`], 404, error(404));
  await expectAnswer(["PUT", `${path}/username`, { username: one }], 200, username(one));
  await expectAnswer(["PUT", `${path}/username`, { username: two }], 200, username(two));
  await expectAnswer(["GET", `${path}/username`], 200, username(two));
  await expectAnswer(["DELETE", `${path}/username`], 204);
  await expectAnswer(["DELETE", `${path}/username`], 204);
});

test("metadata is patched by kind, and 204 while there is none", async () => {
  const { path } = await newUser();
  const metadata = `${path}/metadata`;
  await expectAnswer(["GET", metadata], 204);
  const patch = { public_metadata: { plan: "pro", seats: { used: 1, free: 2 } }, private_metadata: { n: 1 } };
  await expectAnswer(["PATCH", metadata, patch], 200, patch);
  const more = { public_metadata: { seats: { used: null, free: 3 } }, unsafe_metadata: { theme: "dark" } };
  const merged = {
    public_metadata: { plan: "pro", seats: { free: 3 } },
    private_metadata: { n: 1 },
    unsafe_metadata: { theme: "dark" },
  };
  await expectAnswer(["PATCH", metadata, more], 200, merged);
  await expectAnswer(["PATCH", metadata, { public_metadata: {} }], 200, merged);
  await expectAnswer(["PATCH", metadata, { unsafe_metadata: null }], 200, {
    public_metadata: merged.public_metadata,
    private_metadata: merged.private_metadata,
  });
  await expectAnswer(["PATCH", metadata, { public_metadata: { a: "x".repeat(3000) } }], 400, error(400));
  await expectAnswer(["PATCH", metadata, { public_metadata: [] }], 400, error(400));
  await expectAnswer(["PATCH", metadata, { metadata: {} }], 400, error(400));
  await expectAnswer(["PATCH", metadata, "null"], 204);
  await expectAnswer(["GET", metadata], 204);
});

test("credentials are listed, renamed and removed", async () => {
  const owner = await accountOwner(runtime, { passkeys: 1, securityKeys: 1 });
  const path = `/users/${owner.userId}/webauthn_credentials`;
  const [passkey = "", key = ""] = [...owner.passkeys, ...owner.securityKeys];
  const listed = await call("GET", path);
  expect(listed.body).toEqual(
    expect.arrayContaining([credential, { ...credential, id: key, mfa_only: true }]),
  );
  await expectAnswer(["GET", `${path}/${passkey}`], 200, { ...credential, id: passkey });
  await expectAnswer(["PATCH", `${path}/${passkey}`, { name: "Laptop" }], 200, {
    ...credential,
    id: passkey,
    name: "Laptop",
  });
  await expectAnswer(["DELETE", `${path}/${passkey}`], 204);
  await expectAnswer(["DELETE", `${path}/${key}`], 204);
  await expectAnswer(["DELETE", `${path}/${key}`], 404, error(404));
  await expectAnswer(["GET", `${path}/${key}`], 404, error(404));
  await expectAnswer(["GET", path], 200, []);
});

test("a password is set once, replaced, and removed", async () => {
  const { path, id } = await newUser();
  const password = `${path}/password`;
  await expectAnswer(["GET", password], 404, error(404));
  await expectAnswer(["PUT", password, { password: "short" }], 404, error(404));
  await expectAnswer(["POST", password, { password: "short" }], 200, passwordOf(id));
  await expectAnswer(["POST", password, { password: "other" }], 409, error(409));
  await expectAnswer(["PUT", password, { password: "other" }], 200, passwordOf(id));
  await expectAnswer(["PUT", password, { password: "" }], 400, error(400));
  await expectAnswer(["PUT", password, { password: "x".repeat(257) }], 400, error(400));
  await expectAnswer(["GET", password], 200, passwordOf(id));
  await expectAnswer(["DELETE", password], 204);
  await expectAnswer(["DELETE", password], 404, error(404));
});

test("an authenticator app is shown and removed, and with it the recovery codes", async () => {
  const { userId } = await accountOwner(runtime, { totp: true, recoveryCodes: true });
  const path = `/users/${userId}`;
  await expectAnswer(["GET", `${path}/otp`], 200, { id: userId, created_at: time });
  const { recovery_codes: codes } = await expectAnswer(["POST", `${path}/recovery_codes`], 200, {
    recovery_codes: expect.any(Array),
  });
  expect(new Set(codes).size).toBe(10);
  await expectAnswer(["GET", `${path}/recovery_codes`], 200, { remaining: 10 });
  await expectAnswer(["DELETE", `${path}/recovery_codes`], 204);
  await expectAnswer(["GET", `${path}/recovery_codes`], 200, { remaining: 0 });
  expect((await call("POST", `${path}/recovery_codes`)).status).toBe(200);
  await expectAnswer(["DELETE", `${path}/otp`], 204);
  await expectAnswer(["DELETE", `${path}/otp`], 404, error(404));
  await expectAnswer(["GET", `${path}/recovery_codes`], 200, { remaining: 0 });
  await expectAnswer(["POST", `${path}/recovery_codes`], 409, error(409));
});

test("identities are listed and disconnected", async () => {
  const { userId } = await accountOwner(runtime, { identities: ["google"] });
  const path = `/users/${userId}/identities`;
  const [identity] = await expectAnswer(["GET", path], 200, [
    { id: uuid, provider_id: expect.any(String), provider_name: "google", ...times },
  ]);
  await expectAnswer(["DELETE", `${path}/${identity.id}`], 204);
  await expectAnswer(["DELETE", `${path}/${identity.id}`], 404, error(404));
  await expectAnswer(["GET", path], 200, []);
});

describe("sessions", () => {
  test("are created, shown with the given browser, and ended", async () => {
    const { id, path } = await newUser();
    await expectAnswer(["POST", "/sessions", { user_id: id }], 200, { session_token: expect.any(String) });
    await expectAnswer(["GET", `${path}/sessions`], 200, [session(id)]);
    const browser = { user_agent: "Cart/1.0", ip_address: "2001:db8::1" };
    await expectAnswer(["POST", "/sessions", { user_id: id, ...browser }], 200, {
      session_token: expect.any(String),
    });
    const [newest] = (await call("GET", `${path}/sessions`)).body;
    expect(newest).toEqual({ ...session(id), ...browser });
    await expectAnswer(["DELETE", `${path}/sessions/${newest.id}`], 204);
    await expectAnswer(["DELETE", `${path}/sessions`], 204);
    await expectAnswer(["GET", `${path}/sessions`], 200, []);
    await expectAnswer(["POST", "/sessions", { user_id: id, ip_address: "home" }], 400, error(400));
  });

  test("are limited as those of logins", async () => {
    const { id, path } = await newUser();
    for (let made = 0; made < 7; made++) await call("POST", "/sessions", { user_id: id });
    expect((await call("GET", `${path}/sessions`)).body).toHaveLength(5);
  });

  test("are not created for a blocked user", async () => {
    const { id, path } = await newUser();
    await call("POST", `${path}/block`);
    await expectAnswer(["POST", "/sessions", { user_id: id }], 409, error(409));
    await expectAnswer(["GET", `${path}/sessions`], 200, []);
  });
});
