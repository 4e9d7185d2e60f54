import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { FlowState } from "../../flow/wire.ts";
import { eventually } from "../../testing/eventually.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { password, type RestWalk, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import { testRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";
import { MAX_BODY_BYTES } from "../request/body.ts";

const runtime = await runtimeForTests();

const newAddress = () => `${randomUUID()}@example.com`;

const hardError = (status: number, code: string) => ({
  name: "error",
  status,
  payload: {},
  csrf_token: "",
  actions: {},
  error: { code, message: expect.any(String) },
  links: null,
});

/** Calls `register_client_capabilities` with a replaced query, body or headers. */
async function send(
  walk: RestWalk,
  instead: { query?: string; body?: unknown; headers?: Record<string, string> },
) {
  const href = walk.state.actions.register_client_capabilities?.href ?? "";
  const path = instead.query === undefined ? href : `${href.split("?")[0]}?${instead.query}`;
  const body = "body" in instead ? instead.body : { csrf_token: walk.state.csrf_token, input_data: {} };
  const response = await walk.visitor.post(path, body, instead.headers);
  return { status: response.status, state: (await response.json()) as FlowState };
}

/** Verifies that the earlier requests changed nothing: the newest token still works. */
async function expectFlowUnchanged(walk: RestWalk): Promise<void> {
  const { state } = await send(walk, {});
  expect(state).toMatchObject({
    name: "login_init",
    status: 200,
    csrf_token: expect.stringMatching(/^[0-9A-Za-z]{32}$/),
  });
}

describe("a start", () => {
  test("ignores a body that is not said to be JSON, or names no first action", async () => {
    const text = { "content-type": "text/plain" };
    for (const [body, headers] of [
      [undefined, {}],
      ["{", text],
      ['{"csrf_token":1}', {}],
      ["[]", {}],
      ["x".repeat(MAX_BODY_BYTES + 1), text],
    ] as const) {
      const response = await visitor(runtime).post("/login", body, headers);
      const state = (await response.json()) as FlowState;
      expect(response.status).toBe(200);
      expect(state).toMatchObject({ name: "preflight", status: 200, payload: {}, links: null });
      expect(state.csrf_token).toMatch(/^[0-9A-Za-z]{32}$/);
      expect(state.actions.register_client_capabilities?.href).toMatch(
        /^\/login\?action=register_client_capabilities%40[0-9a-f-]{36}$/,
      );
    }
  });

  test("sets no cookie and no session headers", async () => {
    const asked = visitor(runtime);
    const response = await asked.post("/registration");
    expect(asked.setCookies).toEqual([]);
    expect([...response.headers.keys()].filter((name) => name.startsWith("x-"))).toEqual([
      "x-content-type-options",
      "x-request-id",
    ]);
  });

  test("is rate limited by source: 429", async () => {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STARTS_PER_MINUTE: "2",
    });
    const start = (peer: string) => visitor(limited, peer).post("/login");
    expect((await start("2001:db8:9::1")).status).toBe(200);
    expect((await start("2001:db8:9::2")).status).toBe(200);
    const refused = await start("2001:db8:9:0:ffff::3");
    expect(refused.status).toBe(429);
    const state = (await refused.json()) as FlowState;
    expect(state).toMatchObject({
      name: "error",
      actions: {},
      csrf_token: "",
      error: { code: "rate_limit_exceeded" },
    });
    const { resend_after, retry_after } = state.payload;
    expect(resend_after).toBeGreaterThan(0);
    expect(retry_after).toBe(resend_after);
    expect(refused.headers.get("retry-after")).toBe(String(retry_after));
    expect((await start("2001:db8:9:1::1")).status).toBe(200);
  });
});

