import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { FlowState } from "../../flow/wire.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { testRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "../page/page-answer.ts";
import { MAX_BODY_BYTES } from "../request/body.ts";

const runtime = await runtimeForTests();

const cookieName = (type: FlowType) => `stile-${type}-${runtime.tenant.id}`;
const newAddress = () => `${randomUUID()}@example.com`;

type FlowType = "login" | "registration";

async function call(browser: Visitor, procedure: string, input: unknown): Promise<PageAnswer> {
  const response = await browser.mutate(`flow.${procedure}`, input);
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: { data: PageAnswer } }).result.data;
}

const start = (browser: Visitor, type: FlowType) => call(browser, "start", { type });
const current = (browser: Visitor, type: FlowType) => call(browser, "current", { type });
const act = (browser: Visitor, type: FlowType, version: number, action: string, input: object = {}) =>
  call(browser, "act", { type, version, action, input });

/** Starts a flow and proceeds to the state that asks for the identifier. */
async function begin(browser: Visitor, type: FlowType): Promise<PageAnswer> {
  const { version } = await start(browser, type);
  return act(browser, type, version, "register_client_capabilities");
}

describe("the page's flow", () => {
  test("is stored in a sealed cookie, and scripts never see its token", async () => {
    const browser = visitor(runtime);
    const answer = await start(browser, "login");
    expect(answer).toMatchObject({ version: 1, state: { name: "preflight", status: 200, csrf_token: "" } });
    expect(browser.setCookies).toEqual([
      expect.stringMatching(
        /^stile-login-0{8}-0000-4000-8000-0{11}1=Fe26\.2\*[^;]+; Path=\/; Max-Age=90000; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    const before = browser.cookies.get(cookieName("login"));
    const next = await act(browser, "login", 1, "register_client_capabilities");
    expect(next).toMatchObject({ version: 2, state: { name: "login_init", csrf_token: "" } });
    expect(browser.cookies.get(cookieName("login"))).not.toBe(before);
  });

  test("has a Secure, host-bound cookie over https", async () => {
    const browser = visitor(runtime.configured({ BASE_URL: "https://login.example.com" }));
    await start(browser, "registration");
    expect(browser.setCookies).toEqual([
      expect.stringMatching(
        /^__Host-stile-registration-0{8}-0000-4000-8000-0{11}1=[^;]+; Path=\/; Max-Age=90000; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });

  test("starts with the first action", async () => {
    const browser = visitor(runtime);
    const answer = await act(browser, "login", 0, "register_client_capabilities");
    expect(answer).toMatchObject({ version: 2, state: { name: "login_init" } });
    expect(
      (await act(browser, "login", 2, "continue_with_login_identifier", { email: newAddress() })).state
        .status,
    ).toBe(200);
  });

  test("is separate for each type", async () => {
    const browser = visitor(runtime);
    await begin(browser, "login");
    await start(browser, "registration");
    expect((await current(browser, "login")).state.name).toBe("login_init");
    expect((await current(browser, "registration")).state.name).toBe("preflight");
    browser.cookies.set(cookieName("registration"), browser.cookies.get(cookieName("login")) ?? "");
    expect((await current(browser, "registration")).version).toBe(0);
  });

  test("ends with a session, and its last state can be read again for a minute", async () => {
    const late = await testRuntime();
    const browser = visitor(late);
    const email = newAddress();
    let answer = await begin(browser, "registration");
    answer = await act(browser, "registration", answer.version, "register_login_identifier", { email });
    answer = await act(browser, "registration", answer.version, "verify_passcode", {
      code: mailedCode(late, email),
    });
    const before = new Map(browser.cookies);
    answer = await act(browser, "registration", answer.version, "register_password", {
      new_password: password,
    });
    expect(answer.state).toMatchObject({ name: "success", csrf_token: "" });
    expect(answer).not.toHaveProperty("redirect_to");
    expect(browser.cookies.has("service")).toBe(true);

    // The response was lost: the browser has the previous cookies.
    for (const [name] of browser.cookies) if (!before.has(name)) browser.cookies.delete(name);
    for (const [name, value] of before) browser.cookies.set(name, value);
    const again = await current(browser, "registration");
    expect(again.state).toEqual(answer.state);
    expect(again.version).toBe(answer.version);
    const validated = await (await browser.request("/sessions/validate")).json();
    expect(validated).toMatchObject({
      is_valid: true,
      claims: { session_id: (answer.state.payload.claims as { session_id: string }).session_id },
    });

    late.advanceClock(61);
    browser.cookies.set(cookieName("registration"), before.get(cookieName("registration")) ?? "");
    expect((await current(browser, "registration")).state).toMatchObject({ name: "error", status: 403 });
    await late.close();
  });
});

describe("a lost response", () => {
  test("can be read again without performing the action again", async () => {
    const browser = visitor(runtime);
    const email = newAddress();
    const { version } = await begin(browser, "registration");
    const kept = new Map(browser.cookies);
    const lost = await act(browser, "registration", version, "register_login_identifier", { email });
    for (const [name, value] of kept) browser.cookies.set(name, value);

    expect(
      (await act(browser, "registration", version, "register_login_identifier", { email })).state,
    ).toMatchObject({ name: "error", status: 403 });
    const shown = await current(browser, "registration");
    expect(shown.state).toMatchObject({ name: "passcode_confirmation", csrf_token: "" });
    expect(shown.version).toBe(lost.version);
    expect(runtime.enqueued.filter(({ to }) => to === email)).toHaveLength(1);
    const code = mailedCode(runtime, email);
    expect((await act(browser, "registration", shown.version, "verify_passcode", { code })).state.name).toBe(
      "password_creation",
    );
  });
});

describe("the first state of a flow that is not started", () => {
  const capable = { webauthn_available: true, webauthn_conditional_mediation_available: true };
  const firstAct = (browser: Visitor, action: string, input: object, more: object = {}) =>
    call(browser, "act", { type: "login", version: 0, action, input, ...more });
  const identifier = "continue_with_login_identifier";

  test("takes its first action and the browser's capabilities in one call", async () => {
    const browser = visitor(runtime);
    const shown = await current(browser, "login");
    expect(Object.keys(shown.state.actions)).toContain("webauthn_generate_request_options");
    const answer = await firstAct(browser, identifier, { email: newAddress() }, { capabilities: capable });
    expect(answer).toMatchObject({ version: 2, state: { status: 200 } });
    expect(Object.keys((await act(browser, "login", 2, "back")).state.payload)).toContain("request_options");
  });

  test("counts absent capabilities as false", async () => {
    const browser = visitor(runtime);
    await firstAct(browser, identifier, { email: newAddress() });
    const back = await act(browser, "login", 2, "back");
    expect(back.state.payload).not.toHaveProperty("request_options");
    expect(back.state.actions).not.toHaveProperty("webauthn_generate_request_options");
  });

  test("keeps an input that is rejected, with its error", async () => {
    const answer = await firstAct(visitor(runtime), identifier, { email: "unknown@nowhere" });
    expect(answer.state).toMatchObject({
      name: "login_init",
      status: 400,
      actions: { [identifier]: { inputs: { email: { value: "unknown@nowhere" } } } },
    });
    expect(answer.version).toBeGreaterThan(0);
  });

  test("starts no flow for an action that it does not offer", async () => {
    const browser = visitor(runtime);
    const answer = await firstAct(browser, "password_login", { password });
    expect(answer.state).toMatchObject({ name: "error", status: 403 });
    expect(browser.setCookies).toEqual([]);
  });

  test("goes on with the flow that another page of the browser has started meanwhile", async () => {
    const browser = visitor(runtime);
    await begin(browser, "login");
    const answer = await firstAct(browser, identifier, { email: newAddress() });
    expect(answer).toMatchObject({ version: 3, state: { status: 200 } });
    expect(answer.state.name).not.toBe("login_init");
  });

  test("A29 does nothing to a flow that has gone on", async () => {
    const browser = visitor(runtime);
    const { version } = await begin(browser, "login");
    const moved = await act(browser, "login", version, identifier, { email: newAddress() });
    const late = await firstAct(browser, identifier, { email: newAddress() });
    expect(late.state).toMatchObject({ name: "error", status: 403 });
    expect(await current(browser, "login")).toMatchObject({ state: { name: moved.state.name } });
  });

  test("of an expired flow takes what was typed into another flow", async () => {
    const late = await testRuntime();
    const browser = visitor(late);
    const { version } = await begin(browser, "login");
    late.advanceClock(3601);
    const answer = await act(browser, "login", version, identifier, { email: newAddress() });
    expect(answer.state).toMatchObject({ status: 200 });
    expect(answer.state.name).not.toBe("login_init");
    await late.close();
  });

  test("answers a start with capabilities, with the options of a passkey", async () => {
    const answer = await call(visitor(runtime), "start", { type: "login", capabilities: capable });
    expect(answer).toMatchObject({ version: 2, state: { name: "login_init" } });
    expect(answer.state.payload).toHaveProperty("request_options");
  });
});

describe("two tabs of one flow", () => {
  test("reject the outdated tab, which then reads the current state", async () => {
    const browser = visitor(runtime);
    const first = await begin(browser, "login");
    const moved = await act(browser, "login", first.version, "continue_with_login_identifier", {
      email: newAddress(),
    });
    const late = await act(browser, "login", first.version, "continue_with_login_identifier", {
      email: newAddress(),
    });
    expect(late.state).toMatchObject({ name: "error", status: 403, actions: {} });
    expect(await current(browser, "login")).toMatchObject({
      version: moved.version,
      state: { name: moved.state.name },
    });
    expect((await act(browser, "login", moved.version, "back")).state.name).toBe("login_init");
  });

  test("do not start a second flow from an outdated first state", async () => {
    const browser = visitor(runtime);
    await begin(browser, "login");
    expect((await act(browser, "login", 0, "register_client_capabilities")).state).toMatchObject({
      name: "error",
      status: 403,
    });
    expect((await current(browser, "login")).state.name).toBe("login_init");
  });
});

describe("without a flow", () => {
  test("the current state is the first state, and nothing is written", async () => {
    const browser = visitor(runtime);
    expect(await current(browser, "login")).toMatchObject({
      version: 0,
      state: {
        name: "login_init",
        status: 200,
        actions: { continue_with_login_identifier: expect.anything() },
      },
    });
    expect(browser.setCookies).toEqual([]);
  });

  test("an action of a later state is rejected", async () => {
    expect((await act(visitor(runtime), "login", 3, "back")).state).toMatchObject({
      name: "error",
      status: 403,
    });
  });

  test("an expired flow is reported with 410, and the first action starts another", async () => {
    const late = await testRuntime();
    const browser = visitor(late);
    const { version } = await begin(browser, "login");
    late.advanceClock(3601);
    expect((await act(browser, "login", version, "continue_with_login_identifier", {})).state).toMatchObject({
      name: "error",
      status: 410,
    });
    expect((await current(browser, "login")).state.status).toBe(410);
    expect((await act(browser, "login", 0, "register_client_capabilities")).state.name).toBe("login_init");
    await late.close();
  });

  test.each([
    ["truncated", (seal: string) => seal.slice(0, -9)],
    ["changed", (seal: string) => seal.replace(/\*[^*]{10}/, "*AAAAAAAAAA")],
    ["sealed with another key", () => "Fe26.2*1*abc*def*ghi*123*jkl*mno~2"],
    ["malformed", () => "malformed"],
  ])("ignores a cookie that is %s", async (_, tamper) => {
    const browser = visitor(runtime);
    await start(browser, "login");
    browser.cookies.set(cookieName("login"), tamper(browser.cookies.get(cookieName("login")) ?? ""));
    expect((await current(browser, "login")).version).toBe(0);
  });
});

describe("a call", () => {
  const rejectedStatus = async (response: Response) => {
    expect(response.headers.getSetCookie()).toEqual([]);
    const { error } = (await response.json()) as { error: { data: { stack?: string } } };
    expect(error.data).not.toHaveProperty("stack");
    return response.status;
  };

  test.each([
    ["flow.start", undefined],
    ["flow.start", null],
    ["flow.start", {}],
    ["flow.start", { type: "sign_in" }],
    ["flow.start", { type: "login", extra: 1 }],
    ["flow.start", { type: "login", capabilities: { webauthn_available: "yes" } }],
    ["flow.act", { type: "login", action: "back", version: 0, input: {}, capabilities: { extra: true } }],
    ["flow.act", { type: "login" }],
    ["flow.act", { type: "login", action: "", version: 1, input: {} }],
    ["flow.act", { type: "login", action: "x".repeat(65), version: 1, input: {} }],
    ["flow.act", { type: "login", action: "back", version: "1", input: {} }],
    ["flow.act", { type: "login", action: "back", version: -1, input: {} }],
    ["flow.act", { type: "login", action: "back", version: 1e300, input: {} }],
    ["flow.act", { type: "login", action: "back", version: 1, input: [] }],
    ["flow.act", '{"type":"login","action":"back","version":1,"input":{"__proto__":1}}'],
    ["flow.act", "{"],
  ])("is a tRPC error if %s has the malformed input %j", async (procedure, input) => {
    expect(await rejectedStatus(await visitor(runtime).mutate(procedure, input))).toBe(400);
  });

  test("is rejected with 404 if its procedure is unknown", async () => {
    expect(await rejectedStatus(await visitor(runtime).mutate("flow.other", {}))).toBe(404);
    expect(await rejectedStatus(await visitor(runtime).mutate("constructor", {}))).toBe(404);
  });

  test("A91 is rejected with 413 if it is too large", async () => {
    const input = { type: "login", action: "back", version: 1, input: { code: "x".repeat(MAX_BODY_BYTES) } };
    expect(await rejectedStatus(await visitor(runtime).mutate("flow.act", input))).toBe(413);
  });

  test("A37 is rejected if it has another content type or comes from another site", async () => {
    const browser = visitor(runtime);
    expect(
      (await browser.mutate("flow.start", { type: "login" }, { "content-type": "text/plain" })).status,
    ).toBe(400);
    for (const site of ["cross-site", "same-site", "none"]) {
      expect((await browser.mutate("flow.start", { type: "login" }, { "sec-fetch-site": site })).status).toBe(
        403,
      );
    }
    expect(browser.cookies.size).toBe(0);
  });

  const streamed = { "trpc-accept": "application/jsonl" };
  test.each([{}, streamed])("cannot be batched, with the headers %j", async (headers) => {
    const browser = visitor(runtime);
    const [one, two] = [{ 0: { type: "login" } }, { 0: { type: "login" }, 1: { type: "login" } }];
    expect(await rejectedStatus(await browser.mutate("flow.start?batch=1", one, headers))).toBe(400);
    expect(await rejectedStatus(await browser.mutate("flow.start,flow.start?batch=1", two, headers))).toBe(
      400,
    );
    expect(
      await rejectedStatus(await browser.mutate("flow.start", one[0], { ...headers, ...streamed })),
    ).toBe(400);
  });

  test("is answered with the headers of every response", async () => {
    const response = await visitor(runtime).mutate("flow.start", { type: "login" });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": "request-1",
    });
  });

  test("uses the browser's language without X-Language", async () => {
    for (const [headers, language] of [
      [{ "accept-language": "de-AT,en;q=0.5" }, "de"],
      [{ "accept-language": "de", "x-language": "fr" }, "fr"],
    ] as const) {
      const browser = visitor(runtime);
      const email = newAddress();
      const { version } = await begin(browser, "registration");
      await browser.mutate(
        "flow.act",
        { type: "registration", version, action: "register_login_identifier", input: { email } },
        headers,
      );
      expect(runtime.enqueued.findLast(({ to }) => to === email)?.language).toBe(language);
    }
  });
});

/** One walk, over either interface. */
interface Walker {
  start(type: FlowType): Promise<Step>;
  act(action: string, input?: Record<string, unknown>): Promise<Step>;
}

interface Step {
  state: unknown;
  /** The headers and cookies that belong to the state. */
  session: Record<string, string | null>;
}

async function overRest(): Promise<Walker> {
  const browser = visitor(runtime);
  let walk: Awaited<ReturnType<typeof restWalk>>;
  let action: (name: string) => string;
  const step = (response: Response, state: unknown): Step => ({
    state,
    session: sessionOf(browser, response),
  });
  return {
    async start(type) {
      walk = await restWalk(runtime, type, browser);
      const id = Object.values(walk.state.actions)[0]?.href.split("%40")[1];
      action = (name) => `/${type}?action=${name}%40${id}`;
      return step(walk.response, walk.state);
    },
    async act(name, input = {}) {
      if (walk.state.actions[name]) {
        const state = await walk.act(name, input);
        return step(walk.response, state);
      }
      const response = await browser.post(action(name), {
        csrf_token: walk.state.csrf_token,
        input_data: input,
      });
      return step(response, await response.json());
    },
  };
}

async function overTrpc(): Promise<Walker> {
  const browser = visitor(runtime);
  let type: FlowType;
  let version = 0;
  const step = async (response: Response): Promise<Step> => {
    const { data } = ((await response.json()) as { result: { data: PageAnswer } }).result;
    if (data.state.name !== "error") version = data.version;
    return { state: data.state, session: sessionOf(browser, response) };
  };
  return {
    async start(of) {
      type = of;
      return step(await browser.mutate("flow.start", { type }));
    },
    act: async (action, input = {}) =>
      step(await browser.mutate("flow.act", { type, version, action, input })),
  };
}

function sessionOf(browser: Visitor, response: Response): Step["session"] {
  const cookie = browser.setCookies.find((line) => line.startsWith("service="));
  return {
    lifetime: response.headers.get("x-session-lifetime")?.replace(/\d$/, "") ?? null,
    retention: response.headers.get("x-session-retention"),
    retry: response.headers.get("retry-after"),
    cookie: cookie?.replace(/=[^;]+/, "=…").replace(/Max-Age=\d+/, "Max-Age=…") ?? null,
  };
}

/** Masks values that differ between flows: tokens, ids, times, challenges, addresses. */
function comparable(step: Step, address: string): unknown {
  return JSON.parse(
    JSON.stringify(step)
      .replaceAll(address, "<address>")
      .replace(/"csrf_token":"[^"]*"/g, '"csrf_token":""')
      .replace(/,"detail_code":"[^"]*"/g, "")
      .replace(/"challenge":"[^"]*"/g, '"challenge":""')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<moment>"),
  );
}

describe("REST and tRPC", () => {
  const capable = { webauthn_available: true, webauthn_conditional_mediation_available: true };
  const registration = (address: string): [string, Record<string, unknown>?][] => [
    ["back"],
    ["register_client_capabilities", { webauthn_available: "yes" }],
    ["register_client_capabilities", { unknown: 1 }],
    ["register_client_capabilities"],
    ["register_login_identifier", { email: "not-an-address" }],
    ["register_login_identifier"],
    ["register_login_identifier", { email: address }],
    ["back"],
    ["register_login_identifier", { email: address }],
    ["verify_passcode", { code: "12345" }],
    ["verify_passcode", { code: "1234567" }],
    ["verify_passcode", { code: ["123456"] }],
    ["verify_passcode"],
    ["verify_passcode", { code: "the code" }],
    ["register_password", { new_password: "short" }],
    ["password_login", { password }],
    ["register_password", { new_password: password }],
    ["back"],
  ];
  const login = (address: string): [string, Record<string, unknown>?][] => [
    ["register_client_capabilities", capable],
    ["webauthn_verify_assertion_response", { assertion_response: {} }],
    [
      "webauthn_verify_assertion_response",
      { assertion_response: { id: "x", response: { clientDataJSON: "e30" } } },
    ],
    ["continue_with_login_identifier", { email: address, username: "x" }],
    ["continue_with_login_identifier", { email: address }],
    ["continue_to_password_login"],
    ["password_login", { password: "" }],
    ["password_login", { password: "seven herons" }],
    ["back"],
    ["continue_to_passcode_confirmation"],
    ["verify_passcode", { code: "wrong" }],
    ["back"],
    ["continue_to_password_login"],
    ["password_login", { password }],
    ["skip"],
    ["skip"],
  ];

  test("answer every step of a recorded walk equally", async () => {
    const walks = [];
    for (const make of [overRest, overTrpc]) {
      const address = newAddress();
      const steps: unknown[] = [];
      for (const [type, recorded] of [
        ["registration", registration(address)],
        ["login", login(address)],
      ] as const) {
        const walker = await make();
        steps.push(comparable(await walker.start(type), address));
        for (const [action, input = {}] of recorded) {
          const typed = input.code === "the code" ? { code: mailedCode(runtime, address) } : input;
          steps.push(comparable(await walker.act(action, typed), address));
        }
      }
      walks.push(steps);
    }
    const [rest, trpc] = walks;
    expect(rest).toHaveLength(36);
    expect(trpc).toEqual(rest);
    const names = (rest as { state: { name: string } }[]).map(({ state }) => state.name);
    expect(names.filter((name) => name === "success")).toHaveLength(2);
  });
});

test("an error that published clients have no words for has the code that they know, and for the page the precise one", async () => {
  const email = newAddress();
  const registration = await restWalk(
    runtime.configured({ STILE_MFA_ACQUIRE_ON_REGISTRATION: "true" }),
    "registration",
  );
  await registration.act("register_client_capabilities");
  await registration.act("register_login_identifier", { email });
  await registration.act("verify_passcode", { code: mailedCode(runtime, email) });
  await registration.act("register_password", { new_password: password });
  await registration.act("continue_to_otp_secret_creation");
  const app = authenticatorApp(String(registration.state.payload.otp_secret));
  await registration.act("otp_code_verify", {
    otp_code: app.code(Date.now() + runtime.platform.clockShift()),
  });
  expect(registration.state.name).toBe("success");

  const wrong = { otp_code: "nodigi" };
  const errorsOf = ({ error, actions }: FlowState) => [
    error,
    actions.otp_code_validate?.inputs.otp_code?.error,
  ];
  const rest = await restWalk(runtime, "login");
  const browser = visitor(runtime);
  let answer = await begin(browser, "login");
  await rest.act("register_client_capabilities");
  for (const [action, input] of [
    ["continue_with_login_identifier", { email }],
    ["continue_to_password_login", {}],
    ["password_login", { password }],
    ["otp_code_validate", wrong],
  ] as const) {
    await rest.act(action, input);
    answer = await act(browser, "login", answer.version, action, input);
  }
  expect(errorsOf(rest.state)).toEqual([
    { code: "form_data_invalid_error", message: "The request is not valid." },
    { code: "passcode_invalid", message: "Incorrect code." },
  ]);
  expect(errorsOf(answer.state)).toMatchObject([
    { code: "form_data_invalid_error", detail_code: "form_data_invalid_error" },
    { code: "passcode_invalid", detail_code: "otp_code_invalid" },
  ]);
});

test("a flow of the page cannot be stepped with the cookie alone over the other interface", async () => {
  const browser = visitor(runtime);
  const { state } = await begin(browser, "login");
  const href = state.actions.continue_with_login_identifier?.href ?? "";
  const response = await browser.post(href, {
    csrf_token: state.csrf_token,
    input_data: { email: newAddress() },
  });
  expect(response.status).toBe(403);
});

test("an account that registered over one interface signs in over the other", async () => {
  const email = newAddress();
  await restRegistration(runtime, email);
  const browser = visitor(runtime);
  let answer = await begin(browser, "login");
  for (const [action, input] of [
    ["continue_with_login_identifier", { email }],
    ["continue_to_password_login", {}],
    ["password_login", { password }],
  ] as const) {
    answer = await act(browser, "login", answer.version, action, input);
  }
  expect(answer.state.name).toBe("success");
});
