import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { authenticatorApp } from "../testing/authenticator-app.ts";
import { type CuttingProxy, cuttingProxy } from "../testing/cutting-proxy.ts";
import { storedEvents, storeWebhook } from "../testing/emitted-events.ts";
import { eventually } from "../testing/eventually.ts";
import { walk } from "../testing/flow-walk.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { password, people } from "../testing/people.ts";
import type { TestRuntime } from "../testing/runtime.ts";

const runtime = await runtimeForTests({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });

type Transact = TestRuntime["database"]["write"]["transaction"];

/** A runtime whose registrations end with an authenticator app, so that they create recovery codes. */
const withApps = () =>
  runtime.configured({
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
    STILE_MFA_DEVICE_TRUST_POLICY: "never",
  });

/** The same runtime, with intercepted transactions. */
function between(change: (transact: Transact) => Transact): TestRuntime {
  const server = withApps();
  const { write } = server.database;
  const transaction = change(write.transaction.bind(write) as Transact);
  const changed = new Proxy(write, {
    get: (target, name) => (name === "transaction" ? transaction : Reflect.get(target, name, target)),
  });
  return { ...server, database: { ...server.database, write: changed } };
}

/** A registration before its last action, whose write takes a transaction because of the recovery codes. */
async function almostRegistered() {
  const email = `${randomUUID()}@example.com`;
  const flow = await walk(withApps(), "registration");
  await flow.act("register_client_capabilities");
  await flow.act("register_login_identifier", { email });
  await flow.act("register_password", { new_password: "correct horse battery" });
  if (flow.state.name === "mfa_method_chooser") await flow.act("continue_to_otp_secret_creation");
  const app = authenticatorApp(String(flow.state.payload.otp_secret));
  return {
    sessions: () => sessionsOf(email),
    /** Performs the last action, whose write uses `server`. */
    finish: (server: TestRuntime) =>
      flow.act("otp_code_verify", { otp_code: app.code(Date.now()) }, { runtime: server }),
  };
}

async function sessionsOf(email: string): Promise<number> {
  const { rows } = await runtime.database.read.$client.query(
    "select count(*)::int as sessions from sessions s join emails e on e.user_id = s.user_id where e.address = $1",
    [email],
  );
  return rows[0].sessions;
}

const failure = (code: string) => Object.assign(new Error(code), { code });

describe("A115 a connection lost during COMMIT", () => {
  test("is answered by success with one session if the commit succeeded", async () => {
    const cut = between(
      (transact) =>
        (async (work, options) => {
          await transact(work, options);
          throw failure("ECONNRESET");
        }) as Transact,
    );
    const { finish, sessions } = await almostRegistered();
    expect(await finish(cut)).toMatchObject({ name: "success", status: 200 });
    expect(await sessions()).toBe(1);
  });

  test("stores nothing if the commit failed, and the same token can be used again", async () => {
    const cut = between(
      (transact) =>
        (async (work, options) =>
          transact(async (tx) => {
            await work(tx);
            throw failure("ECONNRESET");
          }, options)) as Transact,
    );
    const { finish, sessions } = await almostRegistered();
    await expect(finish(cut)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await sessions()).toBe(0);
    expect((await finish(withApps())).name).toBe("success");
    expect(await sessions()).toBe(1);
  });
});

describe("A116 a transaction that PostgreSQL asks to retry", () => {
  const failing = (times: number, code: string, onAttempt: () => void) =>
    between(
      (transact) =>
        (async (work, options) => {
          onAttempt();
          if (times-- <= 0) return transact(work, options);
          throw Object.assign(new Error("wrapped"), { cause: failure(code) });
        }) as Transact,
    );

  test.each(["40001", "40P01"])("is attempted three times after the error %s", async (code) => {
    let attempts = 0;
    const { finish, sessions } = await almostRegistered();
    const state = await finish(failing(2, code, () => attempts++));
    expect([state.name, attempts, await sessions()]).toEqual(["success", 3, 1]);
  });

  test("is not retried indefinitely", async () => {
    let attempts = 0;
    const { finish } = await almostRegistered();
    await expect(finish(failing(9, "40001", () => attempts++))).rejects.toThrow("wrapped");
    expect(attempts).toBe(3);
  });
});

/** What the driver calls on statements that are sent together. */
interface Batch {
  handleReadyForQuery(): void;
  handleError(error: Error, connection: unknown): void;
}

const fail = (batch: Batch, connection: PoolClient, code: string) =>
  batch.handleError(failure(code), Reflect.get(connection, "connection"));

