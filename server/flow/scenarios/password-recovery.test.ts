import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { accountOwner } from "../../testing/account-owner.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, mailsTo, password, people } from "../../testing/people.ts";
import type { TestRuntime } from "../../testing/runtime.ts";

const base = await runtimeForTests();

const { begin } = people();

async function recover(runtime: TestRuntime, email: string) {
  const flow = await begin(runtime, "login", {});
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_password_login");
  await flow.act("continue_to_passcode_confirmation_recovery");
  await flow.act("verify_passcode", { code: codeFor(runtime, email) });
  return flow;
}

test("A24 a recovery revokes every session and every trusted device, and notifies the owner", async () => {
  const runtime = base.configured({ STILE_MFA_ACQUIRE_ON_LOGIN: "false" });
  const owner = await accountOwner(runtime, { password: true });
  const [email = ""] = owner.addresses;
  const { tenant, database } = runtime;
  await database.write.insert(schema.trustedDevices).values({
    tenantId: tenant.id,
    id: randomUUID(),
    userId: owner.userId,
    tokenHash: randomBytes(32),
    expiresAt: new Date(Date.now() + 3_600_000),
  });
  const flow = await recover(runtime, email);
  expect(flow.state.name).toBe("login_password_recovery");
  await flow.act("password_recovery", { new_password: `${password} and more` });
  const { sessions, trustedDevices } = schema;
  const live = await database.read.select().from(sessions).where(eq(sessions.userId, owner.userId));
  expect(live.map(({ id }) => id)).not.toContain(owner.sessionId);
  expect(
    await database.read.select().from(trustedDevices).where(eq(trustedDevices.userId, owner.userId)),
  ).toEqual([]);
  expect(mailsTo(runtime, email)).toEqual(["recovery", "password_update", "new_browser"]);
});

test("A24 a recovery still asks for the second factor", async () => {
  const runtime = base.configured({});
  const owner = await accountOwner(runtime, { password: true, totp: true });
  const flow = await recover(runtime, owner.addresses[0] ?? "");
  expect(flow.state.name).toBe("login_otp");
  expect(flow.state.actions).not.toHaveProperty("password_recovery");
});
