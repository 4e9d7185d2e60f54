import { describe, expect, test } from "vitest";
import type { Tenant } from "../../config/tenant.ts";
import type { FlowType } from "../../flow/names.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { mailedCode, password } from "../../testing/rest-walk.ts";
import { testRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import type { Visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "./page-answer.ts";
import { pageState } from "./page-state.ts";

/** An attacker puts the cookie of their flow into the browser of another person, who then signs in. */

const runtime = await runtimeForTests({
  STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  STILE_MFA_DEVICE_TRUST_POLICY: "never",
  STILE_PASSKEY_ENABLED: "false",
});
const mfa = { acquire_on_registration: true, device_trust_policy: "never" };
const settings = { mfa, passkey: { enabled: false } };
const byPath = await found(await createTenant(runtime, { name: "Path", hosts: [], settings }));
const byHost = await found(
  await createTenant(runtime, { name: "Host", hosts: ["login.host.example"], settings }),
);

async function found({ id }: Tenant): Promise<Tenant> {
  const tenant = await runtime.tenants.byId(id);
  if (!tenant) throw new Error("the created tenant was not found");
  return tenant;
}

const tenants: [string, () => Tenant][] = [
  ["the default tenant", () => runtime.tenant],
  ["a tenant by host", () => byHost],
  ["a tenant by path", () => byPath],
];

/** The hosted page in one browser. */
interface Page {
  readonly browser: Visitor;
  readonly answer: PageAnswer;
  act(action: string, input?: object): Promise<PageAnswer>;
  current(): Promise<PageAnswer>;
  /** The state that a reload displays. */
  reload(): Promise<PageAnswer>;
}

function openPage(tenant: Tenant, type: FlowType, on = runtime): Page {
  const browser = tenantVisitor(on, tenant);
  let answer: PageAnswer = { version: 0, state: { name: "preflight" } as PageAnswer["state"] };
  async function call(procedure: string, input: object): Promise<PageAnswer> {
    const response = await browser.mutate(`flow.${procedure}`, { type, ...input });
    answer = (await response.json()).result.data;
    return answer;
  }
  const act = (action: string, input: object) => call("act", { action, version: answer.version, input });
  return {
    browser,
    get answer() {
      return answer;
    },
    async act(action, input = {}) {
      const { state } = await act(action, input);
      if (state.name !== "error") return answer;
      // As the page does after its flow has changed elsewhere.
      await call("current", {});
      return act(action, input);
    },
    current: () => call("current", {}),
    reload: () =>
      pageState(on, tenant, [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "), type),
  };
}

/** Puts the cookies of one browser into another. */
function plant(from: Page, into: Page): void {
  for (const [name, value] of from.browser.cookies) into.browser.cookies.set(name, value);
}

/** Expects that a browser obtains neither a session nor anything about the flow. */
async function expectNothing(attacker: Page): Promise<void> {
  const { version } = attacker.answer;
  const displayed = await attacker.reload();
  expect(displayed.version).toBe(0);
  expect(displayed.state.name).toMatch(/^(login|registration)_init$/);
  for (const answer of [await attacker.current(), await attacker.act("skip")]) {
    expect(answer.state).toMatchObject({ name: "error", status: 403, payload: {}, actions: {} });
  }
  const form = { flow: "login", action: "skip", version: String(version) };
  await attacker.browser.submit("/step", form);
  expect([...attacker.browser.cookies.keys()].filter((name) => name.startsWith("service"))).toEqual([]);
}

type Steps = [string, (page: Page) => Promise<PageAnswer>][];

const appOf = ({ answer }: Page) => authenticatorApp(String(answer.state.payload.otp_secret));

/** Registers with every secret that a registration can show. */
function registration(email = newAddress()): {
  steps: Steps;
  app: () => ReturnType<typeof authenticatorApp>;
} {
  let app: ReturnType<typeof authenticatorApp> | undefined;
  const steps: Steps = [
    ["preflight", (page) => page.act("register_client_capabilities")],
    ["registration_init", (page) => page.act("register_login_identifier", { email })],
    ["passcode_confirmation", (page) => page.act("verify_passcode", { code: mailedCode(runtime, email) })],
    ["password_creation", (page) => page.act("register_password", { new_password: password })],
    ["mfa_method_chooser", (page) => page.act("continue_to_otp_secret_creation")],
    [
      "mfa_otp_secret_creation",
      (page) => {
        app = appOf(page);
        return page.act("otp_code_verify", { otp_code: app.code(Date.now()) });
      },
    ],
  ];
  return {
    steps,
    app: () => {
      if (!app) throw new Error("no app was enrolled");
      return app;
    },
  };
}

async function registered(tenant: Tenant) {
  const email = newAddress();
  const { steps, app } = registration(email);
  const page = openPage(tenant, "registration");
  for (const [, step] of steps) await step(page);
  expect(page.answer.state.name).toBe("success");
  return { email, app: app() };
}

function login({ email, app }: Awaited<ReturnType<typeof registered>>): Steps {
  return [
    ["preflight", (page) => page.act("register_client_capabilities")],
    ["login_init", (page) => page.act("continue_with_login_identifier", { email })],
    ["login_method_chooser", (page) => page.act("continue_to_password_login")],
    ["login_password", (page) => page.act("password_login", { password })],
    ["login_otp", (page) => page.act("otp_code_validate", { otp_code: app.code(Date.now() + 30_000) })],
  ];
}

describe.each(tenants)("A127 a cookie planted in a browser of %s", (_, tenant) => {
  test.each([0, 1, 2, 3, 4])("before step %i of a sign-in gives its sender no session", async (planted) => {
    const steps = login(await registered(tenant()));
    const [attacker, person] = [openPage(tenant(), "login"), openPage(tenant(), "login")];
    await attacker.current();
    await attacker.act("register_client_capabilities");
    for (const [name, step] of steps.slice(1, planted)) {
      expect(attacker.answer.state.name).toBe(name);
      await step(attacker);
    }
    plant(attacker, person);
    await person.current();
    for (const [, step] of steps.slice(Math.max(planted, 1))) await step(person);
    expect(person.answer.state.name).toBe("success");
    await expectNothing(attacker);
  });

  test.each([1, 2])("before step %i of a registration shows its sender no secret", async (planted) => {
    const { steps } = registration();
    const pages = [openPage(tenant(), "registration"), openPage(tenant(), "registration")] as const;
    const [attacker, person] = pages;
    for (const [, step] of steps.slice(0, planted)) await step(attacker);
    plant(attacker, person);
    await person.current();
    for (const [name, step] of steps.slice(planted)) {
      expect(person.answer.state.name).toBe(name);
      await step(person);
      const isIdentified = !["registration_init", "passcode_confirmation"].includes(person.answer.state.name);
      if (isIdentified) await expectNothing(attacker);
    }
    expect(person.answer.state.name).toBe("success");
    await expectNothing(attacker);
  });

  test("gives nothing to a sender who asks for the current state after every step", async () => {
    const steps = login(await registered(tenant()));
    const [attacker, person] = [openPage(tenant(), "login"), openPage(tenant(), "login")];
    await attacker.act("register_client_capabilities");
    plant(attacker, person);
    await person.current();
    for (const [name, step] of steps.slice(1)) {
      expect(person.answer.state.name).toBe(name);
      await step(person);
      const seen = await attacker.current();
      if (["login_otp", "success"].includes(person.answer.state.name)) {
        expect(seen.state).toMatchObject({ name: "error", status: 403, payload: {} });
      }
    }
    expect(person.answer.state.name).toBe("success");
    await expectNothing(attacker);
  });
});

describe("A127 a registration without verification", () => {
  test.each([
    ["with a password", {}],
    ["without a credential", { STILE_PASSWORD_ENABLED: "false" }],
  ])("%s gives no session to the sender of its cookie", async (_, settings) => {
    const bare = await testRuntime({
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      ...settings,
    });
    const { tenant } = bare;
    const email = newAddress();
    const [attacker, person] = [
      openPage(tenant, "registration", bare),
      openPage(tenant, "registration", bare),
    ];
    await attacker.act("register_client_capabilities");
    if (Object.keys(settings).length === 0) await attacker.act("register_login_identifier", { email });
    plant(attacker, person);
    const { state } = await person.current();
    if (state.name === "registration_init") await person.act("register_login_identifier", { email });
    else await person.act("register_password", { new_password: password });
    expect(person.answer.state.name).toBe("success");
    await expectNothing(attacker);
    await bare.close();
  });
});

describe("A137 another tenant's flow cookie", () => {
  const pairs = tenants.flatMap(([name, of]) =>
    tenants.filter(([other]) => other !== name).map(([other, from]) => [name, other, of, from] as const),
  );

  test.each(pairs)(
    "at %s from %s is ignored, under its own name and the tenant's",
    async (_, __, of, from) => {
      const [other, own] = [openPage(from(), "login"), openPage(of(), "login")];
      await other.act("register_client_capabilities");
      const [[name = "", value = ""] = []] = [...other.browser.cookies].filter(([key]) =>
        key.startsWith("stile-"),
      );
      for (const planted of [name, name.replace(from().id, of().id), "stile-login"]) {
        own.browser.cookies.clear();
        own.browser.cookies.set(planted, value);
        expect((await own.reload()).state.name).toBe("login_init");
        expect(await own.current()).toMatchObject({ version: 0, state: { name: "login_init" } });
        expect(own.browser.setCookies).toEqual([]);
        await own.act("register_client_capabilities");
        expect(own.answer).toMatchObject({ version: 2, state: { name: "login_init" } });
      }
      expect((await other.current()).state.name).toBe("login_init");
    },
  );
});
