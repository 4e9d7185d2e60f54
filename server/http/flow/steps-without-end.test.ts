import { describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { mailedCode, password, type RestWalk, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";

const base = await runtimeForTests({ STILE_RATE_LIMITER_ENABLED: "true" });

/** A runtime that notes how many passwords are hashed at once. */
function observed(): { runtime: TestRuntime; most: () => number } {
  let [active, most] = [0, 0];
  const { passwordHasher } = base;
  const runtime = {
    ...base,
    passwordHasher: {
      waiting: 0,
      get full() {
        return passwordHasher.full;
      },
      verify: passwordHasher.verify,
      async hash(text: string, signal?: AbortSignal) {
        active += 1;
        most = Math.max(most, active);
        return passwordHasher.hash(text, signal).finally(() => {
          active -= 1;
        });
      },
    },
  };
  return { runtime, most: () => most };
}

/** Profile flows of one account, each from another source. */
async function profiles(runtime: TestRuntime, owner: Visitor, count: number): Promise<RestWalk[]> {
  const flows: RestWalk[] = [];
  for (let index = 0; index < count; index += 1) {
    const browser = visitor(runtime, `198.51.100.${index + 1}`);
    for (const [name, value] of owner.cookies) browser.cookies.set(name, value);
    const flow = await restWalk(runtime, "profile", browser);
    await flow.act("register_client_capabilities");
    flows.push(flow);
  }
  return flows;
}

const counted = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

async function signsIn(runtime: TestRuntime, email: string, peer = "192.0.2.200"): Promise<string> {
  const flow = await restWalk(runtime, "login", visitor(runtime, peer));
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_password_login");
  return (await flow.act("password_login", { password })).name;
}

describe("A129 parallel steps of one account", () => {
  test.each([70, 140])("change its password a few times of %i, two hashes at once", async (count) => {
    const { runtime, most } = observed();
    const [email, another] = [newAddress(), newAddress()];
    const owner = await restRegistration(runtime, email);
    await restRegistration(runtime, another);
    const flows = await profiles(runtime, owner.visitor, count);
    base.advanceClock(60);
    const [states, other] = await Promise.all([
      Promise.all(
        flows.map((flow, index) => flow.act("password_update", { password: `a new password ${index}` })),
      ),
      signsIn(runtime, another),
    ]);
    const statuses = states.map(({ status }) => status);
    expect(other).toBe("success");
    expect(counted(statuses, 200)).toBeGreaterThan(0);
    expect(counted(statuses, 200)).toBeLessThanOrEqual(13);
    expect(statuses.every((status) => [200, 400, 429].includes(status))).toBe(true);
    expect(most()).toBeLessThanOrEqual(2);
    const refused = states.find(({ status }) => status === 429);
    expect(refused).toMatchObject({
      name: "profile_init",
      error: { code: "rate_limit_exceeded" },
      payload: { retry_after: expect.any(Number) },
    });
    expect(flows.some(({ response }) => Number(response.headers.get("retry-after")) >= 1)).toBe(true);
  });

  test("patch its metadata within its budget, which a minute renews", async () => {
    const owner = await restRegistration(base, newAddress());
    const flows = await profiles(base, owner.visitor, 140);
    base.advanceClock(60);
    const states = await Promise.all(
      flows.map((flow, index) => flow.act("patch_metadata", { patch_metadata: { [`member${index}`]: 1 } })),
    );
    const statuses = states.map(({ status }) => status);
    expect(counted(statuses, 200)).toBeGreaterThan(0);
    expect(counted(statuses, 200)).toBeLessThanOrEqual(80);
    expect(counted(statuses, 429)).toBeGreaterThan(0);
    // A machine that is busy turns some away (503) before they are judged.
    expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
    base.advanceClock(60);
    const [flow] = flows;
    expect((await flow?.act("patch_metadata", { patch_metadata: { after: 1 } }))?.status).toBe(200);
  });

  test("are judged one after the other without a limit in sight of a person", async () => {
    const owner = await restRegistration(base, newAddress());
    const [flow] = await profiles(base, owner.visitor, 1);
    const statuses = [];
    for (let change = 0; change < 40; change += 1)
      statuses.push((await flow?.act("patch_metadata", { patch_metadata: { change } }))?.status);
    expect(statuses).toEqual(Array(40).fill(200));
  });
});

describe("A129 passkey responses that fail", () => {
  const response = { id: "AAAA", rawId: "AAAA", type: "public-key", response: {} };

  test("are rejected without a look at them beyond the budget of their source, then without the flow", async () => {
    const peer = "203.0.113.50";
    const flow = await restWalk(base, "login", visitor(base, peer));
    await flow.act("register_client_capabilities", { webauthn_available: true });
    const statuses: number[] = [];
    while (flow.state.name !== "error" && statuses.length < 200)
      statuses.push(
        (await flow.act("webauthn_verify_assertion_response", { assertion_response: response })).status,
      );
    expect(counted(statuses, 401)).toBeGreaterThan(100);
    expect(counted(statuses, 401)).toBeLessThanOrEqual(171);
    // Ten answers show the state; the next one costs no statement, and the flow is as it was.
    expect(counted(statuses, 429)).toBe(11);
    expect(flow.response.headers.get("retry-after")).toMatch(/^\d+$/);
    // Another person at the source shares the budget, and still gets the state.
    const neighbour = await restWalk(base, "login", visitor(base, peer));
    expect(await neighbour.act("register_client_capabilities")).toMatchObject({
      name: "preflight",
      status: 429,
    });
    base.advanceClock(61);
    const other = await restWalk(base, "login", visitor(base, peer));
    expect((await other.act("register_client_capabilities")).name).toBe("login_init");
  });

  const auditEntries = async (peer: string) => {
    const { rows } = await base.database.read.$client.query<{
      type: string;
      user_id: string | null;
      details: object;
    }>("select type, user_id, details from audit_logs where ip_address = $1 order by created_at", [peer]);
    return rows;
  };

  test("leave a hundred audit entries of a source in an hour, on two servers together, and one that says so", async () => {
    const peer = "203.0.113.51";
    const settings = { STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" };
    const servers = [base.configured(settings), base.configured(settings)] as const;
    const flows = await Promise.all(
      servers.map(async (server) => {
        const flow = await restWalk(server, "login", visitor(server, peer));
        await flow.act("register_client_capabilities", { webauthn_available: true });
        return flow;
      }),
    );
    const statuses: number[] = [];
    for (let round = 0; round < 75; round += 1) {
      const states = await Promise.all(
        flows.map((flow) => flow.act("webauthn_verify_assertion_response", { assertion_response: response })),
      );
      statuses.push(...states.map(({ status }) => status));
    }
    expect(counted(statuses, 401)).toBe(150);
    const entries = await auditEntries(peer);
    expect(entries.filter(({ type }) => type === "login_failure")).toHaveLength(100);
    expect(entries.slice(100)).toEqual([
      { type: "audit_limit_reached", user_id: null, details: { source: peer, per_hour: 100 } },
    ]);

    // Neither a success at that source nor a failure of a signed-in user there is left out.
    const [server] = servers;
    const email = newAddress();
    const { visitor: owner } = await restRegistration(server, email);
    expect(await signsIn(base, email, peer)).toBe("success");
    base.advanceClock(1800);
    const browser = visitor(server, peer);
    for (const [name, value] of owner.cookies) browser.cookies.set(name, value);
    const profile = await restWalk(server, "profile", browser);
    await profile.act("register_client_capabilities");
    expect((await profile.act("password_update", { password: "another one" })).name).toBe("login_password");
    expect((await profile.act("password_login", { password: "not it" })).status).toBe(400);
    expect((await auditEntries(peer)).slice(101)).toMatchObject([
      { type: "login_success" },
      { type: "login_failure", user_id: expect.any(String), details: { method: "password" } },
    ]);
  });
});

test("A129 a passkey response beyond the budget leaves no options, with which clients would go on", async () => {
  const limited = base.configured({ STILE_RATE_LIMITER_STEPS_PER_SOURCE: "15" });
  const flow = await restWalk(limited, "login", visitor(limited, "203.0.113.60"));
  await flow.act("register_client_capabilities", { webauthn_available: true });
  await flow.act("continue_with_login_identifier", { email: newAddress() });
  const { payload } = await flow.act("webauthn_generate_request_options");
  expect(payload).toHaveProperty("request_options");
  const response = { id: "AAAA", rawId: "AAAA", type: "public-key", response: {} };
  const state = await flow.act("webauthn_verify_assertion_response", { assertion_response: response });
  expect(state).toMatchObject({ name: "login_passkey", status: 429, error: { code: "rate_limit_exceeded" } });
  expect(state.payload).not.toHaveProperty("request_options");
});

test("A95 A129 one source occupies the hasher with eight passwords, whichever identifiers it names", async () => {
  const opened = Promise.withResolvers<void>();
  let active = 0;
  const passwordHasher = {
    ...base.passwordHasher,
    full: false,
    waiting: 0,
    async verify() {
      active += 1;
      await opened.promise;
      return { ok: false, outdated: false };
    },
  };
  const runtime = { ...base, passwordHasher };
  const flows = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const flow = await restWalk(runtime, "login", visitor(runtime, "203.0.113.210"));
      await flow.act("register_client_capabilities");
      await flow.act("continue_with_login_identifier", { email: newAddress() });
      await flow.act("continue_to_password_login");
      return flow;
    }),
  );
  const steps = flows.map((flow) => flow.act("password_login", { password: "wrong" }));
  await eventually(() => expect(active).toBeGreaterThanOrEqual(8));
  const elsewhere = restWalk(runtime, "login", visitor(runtime, "203.0.113.211"));
  expect((await (await elsewhere).act("register_client_capabilities")).status).toBe(200);
  expect(active).toBe(8);
  opened.resolve();
  for (const { status } of await Promise.all(steps)) expect([400, 429]).toContain(status);
});

