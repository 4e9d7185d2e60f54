import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { writeOf } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import { isTemporaryFailure } from "../http/answer/temporary-failure.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { type Walk, walk } from "../testing/flow-walk.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { codeFor } from "../testing/people.ts";
import { type TestRuntime, testClient, testRuntime } from "../testing/runtime.ts";
import { capabilitiesInputOf } from "./capabilities.ts";
import { current, peek } from "./current.ts";
import { start, step } from "./engine.ts";

const runtime = await runtimeForTests({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });

const newAddress = () => `${randomUUID()}@example.com`;
const forbidden = {
  name: "error",
  status: 403,
  actions: {},
  csrf_token: "",
  error: { code: "operation_not_permitted_error" },
};

/** A registration before its last action. */
async function registrationBeforeLastAction(with_: TestRuntime = runtime, email = newAddress()) {
  const flow = await walk(with_, "registration");
  await flow.act("register_client_capabilities");
  await flow.act("register_login_identifier", { email });
  if (flow.state.name === "passcode_confirmation")
    await flow.act("verify_passcode", { code: codeFor(with_, email) });
  expect(flow.state.name).toBe("password_creation");
  return flow;
}

const lastAction = { action: "register_password", input: { new_password: "correct horse battery" } };

describe("the token of a step", () => {
  test("A30 is accepted in exactly one of fifty identical requests", async () => {
    const email = newAddress();
    const flow = await registrationBeforeLastAction(runtime, email);
    const token = flow.state.csrf_token;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        step(runtime, runtime.tenant, testClient, {
          type: "registration",
          flowId: flow.flowId,
          token,
          ...lastAction,
        }),
      ),
    );
    expect(answers.filter(({ state }) => state.name === "success")).toHaveLength(1);
    for (const { state } of answers.filter(({ state }) => state.name !== "success"))
      expect(state).toMatchObject(forbidden);
    const { rows } = await runtime.database.read.$client.query(
      "select count(*)::int as sessions from sessions s join emails e on e.user_id = s.user_id where e.address = $1",
      [email],
    );
    expect(rows).toEqual([{ sessions: 1 }]);
  });

  test("A29 is rejected if a newer one was issued", async () => {
    const flow = await walk(runtime, "login");
    const used = flow.state.csrf_token;
    await flow.act("register_client_capabilities");
    expect(await flow.act("register_client_capabilities", {}, { token: used })).toMatchObject(forbidden);
    expect((await flow.act("continue_with_login_identifier", { email: newAddress() })).status).toBe(200);
  });

  test.each([
    ["empty", ""],
    ["short", "x"],
    ["unknown", "0".repeat(32)],
    ["oversized", "A".repeat(5000)],
  ])("A28 is rejected if it is %s", async (_, token) => {
    const flow = await walk(runtime, "login");
    expect(await flow.act("register_client_capabilities", {}, { token })).toMatchObject(forbidden);
    expect((await flow.act("register_client_capabilities")).name).toBe("login_init");
  });
});

