import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { measureCoverage } from "../../flow/coverage.ts";
import { stateNames } from "../../flow/names.ts";
import { eventually } from "../eventually.ts";
import { type FlowFacts, type Stile, softwareAuthenticator, startStile } from "./index.ts";

let stile: Stile;
beforeAll(async () => {
  stile = await startStile({
    provider: true,
    settings: {
      username: { enabled: true, acquire_on_login: false, acquire_on_registration: false },
      mfa: { acquire_on_registration: false },
    },
  });
});
afterAll(() => stile.close());

const password = "seven herons over the lake";

async function begin(type: "login" | "registration" = "login", webauthn = false) {
  const flow = stile.client();
  await flow.start(type);
  await flow.act("register_client_capabilities", {
    webauthn_available: webauthn,
    webauthn_conditional_mediation_available: webauthn,
  });
  return flow;
}

describe("a ready-made user", () => {
  test("signs in with a password and the code of the app", async () => {
    const user = await stile.user({ username: "grace", email: "grace@example.com", password, totp: true });
    const flow = await begin();
    await flow.act("continue_with_login_identifier", { identifier: "grace" });
    if (flow.state.name === "login_method_chooser") await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state.name).toBe("login_otp");
    await flow.act("otp_code_validate", { otp_code: await stile.code(user) });
    expect(flow.state.name).toBe("device_trust");
    await flow.act("skip");
    expect(flow.state.name).toBe("success");
  });

  test("signs in with a mailed code, and a second one is the next one", async () => {
    const { email } = await stile.user();
    const flow = await begin();
    await flow.act("continue_with_login_identifier", { identifier: email });
    if (flow.state.name === "login_method_chooser") await flow.act("continue_to_passcode_confirmation");
    const first = await stile.mailbox.code(email);
    await stile.clock.advance({ minutes: 2 });
    await flow.act("resend_passcode");
    const second = await stile.mailbox.code(email);
    expect(second).not.toBe(first);
    await flow.act("verify_passcode", { code: second });
    expect(flow.state.error).toBeUndefined();
    expect((await stile.mailbox.mails(email)).length).toBeGreaterThanOrEqual(2);
  });

  test("signs in with a passkey of a software authenticator", async () => {
    const authenticator = softwareAuthenticator();
    const user = await stile.user({ passkey: authenticator });
    expect(user.authenticator).toBe(authenticator);
    const flow = await begin("login", true);
    const assertion = authenticator.get(flow.state.payload.request_options, { origin: stile.url });
    await flow.act("webauthn_verify_assertion_response", { assertion_response: assertion });
    expect(flow.state.name).toBe("success");
    expect(flow.last.headers.get("x-session-lifetime")).toMatch(/^\d+$/);
  });

  test("has a session without a flow", async () => {
    const user = await stile.user();
    const { cookie, token } = await stile.session(user);
    const answer = await fetch(`${stile.url}/sessions/validate`, {
      headers: { cookie: `${cookie.name}=${cookie.value}` },
    });
    expect(await answer.json()).toMatchObject({ is_valid: true, user_id: user.id });
    expect(cookie.value).toBe(token);
  });

  test("is refused in one line if another one has the address", async () => {
    await stile.user({ email: "twice@example.com" });
    await expect(stile.user({ email: "twice@example.com" })).rejects.toThrow(
      /^the user was refused: an email address is in use/,
    );
    await expect(stile.code(await stile.user())).rejects.toThrow(/has no authenticator app/);
  });
});

test("the clock moves, holds and runs on, and expires flows", async () => {
  const flow = await begin();
  const held = await stile.clock.hold(new Date("2031-02-03T04:05:06Z"));
  expect(Math.abs(held.getTime() - Date.parse("2031-02-03T04:05:06Z"))).toBeLessThan(1_000);
  await flow.attempt("remember_me", { remember_me: true });
  expect(flow.state).toMatchObject({ name: "error", error: { code: "flow_expired_error" } });
  const moved = await stile.clock.advance({ days: 1 });
  expect(moved.toISOString()).toMatch(/^2031-02-04T04:05:0/);
  await stile.clock.release();
});