test("A129 strangers cannot use up the budget of an account that they only name", async () => {
  const email = newAddress();
  await restRegistration(base, email);
  const strangers = Array.from({ length: 40 }, async (_, index) => {
    const flow = await restWalk(base, "login", visitor(base, `203.0.113.${100 + index}`));
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email });
    for (let step = 0; step < 10; step += 1) {
      await flow.act("continue_to_password_login");
      await flow.act("back");
    }
    return flow.state.status;
  });
  expect(counted(await Promise.all(strangers), 200)).toBe(40);
  expect(await signsIn(base, email)).toBe("success");
});

test("A129 the holder of a stolen session cannot keep the owner from recovering the account", async () => {
  const email = newAddress();
  const owner = await restRegistration(base, email);
  const [stolen] = await profiles(base, owner.visitor, 1);
  for (let attempt = 0; attempt < 20; attempt += 1) await stolen?.act("password_update", { password: "" });
  expect(stolen?.state.status).toBe(429);

  const flow = await restWalk(base, "login", visitor(base, "192.0.2.201"));
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_password_login");
  await flow.act("continue_to_passcode_confirmation_recovery");
  await flow.act("verify_passcode", { code: mailedCode(base, email) });
  expect((await flow.act("password_recovery", { new_password: "six herons over the lake" })).name).toBe(
    "success",
  );
});

test("A129 the current state is shown to a source as often as pages are", async () => {
  const limited = base.configured({ STILE_RATE_LIMITER_PAGES_PER_MINUTE: "10" });
  const browser = visitor(limited, "203.0.113.200");
  await browser.mutate("flow.start", { type: "login" });
  const statuses = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    const response = await browser.mutate("flow.current", { type: "login" });
    const { result } = (await response.json()) as { result: { data: { state: { status: number } } } };
    statuses.push(result.data.state.status);
  }
  expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
});
