import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lockUser } from "../identity/lock-user.ts";
import { accountOwner } from "../testing/account-owner.ts";
import {
  type AuthenticatorApplication,
  authenticatorApplication,
} from "../testing/authenticator-application.ts";
import { eventually } from "../testing/eventually.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";

let runtime: TestRuntime;
let application: AuthenticatorApplication;
beforeAll(async () => {
  runtime = await testRuntime({ STILE_MFA_AUTHENTICATOR_ENABLED: "true" });
  application = await authenticatorApplication(runtime);
});
afterAll(() => runtime.close());

test("deregisters a device whose account is deleted concurrently", async () => {
  const { userId } = await accountOwner(runtime, { recoveryCodes: true });
  await application.enroll(userId);
  const { database, tenant } = runtime;
  let asked: ReturnType<typeof application.create> | undefined;
  await database.write.transaction(async (tx) => {
    await lockUser(tx, tenant.id, userId);
    asked = application.create("DEREG", userId);
    await eventually(async () => {
      const { rows } = await database.read.execute(
        sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(1);
    });
    await tx.execute(sql`delete from users where id = ${userId}`);
  });
  expect((await asked)?.status).toBe("OK");
});
