import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { type PostgresPair, startPostgresPair } from "../testing/postgres-pair.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { signUp as signUpWith } from "../testing/sign-up.ts";

let pair: PostgresPair;
let server: RunningServer;

beforeEach(async () => {
  pair = await startPostgresPair();
  server = await startServer({
    env: {
      DATABASE_URL: pair.url,
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
    },
  });
});

afterEach(async () => {
  await server.stop();
  await pair.stop();
});

/** Signs up, and returns the cookie of the session. */
async function signUp(name: string): Promise<string> {
  const client = flowClient(server.url);
  await signUpWith(client, { email: `${name}@example.com`, password: `a password of ${name}` });
  return [...client.cookies].map(([key, value]) => `${key}=${value}`).join("; ");
}

const isSignedIn = async (cookie: string) =>
  (await fetch(`${server.url}/sessions/validate`, { headers: { cookie } })).json() as Promise<{
    is_valid: boolean;
  }>;

const ready = async () => (await fetch(`${server.url}/health/ready`)).status;

describe("a server whose database is a primary with a synchronous standby", () => {
  test.each([
    ["is killed", () => pair.killPrimary()],
    ["hangs", () => pair.pausePrimary()],
  ])("goes on with the new primary when the former one %s, and has lost no session", async (_, harm) => {
    const cookies = [await signUp("ada"), await signUp("grace")];
    const { pid } = server;
    // A login is under way when it happens.
    const waiting = flowClient(server.url);
    await waiting.start("login", { capabilities: {} });
    harm();
    // Nothing that a client sends meanwhile is answered by a failure of the service's own.
    const meanwhile = await Promise.all([
      ready(),
      flowClient(server.url)
        .start("login")
        .then(({ status }) => status),
    ]);
    expect(meanwhile.filter((status) => status !== 503 && status !== 200)).toEqual([]);
    await pair.promote();
    await eventually(async () => expect(await ready()).toBe(200));
    // A success that /health/ready saw before the harm speaks for half a second.
    await eventually(async () => {
      for (const cookie of cookies) expect(await isSignedIn(cookie)).toMatchObject({ is_valid: true });
    });
    if (waiting.state.actions.register_client_capabilities)
      expect((await waiting.act("register_client_capabilities")).status).toBe(200);
    await signUp("katherine");
    expect(server.pid).toBe(pid);
    expect(server.logs()).toContain("the database has another primary");
    // Only the new one has written it.
    const users = await withClient(pair.urls[1], (client) => client.query("select from users"));
    expect(users.rowCount).toBe(3);
  });

  test("moves on when the former primary takes no writes any more, and answers reads", async () => {
    await signUp("ada");
    await withClient(
      pair.urls[0].replace("stile:test", "postgres:test").replace(/\/stile$/, "/postgres"),
      async (client) => {
        await client.query("alter system set default_transaction_read_only = on");
        await client.query("select pg_reload_conf()");
      },
    );
    await pair.promote();
    await eventually(async () => expect(await ready()).toBe(200));
    await eventually(async () => void (await signUp("grace")));
    const users = await withClient(pair.urls[1], (client) => client.query("select from users"));
    expect(users.rowCount).toBe(2);
  });
});

test("a server starts with the primary, whatever its place in the address, and says which servers do not answer", async () => {
  await pair.promote();
  pair.killPrimary();
  await server.restart();
  expect(await ready()).toBe(200);
  await signUp("ada");
  const start = startServer({ env: { DATABASE_URL: "postgres://u:secret@127.0.0.1:1,127.0.0.1:2/stile" } });
  await expect(start).rejects.toThrow(
    /stile: no server of DATABASE_URL can be reached: 127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:2: /,
  );
  await expect(start).rejects.not.toThrow("secret");
});
