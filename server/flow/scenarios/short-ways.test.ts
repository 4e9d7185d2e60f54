import { describe, expect, test } from "vitest";
import type { Client } from "../../context/client.ts";
import type { Walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, markedClient, newAddress, origin, password, people } from "../../testing/people.ts";
import { testClient, testRuntime } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import type { FlowType } from "../names.ts";

/** The screens of each way, by the default configuration: states in which the user does something. */

const { begin } = people();

const base = await runtimeForTests();

/** States that a script passes: the user sees the prompt of the browser over the screen before. */
const withoutScreen = ["preflight", "onboarding_verify_passkey_attestation", "success"];

type Step = (flow: Walk) => Promise<unknown>;

interface Person {
  email: string;
  authenticator: ReturnType<typeof softwareAuthenticator>;
}

/** What the user does on each screen. */
const deeds = ({ email, authenticator }: Person, runtime = base) => {
  const assert: Step = async (flow) => {
    const assertion_response = authenticator.get(flow.state.payload.request_options, { origin });
    await flow.act("webauthn_verify_assertion_response", { assertion_response });
  };
  return {
    assert,
    identify: (flow) => flow.act("continue_with_login_identifier", { email }),
    choosePassword: (flow) => flow.act("continue_to_password_login"),
    chooseCode: (flow) => flow.act("continue_to_passcode_confirmation"),
    choosePasskey: (flow) => flow.act("webauthn_generate_request_options"),
    enterPassword: (flow) => flow.act("password_login", { password }),
    enterCode: (flow) => flow.act("verify_passcode", { code: codeFor(runtime, email) }),
    register: (flow) => flow.act("register_login_identifier", { email }),
    setPassword: (flow) => flow.act("register_password", { new_password: password }),
    notNow: (flow) => flow.act("skip"),
    async createPasskey(flow) {
      const { payload } = await flow.act("webauthn_generate_creation_options");
      const public_key = authenticator.create(payload.creation_options, { origin });
      await flow.act("webauthn_verify_attestation_response", { public_key });
    },
  } satisfies Record<string, Step>;
};

/** Walks a way to `success`; returns its screens and the browser that it leaves. */
async function screens(type: FlowType, steps: Step[], client: Client = testClient, runtime = base) {
  const flow = await begin(runtime, type as "login", undefined, client);
  const seen: string[] = [];
  for (const step of steps) {
    if (!withoutScreen.includes(flow.state.name)) seen.push(flow.state.name);
    await step(flow);
  }
  expect([flow.state.name, flow.errors()]).toEqual(["success", []]);
  return { seen, browser: markedClient(flow) };
}

const newPerson = (): Person => ({ email: newAddress(), authenticator: softwareAuthenticator() });

/** Signs up; returns what the person can do and the browser. */
async function signedUp({ passkey }: { passkey: boolean }) {
  const does = deeds(newPerson());
  const { register, enterCode, setPassword, createPasskey, notNow } = does;
  const last = passkey ? createPasskey : notNow;
  return { does, ...(await screens("registration", [register, enterCode, setPassword, last])) };
}

test("signing up takes four screens, and the offer of a passkey is the last one", async () => {
  const { seen } = await signedUp({ passkey: true });
  expect(seen).toEqual([
    "registration_init",
    "passcode_confirmation",
    "password_creation",
    "onboarding_create_passkey",
  ]);
});

test("a passkey is offered before a second factor, where a registration offers one", async () => {
  const runtime = base.configured({ STILE_MFA_ACQUIRE_ON_REGISTRATION: "true" });
  const { register, enterCode, setPassword, createPasskey, notNow } = deeds(newPerson(), runtime);
  const steps = [register, enterCode, setPassword, createPasskey, notNow];
  const { seen } = await screens("registration", steps, testClient, runtime);
  expect(seen.slice(-2)).toEqual(["onboarding_create_passkey", "mfa_method_chooser"]);
});

test("the first sign-in on a browser takes three screens", async () => {
  const { does } = await signedUp({ passkey: true });
  const { identify, choosePassword, enterPassword } = does;
  const { seen } = await screens("login", [identify, choosePassword, enterPassword]);
  expect(seen).toEqual(["login_init", "login_method_chooser", "login_password"]);
});

