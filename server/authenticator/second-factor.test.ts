import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { lockUser } from "../identity/lock-user.ts";
import { accountOwner } from "../testing/account-owner.ts";
import { authenticatorApplication } from "../testing/authenticator-application.ts";
import { eventually } from "../testing/eventually.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";

const runtime = await runtimeForTests({ STILE_MFA_AUTHENTICATOR_ENABLED: "true" });
const application = await authenticatorApplication(runtime);

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