test("the identity provider signs a person in, and turns one back", async () => {
  const { provider } = stile;
  const redirect_to = stile.url;
  const flow = await begin();
  provider.signsIn({ sub: "s-1", email: "linus@example.com", email_verified: true });
  await flow.act("thirdparty_oauth", { provider: provider.id, redirect_to });
  await flow.act("exchange_token", { token: await provider.visit(flow) });
  expect(flow.state.name).not.toBe("error");
  expect(flow.state.error).toBeUndefined();

  provider.turnsBack();
  const other = await begin();
  await other.act("thirdparty_oauth", { provider: provider.id, redirect_to });
  await expect(provider.visit(other)).rejects.toThrow(/came back without a token/);
});

/** The facts that lead to each state that a flow can start at. */
const startable: Record<string, FlowFacts> = {
  preflight: {},
  login_init: {},
  login_passkey: {},
  login_method_chooser: { user: { password } },
  login_password: { user: { password } },
  login_password_recovery: { user: { password }, factors: ["passcode"] },
  passcode_confirmation: { user: {} },
  login_otp: { user: { password, totp: true } },
  device_trust: { user: { password, totp: true }, factors: ["password", "totp"], webauthn: false },
  registration_init: { flow: "registration" },
  password_creation: { flow: "registration", email: "new-1@example.com", webauthn: false },
  onboarding_create_passkey: {
    flow: "registration",
    email: "new-3@example.com",
    completed: ["password_creation"],
  },
  onboarding_verify_passkey_attestation: {
    flow: "registration",
    email: "new-4@example.com",
    completed: ["password_creation"],
  },
  profile_init: { user: { password } },
};

describe("a flow", () => {
  test.each(Object.entries(startable))("starts at %s", async (state, facts) => {
    const flow = await stile.startAt(state, facts).catch((error: Error) => error.message);
    expect(typeof flow === "string" ? flow : flow.state.name).toBe(state);
  });

  test("that was started at the code of the app goes on like any other", async () => {
    const flow = await stile.startAt("login_otp", {
      user: { password, totp: true },
      webauthn: false,
    });
    await flow.act("otp_code_validate", { otp_code: "000000" });
    expect(flow.state.error?.code).toBeDefined();
    if (!flow.user) throw new Error("no user");
    await flow.act("otp_code_validate", { otp_code: await stile.code(flow.user) });
    expect(flow.state.name).toBe("device_trust");
    const { taken } = await stile.coverage().then(({ edges, errors }) => ({ taken: [...edges, ...errors] }));
    expect(taken).toEqual(
      expect.arrayContaining([
        "login login_otp otp_code_validate NEXT",
        "login_otp otp_code_validate otp_code_invalid",
      ]),
    );
  });

  test("that was started at a registration's passkey ends with an account", async () => {
    const authenticator = softwareAuthenticator();
    const flow = await stile.startAt("onboarding_create_passkey", {
      flow: "registration",
      email: "passkey@example.com",
      completed: ["password_creation"],
    });
    await flow.act("webauthn_generate_creation_options");
    const public_key = authenticator.create(flow.state.payload.creation_options, { origin: stile.url });
    await flow.act("webauthn_verify_attestation_response", { public_key });
    expect(flow.state.error).toBeUndefined();
    expect(flow.state.name).not.toBe("onboarding_verify_passkey_attestation");
  });

  test("mails the code of the state that it starts at", async () => {
    const flow = await stile.startAt("passcode_confirmation", { user: { email: "mail@example.com" } });
    await flow.act("verify_passcode", { code: await stile.mailbox.code("mail@example.com") });
    expect(flow.state.error).toBeUndefined();
    expect(flow.state.name).not.toBe("passcode_confirmation");
  });

  test.each<[string, FlowFacts, RegExp]>([
    ["login_opt", {}, /^login_opt is not a state: preflight, /],
    ["success", {}, /use stile\.session/],
    ["login_otp", { user: { password } }, /^with these facts a login is at \w+, not at login_otp: /],
    ["login_otp", { user: { password, totp: true }, factors: [] }, /its first factor is not proved/],
    ["login_otp", { user: { totp: true }, factors: ["pasword"] }, /^pasword is not a factor: password, /],
    ["login_password", {}, /entered without|needs/],
    ["login_password", { flow: "registration" }, /^a registration flow does not reach login_password/],
    ["profile_init", {}, /needs its owner/],
    ["passcode_confirmation", {}, /needs an address/],
    ["password_creation", { flow: "registration", user: {} }, /has no user yet/],
    ["device_trust", { user: {}, completed: ["nowhere"] }, /^nowhere is not a state/],
  ])("does not start at %s with %j", async (state, facts, reason) => {
    await expect(stile.startAt(state, facts)).rejects.toThrow(reason);
  });

  test("is offered no state that the kit forgot", () => {
    const unstartable = [
      "thirdparty",
      "success",
      "account_deleted",
      "webauthn_credential_verification",
      // An application asks, by its request, or a device by its code.
      "account_choice",
      "device_code",
      "consent",
      "consent_answered",
    ];
    const others = stateNames.filter((name) => !(name in startable) && !unstartable.includes(name));
    // Of other settings; started by the next test.
    expect(others.sort()).toEqual([
      "credential_onboarding_chooser",
      "login_authenticator",
      "login_security_key",
      "login_sms",
      "mfa_method_chooser",
      "mfa_otp_secret_creation",
      "mfa_phone_creation",
      "mfa_security_key_creation",
      "onboarding_email",
      "onboarding_username",
      "phone_confirmation",
    ]);
  });
});

