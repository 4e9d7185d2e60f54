import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { failureSubject } from "../../limits/failure-counters.ts";
import { type AuthenticatorApp, authenticatorApp } from "../../testing/authenticator-app.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, newAddress, origin, password, people } from "../../testing/people.ts";
import { testClient } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

/** An app after a hundred consecutive incorrect codes (NIST SP 800-63B-4, 3.2.2). */

const { begin, signIn } = people();
const able = { webauthn_available: true };

const base = await runtimeForTests({ STILE_MFA_ACQUIRE_ON_REGISTRATION: "true" });

const configured = (settings: Record<string, string> = {}) =>
  base.configured({
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
    STILE_RATE_LIMITER_ENABLED: "true",
    ...settings,
  });

const clock = () => Date.now() + base.platform.clockShift();

interface Barred {
  email: string;
  userId: string;
  app: AuthenticatorApp;
  key: ReturnType<typeof softwareAuthenticator>;
}

/** A registration up to the choice of a second factor. */
async function upToEnrolment(): Promise<{ flow: Walk; email: string }> {
  const runtime = configured();
  const email = newAddress();
  const flow = await begin(runtime, "registration", able);
  await flow.act("register_login_identifier", { email });
  await flow.act("verify_passcode", { code: codeFor(runtime, email) });
  await flow.act("register_password", { new_password: password });
  return { flow, email };
}

/** A user with a password, an app and recovery codes. */
async function withApp() {
  const { flow, email } = await upToEnrolment();
  await flow.act("continue_to_otp_secret_creation");
  const app = authenticatorApp(String(flow.state.payload.otp_secret));
  await flow.act("otp_code_verify", { otp_code: app.code(clock()) });
  const { user_id: userId } = flow.state.payload.user as { user_id: string };
  return { email, userId, app, codes: flow.state.payload.recovery_codes as string[] };
}

/** A user with a locked app and a security key, without recovery codes. */
async function barred(): Promise<Barred> {
  const { email, userId, app } = await withApp();
  // The key comes from another account, because a registration enrols only one second factor.
  const key = softwareAuthenticator({ userVerification: false, transports: ["usb"] });
  const { flow: lender } = await upToEnrolment();
  await lender.act("continue_to_security_key_creation");
  const { payload } = await lender.act("webauthn_generate_creation_options");
  const public_key = key.create(payload.creation_options, { origin });
  await lender.act("webauthn_verify_attestation_response", { public_key });
  const { user_id: lenderId } = lender.state.payload.user as { user_id: string };
  const { $client } = base.database.write;
  await $client.query("update webauthn_credentials set user_id = $1 where user_id = $2", [userId, lenderId]);
  await $client.query("delete from recovery_codes where user_id = $1", [userId]);

  const { failures } = schema;
  const [subject = Buffer.of()] = failureSubject(base.vault, base.tenant.id, { secondFactorOf: userId });
  const longAgo = new Date(clock() - 3_600_000);
  const counts = { consecutive: 150, windowStartedAt: longAgo, windowCount: 0, lastAt: longAgo };
  await base.database.write
    .insert(failures)
    .values({ tenantId: base.tenant.id, method: "otp", subject, source: "", ...counts })
    .onConflictDoUpdate({
      target: [failures.tenantId, failures.method, failures.subject, failures.source],
      set: counts,
    });
  base.advanceClock(60);
  return { email, userId, app, key };
}

async function enterCode(flow: Walk, app: AuthenticatorApp): Promise<void> {
  if (flow.state.name === "login_security_key") await flow.act("continue_to_login_otp");
  await flow.act("otp_code_validate", { otp_code: app.code(clock()) });
}

describe("a locked app", () => {
  test("is unlocked by a security key", async () => {
    const runtime = configured();
    const { email, app, key } = await barred();
    const before = await signIn(runtime, { email }, able);
    await enterCode(before, app);
    expect(before.errors()).toEqual(["otp_code_invalid"]);

    const withKey = await signIn(runtime, { email }, able);
    const { payload } = await withKey.act("webauthn_generate_request_options");
    const assertion_response = key.get(payload.request_options, { origin });
    await withKey.act("webauthn_verify_assertion_response", { assertion_response });
    if (withKey.state.name === "device_trust") await withKey.act("skip");
    expect(withKey.state.name).toBe("success");

    base.advanceClock(60);
    const after = await signIn(runtime, { email }, able);
    await enterCode(after, app);
    expect(after.errors()).toEqual([]);
  });

  test("is not locked if the security key cannot be used", async () => {
    const { email, app } = await barred();
    const keysOff = configured({ STILE_MFA_SECURITY_KEYS_ENABLED: "false" });
    const flow = await signIn(keysOff, { email }, able);
    await enterCode(flow, app);
    expect(flow.errors()).toEqual([]);
    const { email: another, app: otherApp } = await barred();
    const unable = await signIn(configured(), { email: another }, {});
    await enterCode(unable, otherApp);
    expect(unable.errors()).toEqual([]);
  });
});

test("an attacker with the password can block the app for a while, but never recovery codes", async () => {
  const runtime = configured();
  const { email, app, codes } = await withApp();
  const from = async (source: string) => {
    const flow = await walk(runtime, "login", { client: { ...testClient, source } });
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    return flow;
  };
  for (const source of ["198.51.100.1", "198.51.100.2"]) {
    const stranger = await from(source);
    for (let tries = 0; tries < 3; tries += 1) {
      await stranger.act("otp_code_validate", { otp_code: app.wrongCode(clock()) });
      await stranger.act("recovery_code_validate", { recovery_code: "0000-0000-0000-0000" });
    }
  }
  base.advanceClock(60);
  const owner = await from("203.0.113.9");
  await owner.act("otp_code_validate", { otp_code: app.code(clock()) });
  expect(owner.errors()).toEqual(["rate_limit_exceeded"]);
  await owner.act("recovery_code_validate", { recovery_code: codes[0] });
  expect(owner.errors()).toEqual([]);
  expect(owner.state.name).toBe("device_trust");
});