describe("a malformed request", () => {
  const id = randomUUID();
  const cases: [string, Parameters<typeof send>[1]][] = [
    ["A34 an action without a flow", { query: "action=x" }],
    ["A34 an action of an empty flow", { query: "action=x@" }],
    ["A34 a flow without an action", { query: `action=@${id}` }],
    ["A34 two flows", { query: "action=a@b@c" }],
    ["A34 a NUL", { query: "action=%00" }],
    ["A34 ten kilobytes", { query: `action=${"x".repeat(10_000)}` }],
    ["A34 two actions", { query: `action=back@${id}&action=back@${id}` }],
    ["a body that is no JSON", { body: "{" }],
    ["a body that is no object", { body: "[]" }],
    ["A92 an unknown member", { body: { csrf_token: "x", input_data: {}, user_id: id } }],
    ["input that is no object", { body: { csrf_token: "x", input_data: [] } }],
    ["A91 nesting over 32 levels", { body: `{"input_data":${"[".repeat(40)}${"]".repeat(40)}}` }],
    ["A37 text", { headers: { "content-type": "text/plain" } }],
    ["A37 a form", { headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["A90 a prototype", { body: '{"csrf_token":"x","input_data":{"__proto__":{}}}' }],
  ];

  test.each(cases)("with %s is 400 as `error` and changes nothing", async (_, instead) => {
    const walk = await restWalk(runtime, "login");
    expect(await send(walk, instead)).toEqual({
      status: 400,
      state: hardError(400, "form_data_invalid_error"),
    });
    await expectFlowUnchanged(walk);
  });

  test("A91 with a body over 64 KiB is 413 and closes the connection", async () => {
    const walk = await restWalk(runtime, "login");
    const href = walk.state.actions.register_client_capabilities?.href ?? "";
    const response = await walk.visitor.post(href, { csrf_token: "x".repeat(MAX_BODY_BYTES) });
    expect(response.status).toBe(413);
    expect(response.headers.get("connection")).toBe("close");
    expect(await response.json()).toEqual(hardError(413, "form_data_invalid_error"));
    await expectFlowUnchanged(walk);
  });
});

describe("a request that the flow does not permit", () => {
  const notPermitted = { status: 403, state: hardError(403, "operation_not_permitted_error") };

  test.each([undefined, null, "", "x".repeat(32), ["x"], 1, {}])(
    "A28 with the token %j is 403, and the newest token still works",
    async (csrf_token) => {
      const walk = await restWalk(runtime, "login");
      expect(await send(walk, { body: { csrf_token, input_data: {} } })).toEqual(notPermitted);
      await expectFlowUnchanged(walk);
    },
  );

  test("A28 without any body is 403", async () => {
    const walk = await restWalk(runtime, "login");
    expect(await send(walk, { body: undefined })).toEqual(notPermitted);
    await expectFlowUnchanged(walk);
  });

  test("A28 A29 with the previous token or the token of another flow is 403", async () => {
    const walk = await restWalk(runtime, "login");
    const other = await restWalk(runtime, "login");
    const stale = walk.state.csrf_token;
    const href = walk.state.actions.register_client_capabilities?.href ?? "";
    await walk.act("register_client_capabilities");
    for (const csrf_token of [stale, other.state.csrf_token]) {
      const response = await walk.visitor.post(href, { csrf_token, input_data: {} });
      expect({ status: response.status, state: await response.json() }).toEqual(notPermitted);
    }
    expect((await walk.act("continue_with_login_identifier", { email: newAddress() })).status).toBe(200);
  });

  test("for an unknown flow or with another flow type is 403", async () => {
    const walk = await restWalk(runtime, "login");
    const href = walk.state.actions.register_client_capabilities?.href ?? "";
    const body = { csrf_token: walk.state.csrf_token, input_data: {} };
    for (const path of [
      href.replace(/%40.*/, `%40${randomUUID()}`),
      href.replace("/login", "/registration"),
    ]) {
      const response = await walk.visitor.post(path, body);
      expect({ status: response.status, state: await response.json() }).toEqual(notPermitted);
    }
    await expectFlowUnchanged(walk);
  });

  test("A31 A32 for an action that is not offered is 403", async () => {
    const walk = await restWalk(runtime, "login");
    const flowId = walk.state.actions.register_client_capabilities?.href.split("%40")[1];
    for (const action of [
      "register_password",
      "back",
      "password_login",
      "constructor",
      "toString",
      "no-such-action",
    ]) {
      expect(await send(walk, { query: `action=${action}@${flowId}` })).toEqual(notPermitted);
    }
    await expectFlowUnchanged(walk);
  });

  test("A30 is performed exactly once if fifty arrive concurrently with one token", async () => {
    const walk = await restWalk(runtime, "login");
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(walk, {})));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(49);
  });

  test("A33 for an expired flow is 410", async () => {
    const late = await testRuntime();
    const walk = await restWalk(late, "login");
    late.advanceClock(3601);
    expect(await send(walk, {})).toEqual({ status: 410, state: hardError(410, "flow_expired_error") });
    await late.close();
  });

  test("A37 from another site is 403, also for a start", async () => {
    const walk = await restWalk(runtime, "login");
    const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    expect(await send(walk, { headers })).toEqual(notPermitted);
    expect((await walk.visitor.post("/login", undefined, headers)).status).toBe(403);
    await expectFlowUnchanged(walk);
  });
});