/** The same runtime; `before` is called before each batch of statements, which is sent unless it has ended. */
function eachBatch(
  before: (batch: Batch, connection: PoolClient) => Promise<unknown> | undefined | "ended",
): TestRuntime {
  const { write } = runtime.database;
  const connect = async () => {
    const connection: PoolClient = await write.$client.connect();
    const query = async (batch: Batch) => {
      if ((await before(batch, connection)) !== "ended") connection.query(batch as never);
    };
    return new Proxy(connection, {
      get: (target, name) => (name === "query" ? query : Reflect.get(target, name, target)),
    });
  };
  const pool = new Proxy(write.$client, {
    get: (target, name) => (name === "connect" ? connect : Reflect.get(target, name, target)),
  });
  const changed = new Proxy(write, {
    get: (target, name) => (name === "$client" ? pool : Reflect.get(target, name, target)),
  });
  return { ...runtime, database: { ...runtime.database, write: changed } };
}

/** A login before the choice of its method, which is saved without a claim. */
async function almostChosen() {
  const { email } = await people().register(runtime);
  const flow = await walk(runtime, "login");
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email });
  return {
    flow,
    choose: (server: TestRuntime) => flow.act("continue_to_password_login", {}, { runtime: server }),
    finish: () => flow.act("password_login", { password }),
  };
}

/** A sign-in by password before its last action, whose write is sent as one batch. */
async function almostSignedIn(known?: string) {
  const email = known ?? (await people().register(runtime)).email;
  const flow = await walk(runtime, "login");
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email });
  if (flow.state.name === "login_method_chooser") await flow.act("continue_to_password_login");
  const before = await sessionsOf(email);
  return {
    flow,
    email,
    newSessions: async () => (await sessionsOf(email)) - before,
    finish: (server: TestRuntime) => flow.act("password_login", { password }, { runtime: server }),
  };
}

const query = (text: string, value: string) => runtime.database.write.$client.query(text, [value]);

const replaceHash = (run: typeof query, email: string) =>
  run(
    `update passwords p set hash = p.hash || ' ' from emails e
      where e.tenant_id = p.tenant_id and e.user_id = p.user_id and e.address = $1`,
    email,
  );

