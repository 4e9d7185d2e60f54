import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { factsById } from "../../identity/facts.ts";
import { trustDevice } from "../../sessions/trusted-devices.ts";
import { type AccountContents, type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, newAddress } from "../../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../../testing/provider-people.ts";
import { requestContext } from "../../testing/request-context.ts";
import { type TestRuntime, testClient } from "../../testing/runtime.ts";
import type { ProviderFacts } from "../../thirdparty/provider-facts.ts";
import { current } from "../current.ts";

const base = await runtimeForTests({ STILE_PASSKEY_ENABLED: "false", ...acme() });

const configured = (settings: Record<string, string>) =>
  base.configured({ STILE_PASSKEY_ENABLED: "false", ...acme(), ...settings });

interface TrustedOwner extends AccountOwner {
  address: string;
  /** Starts a login on the trusted device. */
  login(): Promise<Walk>;
}

/** A user with an app and a trusted device. */
async function ownerWithTrustedDevice(
  runtime: TestRuntime,
  has: AccountContents = {},
): Promise<TrustedOwner> {
  const owner = await accountOwner(runtime, { totp: true, ...has });
  const { cookieChanges, write } = trustDevice(requestContext(runtime), {
    userId: owner.userId,
    cookie: null,
  });
  await runtime.database.write.transaction(write);
  const client = { ...testClient, deviceCookie: cookieChanges.device.value };
  return {
    ...owner,
    address: owner.addresses[0] ?? has.unverified ?? "",
    async login() {
      const flow = await walk(runtime, "login", { client });
      await flow.act("register_client_capabilities");
      return flow;
    },
  };
}

/** Signs in by a mailed code, up to the next factor. */
async function signInByCode(flow: Walk, runtime: TestRuntime, email: string): Promise<void> {
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_passcode_confirmation");
  await flow.act("verify_passcode", { code: codeFor(runtime, email) });
}

async function signInByAcme(flow: Walk, facts: ProviderFacts): Promise<void> {
  await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: "http://localhost:3000/" });
  await flow.act("exchange_token", { token: await returnFromProvider(base, { flowId: flow.flowId, facts }) });
}

describe("a trusted device", () => {
  test("skips the second factor after any first factor", async () => {
    const owner = await ownerWithTrustedDevice(base);
    const facts = acmePerson();
    const { provider, subject } = facts;
    const own = { tenantId: base.tenant.id, userId: owner.userId };
    await base.database.write
      .insert(schema.identities)
      .values({ ...own, id: randomUUID(), provider, subject, createdAt: new Date() });
    const flow = await owner.login();
    await signInByAcme(flow, facts);
    expect(flow.state.name).toBe("success");
    expect(flow.answer.cookieChanges?.device?.value).toMatch(new RegExp(`^${owner.userId}:`));
  });

  test("A24 does not skip the second factor before a new password", async () => {
    const { login, address } = await ownerWithTrustedDevice(base, { password: true });
    const flow = await login();
    await flow.act("continue_with_login_identifier", { email: address });
    await flow.act("continue_to_password_login");
    await flow.act("continue_to_passcode_confirmation_recovery");
    await flow.act("verify_passcode", { code: codeFor(base, address) });
    expect(flow.state.name).toBe("login_otp");
  });

  test("recovers a password without a second factor, and is no longer trusted", async () => {
    const owner = await ownerWithTrustedDevice(base, { password: true });
    const { userId, address } = owner;
    await base.database.write.$client.query("delete from totp_secrets where user_id = $1", [userId]);
    const flow = await owner.login();
    await flow.act("continue_with_login_identifier", { email: address });
    await flow.act("continue_to_password_login");
    await flow.act("continue_to_passcode_confirmation_recovery");
    await flow.act("verify_passcode", { code: codeFor(base, address) });
    await flow.act("password_recovery", { new_password: "another horse battery" });
    expect(flow.state).toMatchObject({ name: "success", status: 200 });
    const { rows } = await base.database.read.$client.query(
      "select 1 from trusted_devices where user_id = $1",
      [userId],
    );
    expect(rows).toEqual([]);
  });

  test("does not prevent the first verification of an address", async () => {
    const runtime = configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
    const owner = await ownerWithTrustedDevice(runtime, {
      emails: 0,
      unverified: newAddress(),
      password: true,
    });
    const flow = await owner.login();
    await signInByCode(flow, runtime, owner.address);
    expect(flow.state).toMatchObject({ name: "success", status: 200 });
  });

  test("does not skip the second factor before an identity is linked", async () => {
    const owner = await ownerWithTrustedDevice(base, { password: true });
    const flow = await owner.login();
    await signInByAcme(flow, acmePerson({ email: owner.address }));
    expect(flow.state.name).toBe("login_otp");
    const facts = await factsById(base.database.read, base.tenant.id, owner.userId);
    expect(facts?.hasIdentity).toBe(false);
  });

  test("receives its new token again after a lost answer", async () => {
    const { userId, address, login } = await ownerWithTrustedDevice(base, { password: true });
    const flow = await login();
    await signInByCode(flow, base, address);
    const { device } = flow.answer.cookieChanges ?? {};
    expect(device?.value).toMatch(new RegExp(`^${userId}:`));
    const { flowId, resume } = flow;
    const again = await current(base, base.tenant, testClient, { type: "login", flowId, resume });
    expect(again.cookieChanges).toEqual({ device, mark: expect.anything() });
    expect(again.state.payload).not.toHaveProperty("device");
    const { rows } = await base.database.read.$client.query("select * from flows where id = $1", [flowId]);
    const token = String(device?.value.split(":")[1]);
    expect(JSON.stringify(rows) + rows[0].sealed_payload.toString("latin1")).not.toContain(token);
  });

  test("allows skipping later states", async () => {
    const runtime = configured({
      STILE_PASSWORD_OPTIONAL: "true",
      STILE_PASSWORD_ACQUIRE_ON_LOGIN: "always",
    });
    const owner = await ownerWithTrustedDevice(runtime);
    const flow = await owner.login();
    await signInByCode(flow, runtime, owner.address);
    expect(flow.state.name).toBe("password_creation");
    expect(Object.keys(flow.state.actions)).toEqual(["register_password", "skip"]);
    await flow.act("skip");
    expect(flow.state.name).toBe("success");
  });
});