describe("bad input", () => {
  test("is 400 with the current state, a fresh token, and an error on the input", async () => {
    const walk = await restWalk(runtime, "login");
    await walk.act("register_client_capabilities");
    const before = walk.state.csrf_token;
    const state = await walk.act("continue_with_login_identifier", { email: "not-an-address" });
    expect(walk.response.status).toBe(400);
    expect(state).toMatchObject({
      name: "login_init",
      status: 400,
      error: { code: "form_data_invalid_error" },
    });
    expect(state.csrf_token).not.toBe(before);
    expect(state.actions.continue_with_login_identifier?.inputs.email?.error?.code).toBe(
      "value_invalid_error",
    );
  });

  test.each([
    ["A92 an unknown member", { email: "a@example.com", extra: 1 }, 400],
    ["an unknown member that is null", { email: "a@example.com", extra: null }, 200],
    ["A93 a number", { email: 1 }, 400],
    ["A93 an array", { email: ["a@example.com"] }, 400],
    ["A93 an operator", { email: { $ne: 1 } }, 400],
    ["A10 a NUL", { email: "a\0@example.com" }, 400],
    ["empty input", {}, 400],
  ])("%s: %j is %i", async (_, input, status) => {
    const walk = await restWalk(runtime, "login");
    await walk.act("register_client_capabilities");
    expect((await walk.act("continue_with_login_identifier", input as Record<string, unknown>)).status).toBe(
      status,
    );
  });

  test("A10 a NUL in any text at any depth is rejected with a client error", async () => {
    const walk = await restWalk(runtime, "login");
    await walk.act("register_client_capabilities", { webauthn_available: true });
    const nul = "a\0b";
    const assertion_response = {
      id: nul,
      rawId: nul,
      type: "public-key",
      response: { [nul]: nul, clientDataJSON: nul },
    };
    await walk.act("webauthn_verify_assertion_response", { assertion_response });
    expect(walk.response.status).toBe(401);
  });
});

