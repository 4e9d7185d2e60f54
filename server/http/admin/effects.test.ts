import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { type AccountContents, accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailsTo, newAddress, password, people } from "../../testing/people.ts";

/** What the operator's changes do beside themselves: mails to the user, the audit log, and the end of what relied on them. */

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);

/** A user with an address, a trusted browser and an unfinished sign-in; the language of the last sign-in is German. */
async function userWith(has: AccountContents) {
  const owner = await accountOwner(runtime, has);
  const { userId } = owner;
  const own = { tenantId: runtime.tenant.id, userId };
  const expiresAt = new Date(Date.now() + 3_600_000);
  await runtime.database.write
    .insert(schema.trustedDevices)
    .values({ ...own, id: randomUUID(), tokenHash: randomBytes(32), expiresAt });
  await runtime.database.write
    .update(schema.users)
    .set({ language: "de" })
    .where(eq(schema.users.id, userId));
  const flow = await walk(runtime, "login");
  await runtime.database.write.$client.query("update flows set user_id = $1 where id = $2", [
    userId,
    flow.flowId,
  ]);
  return { ...owner, path: `/users/${userId}`, address: owner.addresses[0] ?? "" };
}

const count = async (table: "flows" | "sessions" | "trustedDevices", userId: string) =>
  (await runtime.database.read.select().from(schema[table]).where(eq(schema[table].userId, userId))).length;

const left = async (userId: string) => ({
  signIns: await count("flows", userId),
  sessions: await count("sessions", userId),
  browsers: await count("trustedDevices", userId),
});

const types = async (userId: string) => (await auditTrail(runtime, userId)).map(([type]) => type);

type Owner = Awaited<ReturnType<typeof userWith>>;

const all = { signIns: 1, sessions: 1, browsers: 1 };
const withoutProofs = { signIns: 0, sessions: 1, browsers: 0 };
const withoutSignIns = { ...all, signIns: 0 };
const second = async ({ path }: Owner) => (await call("GET", `${path}/emails`)).body[1].id as string;

const changes: [
  name: string,
  has: AccountContents,
  call: (owner: Owner) => Promise<{ status: number }>,
  effects: { mails: string[]; audit: string[]; left: object },
][] = [
  [
    "a new password",
    { password: true },
    ({ path }) => call("PUT", `${path}/password`, { password: "another password" }),
    { mails: ["password_update"], audit: ["password_changed"], left: withoutProofs },
  ],
  [
    "the removal of the password",
    { password: true },
    ({ path }) => call("DELETE", `${path}/password`),
    { mails: ["password_delete"], audit: ["password_deleted"], left: withoutProofs },
  ],
  [
    "the removal of the authenticator app",
    { totp: true },
    ({ path }) => call("DELETE", `${path}/otp`),
    { mails: ["mfa_delete"], audit: ["otp_deleted"], left: withoutProofs },
  ],
  [
    "the removal of a security key",
    { securityKeys: 1 },
    ({ path, securityKeys: [key] }) => call("DELETE", `${path}/webauthn_credentials/${key}`),
    { mails: ["mfa_delete"], audit: ["security_key_deleted"], left: withoutProofs },
  ],
  [
    "the removal of a passkey",
    { passkeys: 1 },
    ({ path, passkeys: [key] }) => call("DELETE", `${path}/webauthn_credentials/${key}`),
    { mails: ["passkey_delete"], audit: ["passkey_deleted"], left: withoutSignIns },
  ],
  [
    "a new email",
    {},
    ({ path }) => call("POST", `${path}/emails`, { address: newAddress(), is_verified: true }),
    { mails: ["email_create"], audit: ["email_created", "email_verified"], left: all },
  ],
  [
    "the removal of an email",
    { emails: 2 },
    async (owner) => call("DELETE", `${owner.path}/emails/${await second(owner)}`),
    { mails: ["email_delete"], audit: ["email_deleted"], left: withoutSignIns },
  ],
  [
    "another primary email",
    { emails: 2 },
    async (owner) => call("POST", `${owner.path}/emails/${await second(owner)}/set_primary`),
    { mails: ["primary_email_update"], audit: ["primary_email_changed"], left: all },
  ],
  [
    "the end of all sessions",
    {},
    ({ path }) => call("DELETE", `${path}/sessions`),
    { mails: [], audit: ["session_revoked"], left: { signIns: 0, sessions: 0, browsers: 1 } },
  ],
  [
    "the end of the trust in all browsers",
    {},
    ({ path }) => call("DELETE", `${path}/trusted_browsers`),
    { mails: [], audit: ["trusted_device_revoked"], left: { ...all, browsers: 0 } },
  ],
  [
    "a block",
    {},
    ({ path }) => call("POST", `${path}/block`),
    { mails: [], audit: ["user_blocked"], left: { signIns: 0, sessions: 0, browsers: 0 } },
  ],
  [
    "a change of the profile",
    {},
    ({ path }) => call("PATCH", path, { name: "Ada" }),
    { mails: [], audit: ["profile_changed"], left: all },
  ],
];

test.each(changes)("%s by the operator", async (_, has, change, effects) => {
  const owner = await userWith(has);
  expect((await change(owner)).status).toBeLessThan(300);
  expect(mailsTo(runtime, owner.address)).toEqual(effects.mails);
  expect(runtime.enqueued.filter(({ to }) => to === owner.address).map(({ language }) => language)).toEqual(
    effects.mails.map(() => "de"),
  );
  expect((await types(owner.userId)).toSorted()).toEqual(effects.audit.toSorted());
  expect(await left(owner.userId)).toEqual(effects.left);
});

test("a deletion by the operator is told to the user", async () => {
  const owner = await userWith({});
  expect((await call("DELETE", owner.path)).status).toBeLessThan(300);
  expect(mailsTo(runtime, owner.address)).toEqual(["account_delete"]);
});

describe("a password that the operator sets", () => {
  const { register, signIn } = people();

  test("signs its user in, and the one before does not", async () => {
    const { email } = await register(runtime);
    const { body } = await call("GET", `/users?email=${encodeURIComponent(email)}`);
    const path = `/users/${body[0].id}/password`;
    expect((await signIn(runtime, { email })).state.name).toBe("success");
    expect((await call("PUT", path, { password: "a" })).status).toBe(200);
    expect((await signIn(runtime, { email })).state.name).toBe("login_password");
    expect((await call("PUT", path, { password })).status).toBe(200);
    expect((await signIn(runtime, { email })).state.name).toBe("success");
  });
});

test("a session that the operator creates asks for a proof before a change of the account", async () => {
  const owner = await accountOwner(runtime, { password: true });
  await call("POST", "/sessions", { user_id: owner.userId });
  const { body } = await call("GET", `/users/${owner.userId}/sessions`);
  const made = body.find(({ id }: { id: string }) => id !== owner.sessionId);
  const flow = await owner.manage({ sessionId: made.id });
  await flow.act("password_update", { password: "a long enough password" });
  expect(flow.state.name).not.toBe("profile_init");
});
