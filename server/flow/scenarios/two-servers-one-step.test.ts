import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { flowClient } from "../../testing/flow-client.ts";
import { type TestDatabase, testDatabase } from "../../testing/postgres.ts";
import { type RunningServer, startServer } from "../../testing/server.ts";

let database: TestDatabase;
let servers: RunningServer[];

beforeAll(async () => {
  database = await testDatabase();
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEYS: randomUUID(),
    STILE_DATABASE_POOL_SIZE: "5",
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
  };
  servers = await Promise.all([startServer({ env }), startServer({ env })]);
});

afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.stop()));
  await database?.close();
});

const query = async (text: string) => (await database.database.read.$client.query(text)).rows;

test("A30 A121 exactly one of two servers performs a step that is sent to both at once", async () => {
  const [one, other] = servers as [RunningServer, RunningServer];
  const client = flowClient(one.url);
  await client.start("registration");
  await client.act("register_client_capabilities");
  const { state } = await client.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
  const action = state.actions.register_password;
  if (!action) throw new Error("register_password is not offered");
  const body = JSON.stringify({
    csrf_token: state.csrf_token,
    input_data: { new_password: "correct horse battery" },
  });
  const send = ({ url }: RunningServer) =>
    fetch(url + action.href, { method: "POST", headers: { "content-type": "application/json" }, body });

  const responses = await Promise.all([one, other, one, other, one, other].map(send));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
  const states = await Promise.all(responses.map((response) => response.json() as Promise<{ name: string }>));
  expect(states.map(({ name }) => name).sort()).toEqual([...Array(5).fill("error"), "success"]);
  expect(await query("select 1 from users")).toHaveLength(1);
  expect(await query("select 1 from sessions")).toHaveLength(1);
});