describe("success", () => {
  test("issues a session: cookie, lifetime, retention", async () => {
    const { response, state, visitor: browser } = await restRegistration(runtime, newAddress());
    expect(response.status).toBe(200);
    expect(response.headers.get("x-session-lifetime")).toMatch(/^43(200|199)$/);
    expect(response.headers.get("x-session-retention")).toBe("persistent");
    expect(response.headers.get("x-auth-token")).toBeNull();
    expect(browser.setCookies).toEqual([
      expect.stringMatching(
        /^service=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Max-Age=43\d{3}; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(/^stile-marks-/),
    ]);
    expect(state).toMatchObject({ actions: {}, payload: { claims: { session_id: expect.any(String) } } });
  });

  test("sends X-Auth-Token in place of the cookie if so configured", async () => {
    const headed = runtime.configured({ STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true" });
    const { response, visitor: browser } = await restRegistration(headed, newAddress());
    expect(response.headers.get("x-auth-token")).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(browser.setCookies).toEqual([expect.stringMatching(/^stile-marks-/)]);
  });

  test("sets a Secure cookie with the configured name, domain and SameSite", async () => {
    const configured = runtime.configured({
      BASE_URL: "https://login.example.com",
      STILE_SESSION_COOKIE_NAME: "hanko",
      STILE_SESSION_COOKIE_DOMAIN: "example.com",
      STILE_SESSION_COOKIE_SAME_SITE: "none",
    });
    const { visitor: browser } = await restRegistration(configured, newAddress());
    expect(browser.setCookies).toEqual([
      expect.stringMatching(
        /^hanko=[^;]+; Path=\/; Domain=example.com; Max-Age=43\d{3}; HttpOnly; Secure; SameSite=None$/,
      ),
      expect.stringMatching(/^__Host-stile-marks-/),
    ]);
  });

  test.each([
    [true, "persistent", /; Max-Age=43\d{3};/],
    [false, "session", /^(?!.*Max-Age)/],
  ])("A40 with remember_me %s the retention is %s", async (remember_me, retention, cookie) => {
    const asking = runtime.configured({ STILE_SESSION_COOKIE_RETENTION: "prompt" });
    const email = newAddress();
    await restRegistration(asking, email);
    const walk = await restWalk(asking, "login");
    await walk.act("register_client_capabilities");
    await walk.act("remember_me", { remember_me });
    await walk.act("continue_with_login_identifier", { email });
    await walk.act("continue_to_password_login");
    await walk.act("password_login", { password });
    expect(walk.state.name).toBe("success");
    expect(walk.response.headers.get("x-session-retention")).toBe(retention);
    expect(walk.visitor.setCookies[0]).toMatch(cookie);
  });

  test("A33 offers no further action: a repeated sign-in is 403 and issues no second session", async () => {
    const email = newAddress();
    const walk = await restRegistration(runtime, email);
    const flow = await restWalk(runtime, "login");
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_password_login");
    const href = flow.state.actions.password_login?.href ?? "";
    await flow.act("password_login", { password });
    const again = await walk.visitor.post(href, {
      csrf_token: flow.state.csrf_token,
      input_data: { password },
    });
    expect(again.status).toBe(403);
    expect(walk.visitor.setCookies).toEqual([]);
  });

  test("A26 ends a planted session and issues a new one", async () => {
    const first = await restRegistration(runtime, newAddress());
    const planted = first.visitor.cookies.get("service") ?? "";
    const email = newAddress();
    const victim = visitor(runtime);
    victim.cookies.set("service", planted);
    await restRegistration(runtime, email);
    const walk = await restWalk(runtime, "login", victim);
    await walk.act("register_client_capabilities");
    await walk.act("continue_with_login_identifier", { email });
    await walk.act("continue_to_password_login");
    await walk.act("password_login", { password });
    expect(victim.cookies.get("service")).not.toBe(planted);
    expect((await victim.request("/me")).status).toBe(200);
    expect((await first.visitor.request("/me")).status).toBe(401);
  });

  test("A26 ends both sessions if cookies name two", async () => {
    const email = newAddress();
    const before = [
      await restRegistration(runtime, newAddress()),
      await restRegistration(runtime, email),
    ].map((walk) => walk.visitor);
    const [planted = "", own = ""] = before.map(({ cookies }) => cookies.get("service"));
    const person = visitor(runtime);
    person.cookies.set("service", `${planted}; service=${own}`);
    const walk = await restWalk(runtime, "login", person);
    await walk.act("register_client_capabilities");
    await walk.act("continue_with_login_identifier", { email });
    await walk.act("continue_to_password_login");
    await walk.act("password_login", { password });
    for (const browser of before) expect((await browser.request("/me")).status).toBe(401);
    // The planted cookie is still there beside the new one, and is invalid.
    person.cookies.set("service", `${planted}; service=${person.cookies.get("service")}`);
    expect((await person.request("/me")).status).toBe(200);
  });
});

test.each([
  ["de", "de"],
  ["undefined", "en"],
  ["tlh", "en"],
  [null, "en"],
])("X-Language %s selects mails in %s", async (header, language) => {
  const email = newAddress();
  const browser = visitor(runtime);
  const walk = await restWalk(runtime, "registration", browser);
  await walk.act("register_client_capabilities");
  await browser.post(
    walk.state.actions.register_login_identifier?.href ?? "",
    { csrf_token: walk.state.csrf_token, input_data: { email } },
    header === null ? {} : { "x-language": header },
  );
  expect(runtime.enqueued.findLast(({ to }) => to === email)?.language).toBe(language);
});

test("A95 A129 a full queue of the hasher is answered with 503, and the same step can be repeated", async () => {
  const email = newAddress();
  await restRegistration(runtime, email);
  let full = true;
  const { passwordHasher } = runtime;
  const queue = {
    waiting: 0,
    get full() {
      return full;
    },
    hash: passwordHasher.hash,
    verify: passwordHasher.verify,
  };
  const walk = await restWalk({ ...runtime, passwordHasher: queue }, "login");
  await walk.act("register_client_capabilities");
  await walk.act("continue_with_login_identifier", { email });
  const { href = "" } = (await walk.act("continue_to_password_login")).actions.password_login ?? {};
  const request = { csrf_token: walk.state.csrf_token, input_data: { password } };

  const refused = await walk.visitor.post(href, request);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ name: "error", status: 503, payload: { retry_after: 1 } });
  full = false;
  expect(await (await walk.visitor.post(href, request)).json()).toMatchObject({ status: 200 });
});

test("logins that wait for their hash hold no connection and no lock", async () => {
  const small = runtime.configured({ STILE_DATABASE_POOL_SIZE: "2" });
  const users = Array.from({ length: 6 }, newAddress);
  for (const email of users) await restRegistration(runtime, email);
  const { passwordHasher } = small;
  const proceed = Promise.withResolvers<void>();
  let waiting = 0;
  const verify: typeof passwordHasher.verify = async (...attempt) => {
    waiting += 1;
    await proceed.promise;
    return passwordHasher.verify(...attempt);
  };
  const slow = { ...small, passwordHasher: { full: false, waiting: 0, hash: passwordHasher.hash, verify } };
  const walks = await Promise.all(
    users.map(async (email) => {
      const walk = await restWalk(slow, "login");
      await walk.act("register_client_capabilities");
      await walk.act("continue_with_login_identifier", { email });
      await walk.act("continue_to_password_login");
      return walk;
    }),
  );
  const logins = walks.map((walk) => walk.act("password_login", { password }));
  try {
    await eventually(() => expect(waiting).toBe(users.length));
    const { read, claim, write } = small.database;
    for (const { $client: pool } of [read, claim, write]) expect(pool.idleCount).toBe(pool.totalCount);
    // With `nowait`, a row that a waiting login had locked would be an error.
    const { rowCount } = await write.$client.query("select from flows for update nowait");
    expect(rowCount).toBeGreaterThanOrEqual(users.length);
  } finally {
    proceed.resolve();
  }
  expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(users.map(() => 200));
});

describe("A129 while no connection is free", () => {
  test("as many steps wait for one as the pool has, and the others wait for those", async () => {
    const configured = runtime.configured({ STILE_DATABASE_POOL_SIZE: "2" });
    const { admission } = configured;
    let admitted = 0;
    const take: typeof admission.take = async (...turn) => {
      const end = await admission.take(...turn);
      if (end) admitted += 1;
      return end;
    };
    const small = { ...configured, admission: { take } };
    const walks = await Promise.all(Array.from({ length: 12 }, () => restWalk(small, "login")));
    const { $client: pool } = small.database.claim;
    const held = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    admitted = 0;
    const steps = walks.map((walk) => walk.act("register_client_capabilities"));
    try {
      await eventually(() => expect(pool.waitingCount).toBeGreaterThanOrEqual(2));
      await new Promise(setImmediate);
      expect(admitted).toBe(2);
    } finally {
      for (const connection of held) connection.release();
    }
    expect((await Promise.all(steps)).map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(admitted).toBe(12);
  });

  test("a step that has waited too long is answered with 503, and can be repeated", async () => {
    let busy = false;
    const precise = runtime.configured({ STILE_COMPATIBILITY_ERROR_CODES: "precise" });
    const { admission } = precise;
    const take: typeof admission.take = async (...turn) => (busy ? null : admission.take(...turn));
    const walk = await restWalk({ ...precise, admission: { take } }, "login");
    busy = true;
    expect(await send(walk, {})).toEqual({
      status: 503,
      state: {
        ...hardError(503, "temporarily_unavailable"),
        payload: { resend_after: 1, retry_after: 1 },
      },
    });
    expect((await walk.visitor.post("/login")).status).toBe(503);
    busy = false;
    await expectFlowUnchanged(walk);
  });
});
