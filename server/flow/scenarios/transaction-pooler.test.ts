import { expect, test } from "vitest";
import { openDatabase } from "#db/client";
import { createRateLimits } from "../../limits/rate-limits.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { mailedCode, password, restWalk } from "../../testing/rest-walk.ts";

/** Connections through a pooler in transaction mode: the next statement may run in another session. */

const base = await runtimeForTests({
  STILE_RATE_LIMITER_ENABLED: "true",
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_PASSKEY_ENABLED: "false",
});
// One connection each, so that what a pool leaves behind is in the session that is asked below.
const database = await openForTests(
  openDatabase(String(base.database.write.$client.options.connectionString), 1, () => {}, false),
);
const runtime = { ...base, database, rates: createRateLimits(base.config, database) };

test("no step leaves anything in a session", async () => {
  const email = newAddress();
  const registration = await restWalk(runtime, "registration");
  await registration.act("register_client_capabilities");
  await registration.act("register_login_identifier", { email });
  await registration.act("verify_passcode", { code: "000000" });
  await registration.act("verify_passcode", { code: mailedCode(runtime, email) });
  await registration.act("register_password", { new_password: password });
  await registration.act("continue_to_otp_secret_creation");
  const app = authenticatorApp(String(registration.state.payload.otp_secret));
  await registration.act("otp_code_verify", { otp_code: app.code(Date.now()) });
  expect(registration.state.name).toBe("success");

  const login = await restWalk(runtime, "login");
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  await login.act("continue_to_password_login");
  await login.act("password_login", { password: "not it" });
  await login.act("password_login", { password });
  await login.act("otp_code_validate", { otp_code: app.code(Date.now(), 1) });
  expect(["success", "device_trust"]).toContain(login.state.name);

  const profile = await restWalk(runtime, "profile", registration.visitor);
  await profile.act("register_client_capabilities");
  await profile.act("patch_metadata", { patch_metadata: { likes: "herons" } });
  expect(profile.state.name).toBe("profile_init");
  expect((await registration.visitor.request("/me")).status).toBe(200);

  for (const pool of [database.write, database.read, database.claim]) {
    const { rows } = await pool.$client.query(`select
      (select count(*)::int from pg_prepared_statements) as prepared,
      (select count(*)::int from pg_settings where source in ('client', 'session')
        and name in ('default_transaction_read_only', 'synchronous_commit')) as parameters,
      (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`);
    expect(rows).toEqual([{ prepared: 0, parameters: 0, locks: 0 }]);
  }
});