describe("a second server", () => {
  const folder = mkdtempSync(join(tmpdir(), "stile coverage "));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("runs beside the first with settings of its own, and writes its coverage when it ends", async () => {
    const conditional = { acquire_on_registration: "conditional" };
    const other = await startStile({
      settings: { password: conditional, passkey: conditional, mfa: { acquire_on_registration: true } },
      coverage: folder,
    });
    expect(other.url).not.toBe(stile.url);
    const chooser = await other.startAt("credential_onboarding_chooser", {
      flow: "registration",
      email: "new@example.com",
    });
    await chooser.act("continue_to_password_registration");
    await chooser.act("register_password", { new_password: password });
    expect(chooser.state.name).toBe("mfa_method_chooser");
    expect(() => other.provider).toThrow(/startStile\(\{ provider: true \}\)/);
    await other.close();
    await other.close();
    await expect(other.user()).rejects.toThrow("the server for tests is closed");
    await expect(fetch(other.url)).rejects.toThrow();

    const [file = ""] = readdirSync(folder);
    const written = JSON.parse(readFileSync(join(folder, file), "utf8"));
    expect(written.edges).toEqual([
      "registration credential_onboarding_chooser continue_to_password_registration password_creation",
      "registration password_creation register_password NEXT",
    ]);
    const taken = { edges: new Set<string>(written.edges), errors: new Set<string>(written.errors) };
    expect(measureCoverage(taken, ["registration"])).toMatchObject({
      edges: { taken: 2 },
      errors: { taken: 0 },
    });
  });

  test("with an invalid setting, or in production, does not start and says why", async () => {
    await expect(startStile({ settings: { pasword: {} } })).rejects.toThrow(
      /^the server for tests did not start: .*pasword/,
    );
    vi.stubEnv("NODE_ENV", "production");
    await expect(startStile()).rejects.toThrow(/does not start with NODE_ENV=production/);
    vi.unstubAllEnvs();
  });
});

describe("a test that forgets to close its server", () => {
  const script = `
    import { startStile } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
    const stile = await startStile();
    process.stdout.write(stile.url);`;

  test.each([
    ["ends", ""],
    ["is killed", "setInterval(() => {}, 1000);"],
  ])("%s, and leaves no server", async (_, rest) => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script + rest], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [url] = (await once(child.stdout, "data")) as [Buffer];
    const exited = once(child, "exit");
    if (rest !== "") child.kill("SIGKILL");
    await exited;
    await eventually(async () => {
      await expect(fetch(String(url))).rejects.toThrow();
    });
  });
});