describe("statements that are sent together", () => {
  test("A115 are answered by success with one session if the connection is lost after their commit", async () => {
    const cut = eachBatch((batch, connection) => {
      batch.handleReadyForQuery = () => fail(batch, connection, "ECONNRESET");
      return undefined;
    });
    const { finish, newSessions } = await almostSignedIn();
    expect(await finish(cut)).toMatchObject({ name: "success", status: 200, payload: { user: {} } });
    expect(await newSessions()).toBe(1);
  });

  test("A115 store nothing if the connection is lost before, and the same token can be used again", async () => {
    const cut = eachBatch(async (_, connection) => {
      const { processID } = connection as PoolClient & { processID: number };
      await query("select pg_terminate_backend($1::int)", String(processID));
    });
    const { finish, newSessions } = await almostSignedIn();
    await expect(finish(cut)).rejects.toThrow();
    expect(await newSessions()).toBe(0);
    expect((await finish(runtime)).name).toBe("success");
    expect(await newSessions()).toBe(1);
  });

  test("A115 are answered by the choice if the connection is lost after their commit", async () => {
    const cut = eachBatch((batch, connection) => {
      batch.handleReadyForQuery = () => fail(batch, connection, "ECONNRESET");
      return undefined;
    });
    const { choose, finish } = await almostChosen();
    expect(await choose(cut)).toMatchObject({ name: "login_password", status: 200 });
    expect((await finish()).name).toBe("success");
  });

  describe("whose connection is cut while PostgreSQL keeps its end", () => {
    let proxy: CuttingProxy;
    let database: Database;
    /** The same runtime, whose writes take the connection that is cut; an account has one session. */
    let cut: TestRuntime;

    beforeAll(async () => {
      const { connectionString = "" } = runtime.database.write.$client.options;
      proxy = await cuttingProxy(connectionString);
      database = openDatabase(proxy.url, 1, () => {});
      const settings = { STILE_EMAIL_REQUIRE_VERIFICATION: "false", STILE_SESSION_LIMIT: "1" };
      cut = { ...runtime.configured(settings), database: { ...runtime.database, write: database.write } };
    });
    afterAll(async () => {
      await database.close();
      await proxy.close();
    });

    test("A115 do not commit after the answer if PostgreSQL reads them later", async () => {
      const { finish, newSessions } = await almostSignedIn();
      proxy.hold("save_of_account", () => proxy.cut());
      await expect(finish(cut)).rejects.toThrow(/connection terminated/i);
      await proxy.deliver();
      expect(await newSessions()).toBe(0);
      expect((await finish(runtime)).name).toBe("success");
    });

    test("A115 do not save a choice after the answer if PostgreSQL reads them later", async () => {
      const { flow, choose, finish } = await almostChosen();
      const { rememberedFlows } = runtime;
      proxy.hold("save_unclaimed", () => proxy.cut());
      await expect(choose({ ...cut, rememberedFlows })).rejects.toThrow(/connection terminated/i);
      // A step that claims the flow and saves nothing.
      expect((await flow.act("password_login", { password })).status).toBe(403);
      await proxy.deliver();
      expect((await choose(runtime)).name).toBe("login_password");
      expect((await finish()).name).toBe("success");
    });

    /** Cuts the connection of a sign-in while its save waits for a row, which `during` has released. */
    async function whileSaving(
      during: (signIn: { finished: Promise<unknown>; release: () => Promise<unknown> }) => Promise<void>,
    ): Promise<{ email: string }> {
      const { finish, email } = await almostSignedIn();
      const waiting = (count: number) =>
        eventually(async () => {
          const { rows } = await runtime.database.read.$client.query(
            "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
          );
          expect(rows).toHaveLength(count);
        });
      const holder = await runtime.database.write.$client.connect();
      try {
        await holder.query("begin");
        // The session that the sign-in ends, by its second statement.
        await holder.query(
          "select from sessions s join emails e on e.user_id = s.user_id where e.address = $1 for update of s",
          [email],
        );
        const held = Promise.withResolvers<void>();
        proxy.hold("save_of_account", held.resolve);
        const finished = finish(cut);
        finished.catch(() => {});
        await held.promise;
        const delivered = proxy.deliver();
        await waiting(1);
        proxy.cut();
        await waiting(2);
        await during({ finished, release: () => holder.query("commit") });
        await delivered;
      } finally {
        holder.release(true);
      }
      return { email };
    }

    test("A115 are answered by success if PostgreSQL is still at work and commits later", async () => {
      const { email } = await whileSaving(async ({ finished, release }) => {
        await release();
        expect(await finished).toMatchObject({ name: "success", status: 200, payload: { user: {} } });
      });
      expect(await sessionsOf(email)).toBe(1);
    });

    test("A115 are answered with the loss of the connection if PostgreSQL is at work for too long", async () => {
      const { email } = await whileSaving(async ({ finished, release }) => {
        // Its answer waits neither to learn the outcome nor to release the claim.
        await expect(finished).rejects.toThrow(/connection terminated/i);
        await release();
      });
      await eventually(async () => {
        const { rows } = await runtime.database.read.$client.query(
          "select state from flows f join emails e on e.user_id = f.user_id where e.address = $1 and f.state = 'success' and f.type = 'login'",
          [email],
        );
        expect(rows).toHaveLength(1);
      });
    });
  });

  test.each(["40001", "40P01"])("A116 are sent three times after the error %s", async (code) => {
    let sent = 0;
    const failing = eachBatch((batch, connection) => {
      sent += 1;
      if (sent === 3) return undefined;
      fail(batch, connection, code);
      return "ended";
    });
    const { finish, newSessions } = await almostSignedIn();
    expect((await finish(failing)).name).toBe("success");
    expect([sent, await newSessions()]).toEqual([3, 1]);
  });
});

