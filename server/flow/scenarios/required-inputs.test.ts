import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import type { HostFlow } from "../../testing/kit/host-calls.ts";
import { startAt } from "../../testing/kit/start-at.ts";
import { newAddress, password } from "../../testing/people.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { userWithEverything } from "../../testing/user-with-everything.ts";
import { visitor } from "../../testing/visitor.ts";
import { actionInputs } from "../input-schemas.ts";
import { describeInputs, parseInput } from "../inputs.ts";
import { type StateName, stateNames } from "../names.ts";
import type { ActionDescriptor, FlowState, InputDescriptor } from "../wire.ts";

/** What an action's descriptor calls required is refused if it is missing, and nothing else is. */

const settings: Record<string, Record<string, string>> = {
  "the default settings": {},
  "usernames and optional addresses": {
    STILE_USERNAME_ENABLED: "true",
    STILE_USERNAME_OPTIONAL: "true",
    STILE_EMAIL_OPTIONAL: "true",
  },
  "required usernames, without addresses": {
    STILE_USERNAME_ENABLED: "true",
    STILE_USERNAME_OPTIONAL: "false",
    STILE_EMAIL_ENABLED: "false",
  },
  "everything that sessions and passwords may ask for": {
    STILE_SESSION_COOKIE_RETENTION: "prompt",
    STILE_SESSION_SHOW_ON_PROFILE: "true",
    STILE_ACCOUNT_METADATA_EDITOR: "true",
    STILE_PASSKEY_CONDITIONAL_CREATE: "true",
  },
};

const requiredOf = (inputs: Record<string, InputDescriptor>) =>
  Object.values(inputs)
    .filter(({ required }) => required)
    .map(({ name }) => name)
    .sort();

describe.each(Object.entries(settings))("under %s", (_, variables) => {
  const config = loadConfig(variables, "/nonexistent");
  const declared = stateNames.flatMap((state) => actionInputs(state, config));

  test.each(declared.map(({ state, action, input }) => [state, action, input] as const))(
    "%s %s names exactly its required inputs as missing",
    (_state, _action, schema) => {
      const { inputs } = describeInputs(schema);
      const required = requiredOf(inputs);
      for (const nothing of [undefined, null, ""]) {
        const sent = Object.fromEntries(Object.keys(inputs).map((name) => [name, nothing]));
        const parsed = parseInput(schema, nothing === undefined ? {} : sent);
        const missing = parsed.ok ? {} : parsed.inputs;
        expect(Object.keys(missing).sort()).toEqual(required);
        expect(Object.values(missing).every(({ code }) => code === "value_missing_error")).toBe(true);
        expect(parsed.ok).toBe(required.length === 0);
      }
    },
  );
});

/** The facts that lead to each state; `own` is the account with everything. */
const startable: Partial<Record<StateName, Partial<Omit<HostFlow, "userId">> & { own?: true }>> = {
  preflight: {},
  login_init: {},
  login_passkey: {},
  login_method_chooser: { own: true },
  login_password: { own: true },
  login_password_recovery: { own: true, factors: ["passcode", "security_key"] },
  passcode_confirmation: { own: true },
  login_otp: { own: true, factors: ["password"], webauthn: false },
  device_trust: { own: true, factors: ["password", "totp"], webauthn: false },
  registration_init: { flow: "registration" },
  password_creation: { flow: "registration", email: newAddress(), webauthn: false },
  onboarding_create_passkey: { flow: "registration", email: newAddress(), completed: ["password_creation"] },
  onboarding_verify_passkey_attestation: {
    flow: "registration",
    email: newAddress(),
    completed: ["password_creation"],
  },
  profile_init: { own: true },
};

describe("an action without one of its required inputs", () => {
  let runtime: TestRuntime;
  let userId: string;
  beforeAll(async () => {
    runtime = await testRuntime({ STILE_USERNAME_ENABLED: "true", STILE_ACCOUNT_METADATA_EDITOR: "true" });
    ({ id: userId } = await userWithEverything(runtime));
  });
  afterAll(() => runtime.close());

  test.each(Object.entries(startable))(
    "is answered 400, with the input named: %s",
    async (state, { own, ...facts }) => {
      const nothing = { flow: null, email: null, username: null, factors: [], completed: [], webauthn: true };
      const started = await startAt(runtime, { ...nothing, ...facts, state, userId: own ? userId : null });
      const browser = visitor(runtime);
      for (const { name, value } of started.cookies) browser.cookies.set(name, value);
      let current: FlowState = started.state;
      let refused = 0;
      for (const action of Object.values(started.state.actions)) {
        for (const left of requiredOf(action.inputs)) {
          const { [left]: _, ...input_data } = filled(action);
          const response = await browser.request(action.href, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ csrf_token: current.csrf_token, input_data }),
          });
          current = (await response.json()) as FlowState;
          const errors = Object.values(current.actions[action.action]?.inputs ?? {}).flatMap(
            ({ name, error }) => (error?.code === "value_missing_error" ? [name] : []),
          );
          expect(
            [response.status, current.name, current.error?.code, errors],
            `${action.action} ${left}`,
          ).toEqual([400, state, "form_data_invalid_error", [left]]);
          refused += 1;
        }
      }
      const required = Object.values(started.state.actions).flatMap(({ inputs }) => requiredOf(inputs));
      expect(refused).toBe(required.length);
    },
  );
});

/** An acceptable value for each input of an action. */
function filled({ inputs }: ActionDescriptor): Record<string, unknown> {
  return Object.fromEntries(
    Object.values(inputs).map(({ name, type, min_length = 1, allowed_values }) => {
      if (allowed_values) return [name, allowed_values[0]?.value ?? randomUUID()];
      if (type === "boolean") return [name, false];
      if (type === "email") return [name, newAddress()];
      if (type === "json") return [name, {}];
      if (type === "password") return [name, password];
      return [name, name === "redirect_to" ? "http://localhost:3000" : "0".repeat(min_length)];
    }),
  );
}