describe("step", () => {
  test("rejects a wrong type, another tenant and an unknown id with the same answer", async () => {
    const flow = await walk(runtime, "login");
    const token = flow.state.csrf_token;
    const request = { flowId: flow.flowId, token, action: "register_client_capabilities", input: {} };
    const otherTenant = { ...runtime.tenant, id: randomUUID() };
    const answers = [
      await step(runtime, runtime.tenant, testClient, { ...request, type: "registration" }),
      await step(runtime, otherTenant, testClient, { ...request, type: "login" }),
      await step(runtime, runtime.tenant, testClient, { ...request, type: "login", flowId: randomUUID() }),
    ];
    for (const { state } of answers) expect(state).toMatchObject(forbidden);
    expect((await flow.act("register_client_capabilities")).status).toBe(200);
  });

  test("A31 A32 rejects actions that are not offered now, belong to another state or do not exist", async () => {
    const flow = await walk(runtime, "registration");
    for (const action of [
      "register_password",
      "back",
      "skip",
      "webauthn_verify_attestation_response",
      "toString",
      "__proto__",
      "",
    ]) {
      expect(await flow.act(action)).toMatchObject(forbidden);
    }
    expect((await flow.act("register_client_capabilities")).status).toBe(200);
  });

  test("rejects a version that is not the current one", async () => {
    const flow = await walk(runtime, "login");
    const request = {
      type: "login",
      flowId: flow.flowId,
      token: flow.state.csrf_token,
      action: "register_client_capabilities",
      input: capabilitiesInputOf({}),
    } as const;
    expect((await step(runtime, runtime.tenant, testClient, { ...request, version: 7 })).state).toMatchObject(
      forbidden,
    );
    const { version } = flow.answer;
    expect((await step(runtime, runtime.tenant, testClient, { ...request, version })).state.name).toBe(
      "login_init",
    );
  });

  test("A33 rejects every action after success with 403, and after the flow's lifetime with 410", async () => {
    const ageing = await testRuntime({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
    const flow = await registrationBeforeLastAction(ageing);
    const open = await walk(ageing, "login");
    await flow.act(lastAction.action, lastAction.input);
    expect(flow.state.name).toBe("success");
    expect(await flow.act("back")).toMatchObject(forbidden);
    ageing.advanceClock(3590);
    expect((await open.act("register_client_capabilities")).status).toBe(200);
    ageing.advanceClock(20);
    const expired = {
      name: "error",
      status: 410,
      actions: {},
      csrf_token: "",
      error: { code: "flow_expired_error" },
    };
    expect(await open.act("continue_with_login_identifier", { email: newAddress() })).toMatchObject(expired);
    expect(await flow.act("back")).toMatchObject(expired);
    await ageing.close();
  });
});

describe("a claim", () => {
  test("excludes other requests until it expires", async () => {
    const flow = await walk(runtime, "login");
    const hold = (until: string) =>
      runtime.database.write.$client.query(
        `update flows set claim = gen_random_uuid(), claimed_until = clock_timestamp() + interval '${until}' where id = $1`,
        [flow.flowId],
      );
    await hold("10 s");
    expect(await flow.act("register_client_capabilities")).toMatchObject(forbidden);
    await hold("-1 ms");
    expect((await flow.act("register_client_capabilities")).name).toBe("login_init");
  });

  test("writes nothing after it was lost", async () => {
    const email = newAddress();
    const flow = await registrationBeforeLastAction(runtime, email);
    let proceed = () => {};
    const hashing = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const { passwordHasher } = runtime;
    const slow: TestRuntime = {
      ...runtime,
      passwordHasher: {
        ...passwordHasher,
        async hash(password) {
          await hashing;
          return passwordHasher.hash(password);
        },
      },
    };
    const slowStep = flow.act(lastAction.action, lastAction.input, { runtime: slow });
    // Wait until the slow step holds its claim.
    for (let isClaimed = false; !isClaimed; ) {
      const { rows } = await runtime.database.read.$client.query("select claim from flows where id = $1", [
        flow.flowId,
      ]);
      isClaimed = rows[0].claim !== null;
    }
    const shown = await current(runtime, runtime.tenant, testClient, {
      type: "registration",
      flowId: flow.flowId,
      resume: flow.resume,
    });
    proceed();
    expect(await slowStep).toMatchObject(forbidden);
    const { rows } = await runtime.database.read.$client.query("select 1 from emails where address = $1", [
      email,
    ]);
    expect(rows).toEqual([]);
    expect(
      (await flow.act(lastAction.action, lastAction.input, { token: shown.state.csrf_token })).name,
    ).toBe("success");
  });

  test("is released when a step fails, and nothing of the step is stored", async () => {
    const email = newAddress();
    const flow = await walk(runtime, "login");
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email });
    const broken: TestRuntime = {
      ...runtime,
      jobs: {
        ...runtime.jobs,
        insertion: async () =>
          writeOf({
            name: "broken_job",
            text: "job as (select 1 / 0 as zero)",
            values: [],
            returns: "(select zero from job)",
          }),
      },
    };
    await expect(flow.act("continue_to_passcode_confirmation", {}, { runtime: broken })).rejects.toThrow(
      "division by zero",
    );
    const { rows } = await runtime.database.read.$client.query("select 1 from passcodes where flow_id = $1", [
      flow.flowId,
    ]);
    expect(rows).toEqual([]);
    expect((await flow.act("continue_to_passcode_confirmation")).name).toBe("passcode_confirmation");
  });
});

