import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_BODY_BYTES } from "../http/body.ts";
import type { PageAnswer } from "../http/page/page-flow.ts";
import { mailedCode, password, restRegistration, restWalk } from "../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { type Visitor, visitor } from "../testing/visitor.ts";

let runtime: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime();
});

afterAll(() => runtime.close());

const newAddress = () => `${randomUUID()}@example.com`;

type FlowType = "login" | "registration";

async function call(who: Visitor, procedure: string, input: unknown): Promise<PageAnswer> {
  const response = await who.mutate(`flow.${procedure}`, input);
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: { data: PageAnswer } }).result.data;
}

const start = (who: Visitor, type: FlowType) => call(who, "start", { type });
const current = (who: Visitor, type: FlowType) => call(who, "current", { type });
const act = (who: Visitor, type: FlowType, version: number, action: string, input: object = {}) =>
  call(who, "act", { type, version, action, input });

/** Up to the state that asks for the identifier. */
async function begin(who: Visitor, type: FlowType): Promise<PageAnswer> {
  const { version } = await start(who, type);
  return act(who, type, version, "register_client_capabilities");
}

describe("the page's flow", () => {
  test("is stored in a sealed cookie, and scripts never see its token", async () => {
    const who = visitor(runtime);
    const answer = await start(who, "login");
    expect(answer).toMatchObject({ version: 1, state: { name: "preflight", status: 200, csrf_token: "" } });
    expect(who.setCookies).toEqual([
      expect.stringMatching(/^stile-login=Fe26\.2\*[^;]+; Path=\/; Max-Age=90000; HttpOnly; SameSite=Lax$/),
    ]);
    const before = who.cookies.get("stile-login");
    const next = await act(who, "login", 1, "register_client_capabilities");
    expect(next).toMatchObject({ version: 2, state: { name: "login_init", csrf_token: "" } });
    expect(who.cookies.get("stile-login")).not.toBe(before);
  });

  test("has a cookie that is Secure and bound to the host where there is TLS", async () => {
    const who = visitor(runtime.configured({ BASE_URL: "https://login.example.com" }));
    await start(who, "registration");
    expect(who.setCookies).toEqual([
      expect.stringMatching(
        /^__Host-stile-registration=[^;]+; Path=\/; Max-Age=90000; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });

  test("starts with the first action", async () => {
    const who = visitor(runtime);
    const answer = await act(who, "login", 0, "register_client_capabilities");
    expect(answer).toMatchObject({ version: 2, state: { name: "login_init" } });
    expect(
      (await act(who, "login", 2, "continue_with_login_identifier", { email: newAddress() })).state.status,
    ).toBe(200);
  });

  test("is separate for each type", async () => {
    const who = visitor(runtime);
    await begin(who, "login");
    await start(who, "registration");
    expect((await current(who, "login")).state.name).toBe("login_init");
    expect((await current(who, "registration")).state.name).toBe("preflight");
    who.cookies.set("stile-registration", who.cookies.get("stile-login") ?? "");
    expect((await current(who, "registration")).version).toBe(0);
  });

  test("ends with a session, and is shown again for a minute", async () => {
    const late = await testRuntime();
    const who = visitor(late);
    const email = newAddress();
    let answer = await begin(who, "registration");
    answer = await act(who, "registration", answer.version, "register_login_identifier", { email });
    answer = await act(who, "registration", answer.version, "verify_passcode", {
      code: mailedCode(late, email),
    });
    const before = new Map(who.cookies);
    answer = await act(who, "registration", answer.version, "register_password", { new_password: password });
    expect(answer.state).toMatchObject({ name: "success", csrf_token: "" });
    expect(answer).not.toHaveProperty("redirect_to");
    expect(who.cookies.has("service")).toBe(true);

    // The answer was lost: the browser has the cookies from before.
    for (const [name] of who.cookies) if (!before.has(name)) who.cookies.delete(name);
    for (const [name, value] of before) who.cookies.set(name, value);
    const again = await current(who, "registration");
    expect(again.state).toEqual(answer.state);
    expect(again.version).toBe(answer.version);
    const validated = await (await who.request("/sessions/validate")).json();
    expect(validated).toMatchObject({
      is_valid: true,
      claims: { session_id: (answer.state.payload.claims as { session_id: string }).session_id },
    });

    late.advanceClock(61);
    who.cookies.set("stile-registration", before.get("stile-registration") ?? "");
    expect((await current(who, "registration")).state).toMatchObject({ name: "error", status: 403 });
    await late.close();
  });
});

describe("a lost answer", () => {
  test("is read again without performing anything", async () => {
    const who = visitor(runtime);
    const email = newAddress();
    const { version } = await begin(who, "registration");
    const kept = new Map(who.cookies);
    const lost = await act(who, "registration", version, "register_login_identifier", { email });
    for (const [name, value] of kept) who.cookies.set(name, value);

    expect(
      (await act(who, "registration", version, "register_login_identifier", { email })).state,
    ).toMatchObject({ name: "error", status: 403 });
    const shown = await current(who, "registration");
    expect(shown.state).toMatchObject({ name: "passcode_confirmation", csrf_token: "" });
    expect(shown.version).toBe(lost.version);
    expect(runtime.enqueued.filter(({ to }) => to === email)).toHaveLength(1);
    const code = mailedCode(runtime, email);
    expect((await act(who, "registration", shown.version, "verify_passcode", { code })).state.name).toBe(
      "password_creation",
    );
  });
});

describe("two tabs", () => {
  test("of one flow: rejects the outdated one, which then reads the current state", async () => {
    const who = visitor(runtime);
    const first = await begin(who, "login");
    const moved = await act(who, "login", first.version, "continue_with_login_identifier", {
      email: newAddress(),
    });
    const late = await act(who, "login", first.version, "continue_with_login_identifier", {
      email: newAddress(),
    });
    expect(late.state).toMatchObject({ name: "error", status: 403, actions: {} });
    expect(await current(who, "login")).toMatchObject({
      version: moved.version,
      state: { name: moved.state.name },
    });
    expect((await act(who, "login", moved.version, "back")).state.name).toBe("login_init");
  });

  test("does not start a second flow from the outdated first state", async () => {
    const who = visitor(runtime);
    await begin(who, "login");
    expect((await act(who, "login", 0, "register_client_capabilities")).state).toMatchObject({
      name: "error",
      status: 403,
    });
    expect((await current(who, "login")).state.name).toBe("login_init");
  });
});

describe("without a flow", () => {
  test("the current state is the first one, and nothing is written", async () => {
    const who = visitor(runtime);
    expect(await current(who, "login")).toMatchObject({
      version: 0,
      state: { name: "preflight", status: 200 },
    });
    expect(who.setCookies).toEqual([]);
  });

  test("an action of a later state is refused", async () => {
    expect((await act(visitor(runtime), "login", 3, "back")).state).toMatchObject({
      name: "error",
      status: 403,
    });
  });

  test("after it has expired, 410 says so, and the first action begins another", async () => {
    const late = await testRuntime();
    const who = visitor(late);
    const { version } = await begin(who, "login");
    late.advanceClock(3601);
    expect((await act(who, "login", version, "continue_with_login_identifier", {})).state).toMatchObject({
      name: "error",
      status: 410,
    });
    expect((await current(who, "login")).state.status).toBe(410);
    expect((await act(who, "login", 0, "register_client_capabilities")).state.name).toBe("login_init");
    await late.close();
  });

  test.each([
    ["cut", (seal: string) => seal.slice(0, -9)],
    ["changed", (seal: string) => seal.replace(/\*[^*]{10}/, "*AAAAAAAAAA")],
    ["sealed elsewhere", () => "Fe26.2*1*abc*def*ghi*123*jkl*mno~2"],
    ["rubbish", () => "rubbish"],
  ])("ignores a cookie that is %s", async (_, spoil) => {
    const who = visitor(runtime);
    await start(who, "login");
    who.cookies.set("stile-login", spoil(who.cookies.get("stile-login") ?? ""));
    expect((await current(who, "login")).version).toBe(0);
  });
});

describe("a call", () => {
  const refused = async (response: Response) => {
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
    ["flow.act", { type: "login" }],
    ["flow.act", { type: "login", action: "", version: 1, input: {} }],
    ["flow.act", { type: "login", action: "x".repeat(65), version: 1, input: {} }],
    ["flow.act", { type: "login", action: "back", version: "1", input: {} }],
    ["flow.act", { type: "login", action: "back", version: -1, input: {} }],
    ["flow.act", { type: "login", action: "back", version: 1e300, input: {} }],
    ["flow.act", { type: "login", action: "back", version: 1, input: [] }],
    ["flow.act", '{"type":"login","action":"back","version":1,"input":{"__proto__":1}}'],
    ["flow.act", "{"],
  ])("of %s that is malformed, %j, is an error of tRPC", async (procedure, input) => {
    expect(await refused(await visitor(runtime).mutate(procedure, input))).toBe(400);
  });

  test("of an unknown procedure is 404", async () => {
    expect(await refused(await visitor(runtime).mutate("flow.other", {}))).toBe(404);
    expect(await refused(await visitor(runtime).mutate("constructor", {}))).toBe(404);
  });

  test("A91 that is too large is 413", async () => {
    const input = { type: "login", action: "back", version: 1, input: { code: "x".repeat(MAX_BODY_BYTES) } };
    expect(await refused(await visitor(runtime).mutate("flow.act", input))).toBe(413);
  });

  test("A37 of another content type or site is rejected", async () => {
    const who = visitor(runtime);
    expect((await who.mutate("flow.start", { type: "login" }, { "content-type": "text/plain" })).status).toBe(
      400,
    );
    for (const site of ["cross-site", "same-site", "none"]) {
      expect((await who.mutate("flow.start", { type: "login" }, { "sec-fetch-site": site })).status).toBe(
        403,
      );
    }
    expect(who.cookies.size).toBe(0);
  });

  const streamed = { "trpc-accept": "application/jsonl" };
  test.each([{}, streamed])("cannot be batched, with the headers %j", async (headers) => {
    const who = visitor(runtime);
    const [one, two] = [{ 0: { type: "login" } }, { 0: { type: "login" }, 1: { type: "login" } }];
    expect(await refused(await who.mutate("flow.start?batch=1", one, headers))).toBe(400);
    expect(await refused(await who.mutate("flow.start,flow.start?batch=1", two, headers))).toBe(400);
    expect(await refused(await who.mutate("flow.start", one[0], { ...headers, ...streamed }))).toBe(400);
  });

  test("carries the headers of every answer", async () => {
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
      const who = visitor(runtime);
      const email = newAddress();
      const { version } = await begin(who, "registration");
      await who.mutate(
        "flow.act",
        { type: "registration", version, action: "register_login_identifier", input: { email } },
        headers,
      );
      expect(runtime.enqueued.findLast(({ to }) => to === email)?.language).toBe(language);
    }
  });
});

/** Two ways to walk; the calls of the one are the calls of the other. */
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
  const who = visitor(runtime);
  let walk: Awaited<ReturnType<typeof restWalk>>;
  let action: (name: string) => string;
  const step = (response: Response, state: unknown): Step => ({ state, session: sessionOf(who, response) });
  return {
    async start(type) {
      walk = await restWalk(runtime, type, who);
      const id = Object.values(walk.state.actions)[0]?.href.split("%40")[1];
      action = (name) => `/${type}?action=${name}%40${id}`;
      return step(walk.response, walk.state);
    },
    async act(name, input = {}) {
      if (walk.state.actions[name]) {
        const state = await walk.act(name, input);
        return step(walk.response, state);
      }
      const response = await who.post(action(name), { csrf_token: walk.state.csrf_token, input_data: input });
      return step(response, await response.json());
    },
  };
}

