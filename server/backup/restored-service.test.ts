import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { emptyDatabase } from "../testing/filled-database.ts";
import { flowClient } from "../testing/flow-client.ts";
import { folderForTests, openForTests } from "../testing/open-for-tests.ts";
import { testDatabase } from "../testing/postgres.ts";
import { withClient } from "../testing/postgres-cluster.ts";
import { startServer } from "../testing/server.ts";
import { signUp } from "../testing/sign-up.ts";
import { runStile } from "../testing/stile.ts";
import { waitsForLock } from "../testing/waits-for-lock.ts";

const { adminUrl, ownerUrl } = inject("postgres");
const folder = folderForTests("restored service");
// PostgreSQL may run under another account, which must be able to enter the folder.
chmodSync(folder, 0o755);

const server = await openForTests(
  startServer({
    env: {
      STILE_RATE_LIMITER_ENABLED: "false",
      STILE_MFA_ACQUIRE_ON_REGISTRATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
      STILE_SESSION_ALGORITHM: "ES256",
    },
  }),
);
const ada = { email: "ada@example.com", password: "correct horse battery staple" };
/** Signs in again and again. The number of sessions of an account is limited, so ada does not. */
const busy = { email: "busy@example.com", password: ada.password };
/** Ada's browser, which has a session. */
const browser = flowClient(server.url);
await signUp(browser, ada);
await signUp(flowClient(server.url), busy);

const stile = (words: string[], changes: Record<string, string> = {}) =>
  runStile(words, { cwd: server.folder, env: { ...server.environment, ...changes } });

async function signIn({ email, password }: typeof ada): Promise<string> {
  const client = flowClient(server.url);
  await client.start("login");
  if (client.state.actions.register_client_capabilities) await client.act("register_client_capabilities");
  await client.act("continue_with_login_identifier", { email });
  if (client.state.actions.continue_to_password_login) await client.act("continue_to_password_login");
  await client.act("password_login", { password });
  return client.state.name;
}

const hasSession = async () =>
  ((await (await browser.request("/sessions/validate")).json()) as { is_valid: boolean }).is_valid;

test("a backup made while users sign in restores to a service that knows users and sessions", async () => {
  const file = join(folder, "under-load.backup");
  let isOver = false;
  let logins = 0;
  const load = Array.from({ length: 3 }, async () => {
    while (!isOver) {
      expect(await signIn(busy)).toBe("success");
      logins += 1;
    }
  });
  await eventually(() => expect(logins).toBeGreaterThan(3));
  const before = logins;
  const made = await stile(["backup", file, "--verify"]);
  await eventually(() => expect(logins).toBeGreaterThan(before));
  isOver = true;
  await Promise.all(load);
  expect(made).toMatchObject({ code: 0, out: expect.stringContaining("verified"), err: "" });

  const dataDir = join(folder, "restored");
  expect(await stile(["restore", file], { DATA_DIR: dataDir })).toMatchObject({ code: 0, err: "" });
  await server.restart({ DATA_DIR: dataDir });
  expect(await hasSession()).toBe(true);
  expect(await signIn(ada)).toBe("success");
});

test("a move is refused while a server runs, goes on after it was killed, and mixes no two databases", async () => {
  const url = await emptyDatabase(adminUrl, ownerUrl);
  const move = ["move", "--to", url];
  expect(await stile(move)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^stile: a server runs on this/),
  });
  expect(await signIn(ada)).toBe("success");
  await server.kill("SIGTERM");

  const killed = spawn(process.execPath, [join(server.folder, "bin/stile.js"), ...move], {
    cwd: server.folder,
    env: server.environment,
    stdio: "ignore",
    detached: true,
  });
  const ended = once(killed, "exit");
  await withClient(url, async (holder) => {
    // Without a pause, so that it has the table before its rows are copied.
    const lock = async (): Promise<void> =>
      holder.query("begin; lock table webhooks in access exclusive mode nowait").then(
        () => {},
        () => holder.query("rollback").then(lock),
      );
    await lock();
    await withClient(url, waitsForLock);
    // The command runs in a child of this process.
    process.kill(-(killed.pid ?? 0), "SIGKILL");
    await ended;
    await holder.query("rollback");
  });
  const moved = () =>
    withClient(url, async (client) => (await client.query("table drizzle.__stile_moved_tables")).rows);
  const done = await moved();
  expect(done.length).toBeGreaterThan(10);

  // Neither of the two is used before it is complete, and no other database goes on with it.
  expect(await stile(["tenants", "list"])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^stile: the database is being moved to 127\.0\.0\.1/),
  });
  expect(await stile(["tenants", "list"], { DATABASE_URL: url })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^stile: a database is being moved into this one/),
  });
  const other = await testDatabase();
  expect(await stile(move, { DATABASE_URL: other.url })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^stile: another database was moved/),
  });
  await other.close();

  const resumed = await stile(move);
  expect(resumed).toMatchObject({
    code: 0,
    out: expect.stringMatching(/rows of \d+ tables moved[\s\S]*OK\n$/),
  });
  expect(await moved()).toEqual(expect.arrayContaining(done));
  expect(await stile(move)).toMatchObject({ code: 0 });
  await expect(server.restart()).rejects.toThrow(/the database was moved to 127\.0\.0\.1.*set DATABASE_URL/);

  await server.restart({ DATABASE_URL: url });
  expect(await hasSession()).toBe(true);
  expect(await signIn(ada)).toBe("success");
});
