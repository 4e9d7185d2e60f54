import { expect, test } from "vitest";
import { authenticatorApp } from "../testing/authenticator-app.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { newAddress } from "../testing/people.ts";
import { mailedCode, password, restWalk } from "../testing/rest-walk.ts";
import { countByKey, keyedValues } from "./key-status.ts";

const runtime = await runtimeForTests({
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_PASSKEY_ENABLED: "false",
});

/** Numbers of values by kind. */
const counts = async () =>
  Object.fromEntries(
    (await countByKey(runtime.database, runtime.vault)).map(({ holds, count }) => [holds, count]),
  );

test("A133 every column that is named as sealed is counted by `stile secrets status`", async () => {
  const { rows } = await runtime.database.read.$client.query(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and data_type = 'bytea' and column_name like 'sealed%'`,
  );
  const counted = keyedValues.map(({ table, column }) => `${table}.${column}`);
  expect(rows.length).toBeGreaterThan(5);
  expect(counted).toEqual(expect.arrayContaining(rows.map(({ name }) => name)));
});

test("A133 the codes and the secret of an account are counted", async () => {
  const email = newAddress();
  const flow = await restWalk(runtime, "registration");
  await flow.act("register_client_capabilities");
  await flow.act("register_login_identifier", { email });
  expect(await counts()).toMatchObject({ "a mailed code": 1 });
  await flow.act("verify_passcode", { code: mailedCode(runtime, email) });
  await flow.act("register_password", { new_password: password });
  await flow.act("continue_to_otp_secret_creation");
  expect(await counts()).toMatchObject({ "an answer of a flow": 1 });
  const app = authenticatorApp(String(flow.state.payload.otp_secret));
  await flow.act("otp_code_verify", { otp_code: app.code(Date.now()) });
  expect(await counts()).toMatchObject({
    "a signing key": 1,
    "a recovery code": 10,
    "the secret of an authenticator app": 1,
  });
});
