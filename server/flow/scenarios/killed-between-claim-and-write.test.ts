import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { flowClient } from "../../testing/flow-client.ts";
import { openForTests } from "../../testing/open-for-tests.ts";
import { testDatabase } from "../../testing/postgres.ts";
import { startServer } from "../../testing/server.ts";

const database = await openForTests(testDatabase());
const server = await openForTests(
  startServer({
    env: {
      STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
      DATABASE_URL: database.url,
      STILE_DATABASE_POOL_SIZE: "3",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      // Slow hashing leaves time to kill the server between claim and write.
      STILE_PASSWORD_HASH_MEMORY: "262144",
      STILE_PASSWORD_HASH_PASSES: "2",
    },
  }),
);

const query = async (text: string) => (await database.database.read.$client.query(text)).rows;

test("A113 a step whose server is killed between claim and write has no effect, and can be repeated", async () => {
  const email = `${randomUUID()}@example.com`;
  const client = flowClient(server.url);
  await client.start("registration");
  await client.act("register_client_capabilities");
  await client.act("register_login_identifier", { email });
  const input = { new_password: "correct horse battery" };

  const cut = client.act("register_password", input).catch(() => "cut");
  for (let claimed = 0; claimed === 0; )
    claimed = (await query("select 1 from flows where claimed_by is not null")).length;
  await server.kill("SIGKILL");
  expect(await cut).toBe("cut");
  expect(await query("select 1 from users")).toEqual([]);

  // Expire its lease; the next server to start releases its claims.
  await database.database.write.$client.query("update instances set leased_until = clock_timestamp()");
  // Fast again: on a busy machine that hash would exceed the time limit of a step.
  await server.restart({ STILE_PASSWORD_HASH_MEMORY: "19456" });
  expect(await query("select 1 from flows where claimed_by is not null")).toEqual([]);
  expect((await client.act("register_password", input)).state).toMatchObject({ name: "success" });
  expect(await query("select 1 from sessions")).toHaveLength(1);
});