describe("a sign-in that waits for the lock of its account", () => {
  /** Runs sign-ins while a transaction holds their account, which `change` changes once they wait. */
  async function during(
    { email }: { email: string },
    finishing: () => Promise<unknown>[],
    change: (holder: PoolClient) => Promise<unknown> = async () => {},
  ): Promise<void> {
    const holder = await runtime.database.write.$client.connect();
    try {
      await holder.query("begin");
      await holder.query(
        "select from users u join emails e on e.user_id = u.id where e.address = $1 for update of u",
        [email],
      );
      const finished = finishing();
      await eventually(async () => {
        const { rows } = await runtime.database.read.$client.query(
          "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        );
        expect(rows).toHaveLength(finished.length);
      });
      await change(holder);
      await holder.query("commit");
      await Promise.all(finished);
    } finally {
      holder.release(true);
    }
  }

  test("counts the sessions that were written meanwhile", async () => {
    const server = runtime.configured({
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_SESSION_LIMIT: "1",
    });
    const one = await almostSignedIn();
    const other = await almostSignedIn(one.email);
    await during(one, () => [one.finish(server), other.finish(server)]);
    expect([one.flow.state.name, other.flow.state.name]).toEqual(["success", "success"]);
    expect(await sessionsOf(one.email)).toBe(1);
  });

  test.each([
    ["password", {}],
    ["password, whose hash is to be renewed,", { STILE_PASSWORD_HASH_PASSES: "3" }],
  ])("is rejected if its %s was replaced meanwhile", async (_, settings) => {
    const server = runtime.configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false", ...settings });
    const login = await almostSignedIn();
    await during(
      login,
      () => [login.finish(server)],
      (holder) => replaceHash((text, value) => holder.query(text, [value]), login.email),
    );
    expect(login.flow.state).toMatchObject({
      name: "login_password",
      error: { code: "form_data_invalid_error" },
    });
    expect(await login.newSessions()).toBe(0);
  });
});

test("a sign-in is written to the console after its commit", async () => {
  const server = runtime.configured({
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_AUDIT_LOG_CONSOLE_OUTPUT_ENABLED: "true",
  });
  const { flow, finish } = await almostSignedIn();
  await flow.act("password_login", { password: "not the password" }, { runtime: server });
  await finish(server);
  expect(server.audited.map((line) => JSON.parse(line).type)).toEqual(["login_failure", "login_success"]);
});

describe("what a sign-in wakes", () => {
  /** The same runtime, which notes what is woken. */
  const noting = (server: TestRuntime, woken: string[]): TestRuntime => ({
    ...server,
    jobs: { ...server.jobs, wake: (jobs) => void woken.push(...jobs.map(({ name }) => name)) },
    webhooks: { ...server.webhooks, wake: () => void woken.push("webhooks") },
  });
  const losing = () =>
    eachBatch((batch, connection) => {
      batch.handleReadyForQuery = () => fail(batch, connection, "ECONNRESET");
      return undefined;
    });

  test.each([
    ["its commit", () => runtime],
    ["its connection was lost", losing],
  ])("are the jobs, after %s", async (_, server) => {
    const { flow } = await almostSignedIn();
    const woken: string[] = [];
    const action = "continue_to_passcode_confirmation_recovery";
    await flow.act(action, {}, { runtime: noting(server(), woken) });
    expect([flow.state.name, woken]).toEqual(["passcode_confirmation", ["send_mail"]]);
  });

  const loginEvents = ["session.create.flow", "user.login"];

  test("are the deliveries to webhooks, of a webhook that was added while it was judged, too", async () => {
    const added = await almostSignedIn();
    const adding = eachBatch(async () => {
      await runtime.database.write.$client.query("delete from webhooks");
      await storeWebhook(runtime);
    });
    const woken: string[] = [];
    try {
      await added.finish(noting(adding, woken));
      expect((await storedEvents(runtime)).map(({ name }) => name)).toEqual(loginEvents);
      // The sign-ins are of browsers without a mark, whose owners a mail tells.
      expect(woken).toEqual(["webhooks", "send_mail"]);
      const present = await almostSignedIn();
      const before = (await storedEvents(runtime)).length;
      await present.finish(noting(runtime, woken));
      expect((await storedEvents(runtime)).slice(before).map(({ name }) => name)).toEqual(loginEvents);
      expect(woken).toEqual(["webhooks", "send_mail", "webhooks", "send_mail"]);
    } finally {
      await runtime.database.write.$client.query("delete from webhooks");
    }
  });
});

describe("a conflict with a concurrent change", () => {
  const conflicting = (email: string, second: () => Promise<unknown>) => {
    let sent = 0;
    return eachBatch(async () => {
      sent += 1;
      if (sent === 1) await replaceHash(query, email);
      else await second();
    });
  };

  test("is shown by the flow", async () => {
    const { finish, email, newSessions } = await almostSignedIn();
    expect(await finish(conflicting(email, async () => {}))).toMatchObject({
      name: "login_password",
      error: { code: "form_data_invalid_error" },
    });
    expect(await newSessions()).toBe(0);
  });

  test("is not shown by a flow whose claim is lost meanwhile: the step is rejected like any without a claim", async () => {
    const { finish, flow, email } = await almostSignedIn();
    const lost = conflicting(email, () => query("update flows set claim = null where id = $1", flow.flowId));
    expect(await finish(lost)).toMatchObject({
      name: "error",
      error: { code: "operation_not_permitted_error" },
    });
  });
});