describe("current, after a lost answer", () => {
  test("waits for a step that is being judged, and shows its result", async () => {
    const verifying = await testRuntime();
    const email = newAddress();
    const flow = await registrationBeforeLastAction(verifying, email);
    const request = { type: "registration", flowId: flow.flowId, resume: flow.resume } as const;
    const [, looked] = await Promise.all([
      flow.act(lastAction.action, lastAction.input),
      (async () => {
        for (let claimed = false; !claimed; ) {
          const { rows } = await verifying.database.read.$client.query(
            "select claimed_by is not null or finished_at is not null as claimed from flows where id = $1",
            [flow.flowId],
          );
          claimed = rows[0].claimed;
        }
        return current(verifying, verifying.tenant, testClient, request);
      })(),
    ]);
    expect(flow.state.name).toBe("success");
    expect(looked.state.name).toBe("success");
    expect(looked.session?.id).toBe(flow.answer.session?.id);
    await verifying.close();
  });

  test("does not wait forever for a save that hangs, and the flow continues after it", async () => {
    const flow = await registrationBeforeLastAction();
    const request = { type: "registration", flowId: flow.flowId, resume: flow.resume } as const;
    const holder = await runtime.database.write.$client.connect();
    await holder.query("begin");
    await holder.query("select from flows where id = $1 for update", [flow.flowId]);
    const failure = await current(runtime, runtime.tenant, testClient, request).catch((error) => error);
    await holder.query("rollback");
    holder.release();
    expect(isTemporaryFailure(failure)).toBe(true);
    expect((await current(runtime, runtime.tenant, testClient, request)).state.name).toBe(flow.state.name);
  });

  test("shows the current state with a new token, and performs nothing", async () => {
    const flow = await registrationBeforeLastAction();
    const request = { type: "registration", flowId: flow.flowId, resume: flow.resume } as const;
    const before = flow.state;
    const { state, version } = await current(runtime, runtime.tenant, testClient, request);
    expect({ ...state, csrf_token: "" }).toEqual({ ...before, csrf_token: "" });
    expect(state.csrf_token).not.toBe(before.csrf_token);
    expect(version).toBe(flow.answer.version);
    expect(await flow.act(lastAction.action, lastAction.input)).toMatchObject(forbidden);
    expect((await flow.act(lastAction.action, lastAction.input, { token: state.csrf_token })).name).toBe(
      "success",
    );
  });

  test("shows the error of the lost answer", async () => {
    const flow = await registrationBeforeLastAction();
    await flow.act("register_password", { new_password: "short" });
    const request = { type: "registration", flowId: flow.flowId, resume: flow.resume } as const;
    const { state } = await current(runtime, runtime.tenant, testClient, request);
    expect({ ...state, csrf_token: "" }).toEqual({ ...flow.state, csrf_token: "" });
  });

  test("issues the same session again at success, for a minute", async () => {
    const ageing = await testRuntime({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
    const flow = await registrationBeforeLastAction(ageing);
    await flow.act(lastAction.action, lastAction.input);
    const request = { type: "registration", flowId: flow.flowId, resume: flow.resume } as const;
    const again = await current(ageing, ageing.tenant, testClient, request);
    expect(again.state).toMatchObject({ name: "success", payload: flow.state.payload });
    expect(again.session?.id).toBe(flow.answer.session?.id);
    expect((await peek(ageing, ageing.tenant, request))?.state.name).toBe("success");
    ageing.advanceClock(61);
    expect(await peek(ageing, ageing.tenant, request)).toBeNull();
    expect((await current(ageing, ageing.tenant, testClient, request)).state).toMatchObject(forbidden);
    await ageing.close();
  });

  test("requires the resume secret of the same flow", async () => {
    const [flow, other] = [await walk(runtime, "login"), await walk(runtime, "login")];
    const request = { type: "login", flowId: flow.flowId, resume: other.resume } as const;
    expect((await current(runtime, runtime.tenant, testClient, request)).state).toMatchObject(forbidden);
    expect(await peek(runtime, runtime.tenant, request)).toBeNull();
    expect((await flow.act("register_client_capabilities")).status).toBe(200);
  });

  test("shows fresh passkey options with the first state", async () => {
    const flow = await walk(runtime, "login");
    await flow.act("register_client_capabilities", {
      webauthn_available: true,
      webauthn_conditional_mediation_available: true,
    });
    const request = { type: "login", flowId: flow.flowId, resume: flow.resume } as const;
    const peeked = await peek(runtime, runtime.tenant, request);
    expect(peeked?.state).toEqual({ ...flow.state, csrf_token: "" });
    const { state } = await current(runtime, runtime.tenant, testClient, request);
    const challenge = ({ payload }: typeof state) =>
      (payload.request_options as { publicKey: { challenge: string } }).publicKey.challenge;
    expect(challenge(state)).not.toBe(challenge(flow.state));
    expect((await flow.act("remember_me", {}, { token: state.csrf_token })).status).toBe(403);
    expect(
      (await flow.act("continue_with_login_identifier", { email: newAddress() }, { token: state.csrf_token }))
        .status,
    ).toBe(200);
  });
});

describe("the resume secret", () => {
  const request = ({ flowId }: Walk, resume: string) => ({ type: "login" as const, flowId, resume });
  const ask = (flow: Walk, resume: string) =>
    current(runtime, runtime.tenant, testClient, request(flow, resume));

  test("is new in every answer that shows a state", async () => {
    const flow = await walk(runtime, "login");
    const secrets = [flow.resume];
    await flow.act("register_client_capabilities");
    secrets.push(flow.resume);
    await flow.act("continue_with_login_identifier", {});
    expect(flow.state.status).toBe(400);
    secrets.push(flow.resume);
    secrets.push((await ask(flow, flow.resume)).resume ?? "");
    expect(new Set(secrets).size).toBe(4);
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
    expect((await flow.act("remember_me")).name).toBe("error");
    expect(flow.resume).toBe(secrets[2]);
  });

  test("A127 is accepted until the answer after the next one", async () => {
    const flow = await walk(runtime, "login");
    const first = flow.resume;
    await flow.act("register_client_capabilities");
    expect((await peek(runtime, runtime.tenant, request(flow, first)))?.state.name).toBe("login_init");
    await flow.act("continue_with_login_identifier", { email: newAddress() });
    expect(await peek(runtime, runtime.tenant, request(flow, first))).toBeNull();
    expect((await ask(flow, first)).state).toMatchObject(forbidden);
    expect((await ask(flow, flow.resume)).state.name).toBe("login_method_chooser");
  });

  test("leads to the same secret however often an answer is lost, and in every tab", async () => {
    const flow = await walk(runtime, "login");
    const lost = flow.resume;
    await flow.act("register_client_capabilities");
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(flow, lost)));
    expect(answers.map(({ state }) => state.name)).toContain("login_init");
    const again = await ask(flow, lost);
    expect(again.state.name).toBe("login_init");
    expect(again.resume).toBe(flow.resume);
    const action = { type: "login", flowId: flow.flowId, action: "continue_with_login_identifier" } as const;
    const { state } = await step(runtime, runtime.tenant, testClient, {
      ...action,
      token: again.state.csrf_token,
      input: { email: newAddress() },
    });
    expect(state.name).toBe("login_method_chooser");
  });

  test("of a flow from before an upgrade is accepted", async () => {
    const flow = await walk(runtime, "login");
    const { rows } = await runtime.database.read.$client.query(
      "select previous_resume_hash from flows where id = $1",
      [flow.flowId],
    );
    expect(rows).toEqual([{ previous_resume_hash: null }]);
    expect((await ask(flow, flow.resume)).state.name).toBe("preflight");
  });

  test("is stored as a hash only", async () => {
    const flow = await walk(runtime, "login");
    await flow.act("register_client_capabilities");
    const { rows } = await runtime.database.read.$client.query("select * from flows where id = $1", [
      flow.flowId,
    ]);
    expect(rows).toHaveLength(1);
    const text = JSON.stringify(rows) + rows[0].resume_hash.toString("base64url");
    expect(text).not.toContain(flow.resume);
  });
});

