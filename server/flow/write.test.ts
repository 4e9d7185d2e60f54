import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { walk } from "../testing/flow-walk.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";

let runtime: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
});

afterAll(() => runtime.close());

type Transact = TestRuntime["database"]["write"]["transaction"];

/** The same runtime, with intercepted transactions. */
function between(change: (transact: Transact) => Transact): TestRuntime {
  const { write } = runtime.database;
  const transaction = change(write.transaction.bind(write) as Transact);
  const changed = new Proxy(write, {
    get: (target, name) => (name === "transaction" ? transaction : Reflect.get(target, name, target)),
  });
  return { ...runtime, database: { ...runtime.database, write: changed } };
}

/** A registration before its last action. */
async function almostRegistered() {
  const email = `${randomUUID()}@example.com`;
  const flow = await walk(runtime, "registration");
  await flow.act("register_client_capabilities");
  await flow.act("register_login_identifier", { email });
  return {
    sessions: () => sessionsOf(email),
    /** Performs the last action, whose write uses `server`. */
    finish: (server: TestRuntime) =>
      flow.act("register_password", { new_password: "correct horse battery" }, { runtime: server }),
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
    expect((await finish(runtime)).name).toBe("success");
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