async function overTrpc(): Promise<Walker> {
  const who = visitor(runtime);
  let type: FlowType;
  let version = 0;
  const step = async (response: Response): Promise<Step> => {
    const { data } = ((await response.json()) as { result: { data: PageAnswer } }).result;
    if (data.state.name !== "error") version = data.version;
    return { state: data.state, session: sessionOf(who, response) };
  };
  return {
    async start(of) {
      type = of;
      return step(await who.mutate("flow.start", { type }));
    },
    act: async (action, input = {}) => step(await who.mutate("flow.act", { type, version, action, input })),
  };
}

function sessionOf(who: Visitor, response: Response): Step["session"] {
  const cookie = who.setCookies.find((line) => line.startsWith("service="));
  return {
    lifetime: response.headers.get("x-session-lifetime")?.replace(/\d$/, "") ?? null,
    retention: response.headers.get("x-session-retention"),
    retry: response.headers.get("retry-after"),
    cookie: cookie?.replace(/=[^;]+/, "=…").replace(/Max-Age=\d+/, "Max-Age=…") ?? null,
  };
}

/** Without what is different in any two flows: tokens, identifiers, moments, challenges, addresses. */
function comparable(step: Step, address: string): unknown {
  return JSON.parse(
    JSON.stringify(step)
      .replaceAll(address, "<address>")
      .replace(/"csrf_token":"[^"]*"/g, '"csrf_token":""')
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
    ["register_login_identifier", { email: "nobody" }],
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

  test("answer every step of a recorded walk alike", async () => {
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

test("a flow of the page cannot be stepped with the cookie alone over the other interface", async () => {
  const who = visitor(runtime);
  const { state } = await begin(who, "login");
  const href = state.actions.continue_with_login_identifier?.href ?? "";
  const response = await who.post(href, {
    csrf_token: state.csrf_token,
    input_data: { email: newAddress() },
  });
  expect(response.status).toBe(403);
});

test("an account that registered over one interface signs in over the other", async () => {
  const email = newAddress();
  await restRegistration(runtime, email);
  const who = visitor(runtime);
  let answer = await begin(who, "login");
  for (const [action, input] of [
    ["continue_with_login_identifier", { email }],
    ["continue_to_password_login", {}],
    ["password_login", { password }],
  ] as const) {
    answer = await act(who, "login", answer.version, action, input);
  }
  expect(answer.state.name).toBe("success");
});
