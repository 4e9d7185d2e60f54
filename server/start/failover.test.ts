import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { flowClient } from "../testing/flow-client.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { type PostgresPair, startPostgresPair } from "../testing/postgres-pair.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { signUp as signUpWith } from "../testing/sign-up.ts";
import { startSmtp } from "../testing/smtp.ts";
import { startReceiver } from "../testing/webhook-receiver.ts";

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

/** Time in which the standby gets commits that have not waited for it. */
const REPLICATION_MS = 1_000;

describe("what is sent when the primary is lost", () => {
  /** Kills the primary once, and promotes the standby soon. */
  const failOver = async () => {
    await pause(REPLICATION_MS);
    pair.killPrimary();
    await pair.promote();
  };
  const query = async (text: string) =>
    withClient(pair.urls[1], async (client) => (await client.query(text)).rows);

  test("is recorded by the new primary, and no mail is sent again", async () => {
    let failedOver: Promise<void> | undefined;
    const smtp = await startSmtp({
      async reply() {
        failedOver ??= failOver();
        await failedOver;
        return undefined;
      },
    });
    await server.restart({ SMTP_URL: smtp.url, STILE_EMAIL_REQUIRE_VERIFICATION: "true" });
    const client = flowClient(server.url);
    await client.start("registration", { capabilities: {} });
    if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
    await client.act("register_login_identifier", { email: "ada@example.com" });
    await smtp.waitFor("ada@example.com");
    await eventually(async () => {
      expect(await query("select type from audit_logs where type like 'mail_%' order by created_at")).toEqual(
        [{ type: "mail_queued" }, { type: "mail_accepted" }],
      );
      expect(await query("select from pgboss.job where name = 'send_mail'")).toEqual([]);
    });
    expect(smtp.messages).toHaveLength(1);
    expect(server.logs()).not.toMatch(/it will run again|recording what became of a job failed/);
    await smtp.close();
  });

  test("is recorded by the new primary, and no event is delivered again", async () => {
    const receiver = await startReceiver();
    let failedOver: Promise<void> | undefined;
    receiver.answer = (response) => {
      failedOver ??= failOver();
      void failedOver.then(() => response.writeHead(204).end());
    };
    await server.restart({
      STILE_WEBHOOKS_ENABLED: "true",
      STILE_WEBHOOKS_ALLOW_PRIVATE_TARGETS: "true",
      STILE_WEBHOOKS_HOOKS: JSON.stringify([{ callback: receiver.url, events: ["user"] }]),
    });
    await signUp("ada");
    await eventually(async () => {
      expect(await query("select distinct state from webhook_deliveries")).toEqual([{ state: "delivered" }]);
    });
    const ids = receiver.received.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    await receiver.close();
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
