import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { Counted } from "../funnel/measures.ts";
import { walk } from "../testing/flow-walk.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { testClient } from "../testing/runtime.ts";
import { visitor } from "../testing/visitor.ts";
import { countSteps } from "./count-steps.ts";
import { step } from "./engine.ts";
import type { ObservedStep } from "./observed-step.ts";

const runtime = await runtimeForTests({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });

let steps: ObservedStep[] = [];
runtime.stepObservers.push((observed) => steps.push(observed));
beforeEach(() => {
  steps = [];
});

const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const password = "correct horse battery staple";

test("the time that an account took to sign up includes the step that completes it", async () => {
  const counted: Counted[] = [];
  const observe = countSteps({ count: (_, one) => void counted.push(one) });
  const registration = await walk(runtime, "registration");
  await registration.act("register_client_capabilities");
  await registration.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
  await registration.act("register_password", { new_password: password });
  for (const observed of steps) observe(observed, runtime.tenant);
  const [signedUp] = counted.filter(({ measure }) => measure === "signed_up");
  const last = steps.at(-1);
  expect(signedUp?.durationMs).toBe((last?.inFlowMs ?? 0) + (last?.milliseconds ?? 0));
  expect(last?.milliseconds).toBeGreaterThan(last?.waits.hash ?? 0);
});

describe("an observer of steps", () => {
  test("is told of the start, of each step and of the end of a flow", async () => {
    const client = { ...testClient, userAgent };
    const registration = await walk(runtime, "registration", { client });
    await registration.act("register_client_capabilities");
    await registration.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
    await registration.act("register_password", { new_password: password });
    expect(steps.map(({ from, action, verdict, to }) => [from, action, verdict, to])).toEqual([
      [null, null, "started", "preflight"],
      ["preflight", "register_client_capabilities", "performed", "registration_init"],
      ["registration_init", "register_login_identifier", "performed", "password_creation"],
      ["password_creation", "register_password", "performed", "success"],
    ]);
    expect(steps.map(({ isStart }) => isStart)).toEqual([true, false, false, false]);
    expect(steps.map(({ isEnd }) => isEnd)).toEqual([false, false, false, true]);
    expect(steps[3]).toMatchObject({
      tenantId: runtime.tenant.id,
      flowId: registration.flowId,
      type: "registration",
      error: null,
      client: { platform: "Linux", browser: "Chrome", embedding: "client" },
    });
    expect(steps[1]?.client.capabilities).toMatchObject({ webauthn: false });
  });

  test("is told what a step has waited for, and how long", async () => {
    const registration = await walk(runtime, "registration");
    await registration.act("register_client_capabilities");
    await registration.act("register_login_identifier", { email: `${randomUUID()}@example.com` });
    await registration.act("register_password", { new_password: password });
    for (const { waits, milliseconds } of steps) {
      expect(waits.statements).toBeGreaterThan(0);
      expect(waits.database).toBeGreaterThan(0);
      expect(waits.database + waits.hash).toBeLessThanOrEqual(milliseconds);
    }
    expect(steps.map(({ waits }) => waits.hash > 0)).toEqual([false, false, false, true]);
    expect(steps.map(({ waits }) => waits.provider)).toEqual([0, 0, 0, 0]);
  });

  test("is told the inputs by name, kind and length alone", async () => {
    const login = await walk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email: "unknown@example.com", "my secret": "x" });
    expect(steps.slice(1).map(({ inputs }) => inputs)).toEqual([
      [
        { name: "webauthn_available", kind: "boolean", length: null },
        { name: "webauthn_conditional_mediation_available", kind: "boolean", length: null },
        { name: "webauthn_platform_authenticator_available", kind: "boolean", length: null },
      ],
      [{ name: "email", kind: "string", length: 19 }],
    ]);
  });

  test("is told why the rest is not offered", async () => {
    const login = await walk(runtime, "login");
    await login.act("register_client_capabilities");
    expect(steps[1]?.notOffered?.actions).toMatchObject({
      webauthn_generate_request_options: ["!capability:webauthn"],
    });
    expect(steps[1]?.notOffered?.states).toMatchObject({ preflight: ["circumstance:preflight"] });
  });

  test("is told the precise error of a rejected action and of a malformed input", async () => {
    const login = await walk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("continue_with_login_identifier", { email: "" });
    await login.act("continue_with_login_identifier", { email: "unknown@example.com" });
    await login.act("continue_to_password_login");
    await login.act("password_login", { password: "wrong password" });
    expect(steps.slice(2).map(({ verdict, error, to }) => [verdict, error, to])).toEqual([
      ["rejected_input", "value_missing_error", "login_init"],
      ["performed", null, "login_method_chooser"],
      ["performed", null, "login_password"],
      ["error", "value_invalid_error", "login_password"],
    ]);
  });

  test("is told of a step with a stale token, and of an action that is not offered", async () => {
    const login = await walk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("register_client_capabilities", {}, { token: "stale" });
    await login.act("password_login", { password });
    await login.act("no_such_action");
    expect(
      steps.slice(2).map(({ from, action, verdict, error, to }) => [from, action, verdict, error, to]),
    ).toEqual([
      [null, "register_client_capabilities", "refused", "operation_not_permitted_error", "error"],
      ["login_init", "password_login", "refused", "operation_not_permitted_error", "error"],
      ["login_init", null, "refused", "operation_not_permitted_error", "error"],
    ]);
  });

  test("is not told of flows that do not exist", async () => {
    const call = { type: "login", flowId: randomUUID(), action: "back", token: "x", input: {} } as const;
    await step(runtime, runtime.tenant, testClient, call);
    expect(steps).toEqual([]);
  });

  test("knows how long a state was shown, by another process too", async () => {
    const login = await walk(runtime, "login");
    await login.act("register_client_capabilities");
    runtime.advanceClock(20);
    await login.act("continue_with_login_identifier", { email: "unknown@nowhere" });
    runtime.advanceClock(22);
    const other = runtime.configured({});
    other.stepObservers.push((observed) => steps.push(observed));
    await login.act("continue_with_login_identifier", { email: "unknown@example.com" }, { runtime: other });
    const shown = steps.slice(2).map(({ inStateMs }) => Math.floor((inStateMs ?? 0) / 1000));
    expect(shown).toEqual([20, 42]);
  });

  test("tells our page from other clients", async () => {
    await visitor(runtime).mutate("flow.start", { type: "login" });
    await visitor(runtime).post("/login", {});
    expect(steps.map(({ client }) => client.embedding)).toEqual(["page", "client"]);
  });

  test("does not change the answer if it fails", async () => {
    const failing = runtime.configured({});
    failing.stepObservers.push(() => {
      throw new Error("an observer failed");
    });
    const login = await walk(failing, "login");
    expect((await login.act("register_client_capabilities")).name).toBe("login_init");
  });
});