test("A30 a step with another token costs no attempt at a code", async () => {
  const verified = runtime.configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "true" });
  const email = newAddress();
  const flow = await walk(verified, "registration");
  await flow.act("register_client_capabilities");
  const token = flow.state.csrf_token;
  await flow.act("register_login_identifier", { email });
  for (let tries = 0; tries < 5; tries += 1) {
    const { state } = await step(verified, verified.tenant, testClient, {
      type: "registration",
      flowId: flow.flowId,
      action: "verify_passcode",
      token,
      input: { code: "000000" },
    });
    expect(state).toMatchObject(forbidden);
  }
  expect((await flow.act("verify_passcode", { code: codeFor(verified, email) })).name).toBe(
    "password_creation",
  );
});

test("A129 the budget of a source in one tenant is apart from that in another", async () => {
  const limited = runtime.configured({
    STILE_RATE_LIMITER_ENABLED: "true",
    STILE_RATE_LIMITER_STEPS_PER_SOURCE: "20",
  });
  const { id } = await createTenant(limited, { name: "Acme", hosts: [], settings: {} });
  const statuses = async (tenant: Tenant) => {
    const client = { ...testClient, source: "198.51.100.8" };
    const flow = await walk({ ...limited, tenant }, "login", { client });
    await flow.act("register_client_capabilities");
    const tried = [];
    for (let tries = 0; tries < 20; tries += 1)
      tried.push((await flow.act("continue_with_login_identifier", { email: "x" })).status);
    return tried;
  };
  const [first, ...others] = await statuses(limited.tenant);
  expect(first).toBe(400);
  expect(others).toContain(429);
  expect(await statuses({ ...limited.tenant, id })).toEqual([first, ...others]);
});

test("start is rate limited per source, and returns the seconds to wait", async () => {
  const limited = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
  const client = { ...testClient, source: "198.51.100.7" };
  const statuses = new Set<number>();
  for (let starts = 0; starts < 61; starts += 1) {
    const { state } = await start(limited, limited.tenant, client, "login");
    statuses.add(state.status);
    if (state.status === 429) {
      expect(state).toMatchObject({ name: "error", actions: {}, error: { code: "rate_limit_exceeded" } });
      expect(state.payload.resend_after).toBeGreaterThanOrEqual(1);
    }
  }
  expect(statuses).toEqual(new Set([200, 429]));
  expect((await start(limited, limited.tenant, testClient, "login")).state.status).toBe(200);
});