describe("signing in again on the same browser takes two screens", () => {
  test("by a password", async () => {
    const { does } = await signedUp({ passkey: true });
    const { identify, choosePassword, enterPassword } = does;
    const { browser } = await screens("login", [identify, choosePassword, enterPassword]);
    const { seen } = await screens("login", [identify, enterPassword], browser);
    expect(seen).toEqual(["login_init", "login_password"]);
  });

  test("by a mailed code", async () => {
    const { does } = await signedUp({ passkey: true });
    const { identify, chooseCode, enterCode } = does;
    const { browser } = await screens("login", [identify, chooseCode, enterCode]);
    const { seen } = await screens("login", [identify, enterCode], browser);
    expect(seen).toEqual(["login_init", "passcode_confirmation"]);
  });

  test("by a passkey, from the identifier", async () => {
    const { does, browser } = await signedUp({ passkey: true });
    const { identify, assert } = does;
    const { seen } = await screens("login", [identify, assert], browser);
    expect(seen).toEqual(["login_init", "login_passkey"]);
  });
});

test("signing in by a passkey that the browser suggests takes one screen", async () => {
  const { does } = await signedUp({ passkey: true });
  expect((await screens("login", [does.assert])).seen).toEqual(["login_init"]);
});

describe("a person who has declined a passkey", () => {
  test("is not offered one at a sign-in within thirty days, and is after them", async () => {
    const runtime = await testRuntime();
    const does = deeds(newPerson(), runtime);
    const { register, enterCode, setPassword, notNow, identify, choosePassword, enterPassword } = does;
    await screens("registration", [register, enterCode, setPassword, notNow], testClient, runtime);
    const again = [identify, choosePassword, enterPassword];
    expect((await screens("login", again, testClient, runtime)).seen).not.toContain(
      "onboarding_create_passkey",
    );
    runtime.advanceClock(29 * 86_400);
    await screens("login", again, testClient, runtime);
    runtime.advanceClock(86_400);
    // Another device: the account remembers it.
    const elsewhere = { ...testClient, ip: "192.0.2.9", source: "192.0.2.9" };
    const { seen } = await screens("login", [...again, notNow], elsewhere, runtime);
    expect(seen.at(-1)).toBe("onboarding_create_passkey");
    expect((await screens("login", again, testClient, runtime)).seen).not.toContain(
      "onboarding_create_passkey",
    );
    await runtime.close();
  });

  test("can go on in another flow of the account, which offers one still", async () => {
    const runtime = base.configured({ STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "never" });
    const { register, enterCode, setPassword, notNow, ...login } = deeds(newPerson(), runtime);
    await screens("registration", [register, enterCode, setPassword], testClient, runtime);
    const flows = [await begin(runtime, "login"), await begin(runtime, "login")];
    for (const flow of flows)
      for (const step of [login.identify, login.choosePassword, login.enterPassword]) await step(flow);
    expect(flows.map(({ state }) => state.name)).toEqual(flows.map(() => "onboarding_create_passkey"));
    for (const flow of flows) await notNow(flow);
    expect(flows.map(({ state }) => state.name)).toEqual(flows.map(() => "success"));
  });

  test("is offered one each time where the operator wants it", async () => {
    const runtime = base.configured({ STILE_PASSKEY_OFFER_AGAIN_AFTER: "0" });
    const { register, enterCode, setPassword, notNow, ...login } = deeds(newPerson(), runtime);
    await screens("registration", [register, enterCode, setPassword, notNow], testClient, runtime);
    const again = [login.identify, login.choosePassword, login.enterPassword, notNow];
    expect((await screens("login", again, testClient, runtime)).seen).toHaveLength(4);
  });

  test("is not asked for any credential again where both are a choice", async () => {
    const runtime = base.configured({
      STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "conditional",
      STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "conditional",
      STILE_PASSKEY_ACQUIRE_ON_LOGIN: "conditional",
      STILE_PASSWORD_ACQUIRE_ON_LOGIN: "conditional",
    });
    const { register, enterCode, notNow, identify, chooseCode } = deeds(newPerson(), runtime);
    const { seen } = await screens("registration", [register, enterCode, notNow], testClient, runtime);
    expect(seen.at(-1)).toBe("credential_onboarding_chooser");
    const login = await screens("login", [identify, chooseCode, enterCode], testClient, runtime);
    expect(login.seen).toHaveLength(3);
  });
});
