import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { OverloadedError } from "../../lib/overloaded-error.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { password, type RestWalk, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "../page/page-answer.ts";

/** Reauthentication before a change of the account issues another session; the one before ends. */

const settings = { STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" };
const change = { password: "nine otters under the bridge" };

const base = await runtimeForTests(settings);

/** A user who signed in an hour ago, and a thief with a copy of the session's cookie. */
async function robbed(runtime: TestRuntime = base): Promise<{ owner: Visitor; thief: Visitor }> {
  const { visitor: owner, state } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  const { subject } = state.payload.claims as { subject: string };
  await runtime.database.write.$client.query(
    "update sessions set authenticated_at = authenticated_at - interval '1 hour' where user_id = $1",
    [subject],
  );
  const thief = visitor(runtime, "198.51.100.7");
  for (const [name, value] of owner.cookies) thief.cookies.set(name, value);
  return { owner, thief };
}

async function manage(browser: Visitor, runtime: TestRuntime = base): Promise<RestWalk> {
  const flow = await restWalk(runtime, "profile", browser);
  await flow.act("register_client_capabilities");
  return flow;
}

/** Expects that the thief's copy has ended, and that the owner's session is fresh. */
async function expectReplaced({ owner, thief }: { owner: Visitor; thief: Visitor }): Promise<void> {
  expect(owner.cookies.get("service")).not.toBe(thief.cookies.get("service"));
  expect((await thief.request("/me")).status).toBe(401);
  expect((await owner.request("/me")).status).toBe(200);
  const flow = await manage(owner);
  expect((await flow.act("password_update", change)).name).toBe("profile_init");
}

describe("A130 after reauthentication of its owner a stolen session", () => {
  test("has ended, over REST", async () => {
    const both = await robbed();
    const stolen = await manage(both.thief);
    const flow = await manage(both.owner);
    expect((await flow.act("password_update", change)).name).toBe("login_password");
    expect(both.owner.setCookies.filter((line) => line.startsWith("service="))).toEqual([]);
    expect((await flow.act("password_login", { password: "not it" })).status).toBe(400);
    expect(both.owner.cookies.get("service")).toBe(both.thief.cookies.get("service"));
    expect((await flow.act("password_login", { password })).name).toBe("profile_init");
    expect(flow.response.headers.get("x-session-lifetime")).toMatch(/^\d+$/);
    await expectReplaced(both);
    expect(await stolen.act("password_update", change)).toMatchObject({ name: "error", status: 401 });
  });

  test("has ended, over tRPC, and the page continues", async () => {
    const both = await robbed();
    const { owner } = both;
    let answer: PageAnswer | undefined;
    const act = async (action: string, input: object = {}) => {
      const { version = 0 } = answer ?? {};
      const response = await owner.mutate("flow.act", { type: "profile", version, action, input });
      answer = (await response.json()).result.data as PageAnswer;
      return answer.state.name;
    };
    await act("register_client_capabilities");
    expect(await act("password_update", change)).toBe("login_password");
    expect(await act("password_login", { password })).toBe("profile_init");
    expect(answer).not.toHaveProperty("redirect_to");
    const cookie = owner.setCookies.find((line) => line.startsWith("stile-profile-"));
    expect(cookie).toContain("; Max-Age=90000;");
    expect(await act("patch_metadata", { patch_metadata: { a: 1 } })).toBe("profile_init");
    const shown = (await (await owner.mutate("flow.current", { type: "profile" })).json()).result.data;
    expect(shown.state.name).toBe("profile_init");
    await expectReplaced(both);
  });

  test("has ended, without a script", async () => {
    const both = await robbed();
    const { owner } = both;
    const submit = (action: string, version: number, fields: Record<string, string> = {}) =>
      owner.submit("/step", { flow: "profile", action, version: String(version), ...fields });
    await submit("register_client_capabilities", 0);
    await submit("password_update", 2, change);
    const response = await submit("password_login", 3, { password });
    expect(response.headers.get("location")).toBe("/?flow=profile");
    await expectReplaced(both);
  });

  test("has ended, with X-Auth-Token", async () => {
    const runtime = base.configured({ ...settings, STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true" });
    const registered = await restRegistration(runtime, `${randomUUID()}@example.com`);
    const stolen = registered.response.headers.get("x-auth-token") ?? "";
    const { subject } = registered.state.payload.claims as { subject: string };
    await runtime.database.write.$client.query(
      "update sessions set authenticated_at = authenticated_at - interval '1 hour' where user_id = $1",
      [subject],
    );
    const bearer = visitor(runtime);
    const post = (href: string, body: unknown) =>
      bearer.post(href, body, { authorization: `Bearer ${stolen}` });
    let response = await post("/profile", undefined);
    for (const [action, input_data] of [
      ["register_client_capabilities", {}],
      ["password_update", change],
      ["password_login", { password }],
    ] as const) {
      const state = await response.json();
      response = await post(state.actions[action].href, { csrf_token: state.csrf_token, input_data });
    }
    expect((await response.json()).name).toBe("profile_init");
    const issued = response.headers.get("x-auth-token") ?? "";
    const statusOf = async (token: string) =>
      (await bearer.request("/me", { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await statusOf(issued)).toBe(200);
    expect(await statusOf(stolen)).toBe(401);
  });
});

test("A130 another stale session of the same owner stays, and stays stale", async () => {
  const { owner, thief } = await robbed();
  const elsewhere = await manage(thief);
  const { sessions } = elsewhere.state.payload as { sessions: { id: string }[] };
  expect(sessions).toHaveLength(1);
  // The thief has a session of their own, not the one that the owner reauthenticates in.
  const { rows } = await base.database.write.$client.query(
    `insert into sessions select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
     from sessions s where id = $1 returning id, authenticated_at`,
    [sessions[0]?.id],
  );
  expect(rows).toHaveLength(1);
  const flow = await manage(owner);
  await flow.act("password_update", change);
  await flow.act("password_login", { password });
  expect(flow.state.name).toBe("profile_init");
  const after = await base.database.read.$client.query(
    "select authenticated_at from sessions where id = $1",
    [rows[0].id],
  );
  expect(after.rows).toEqual([{ authenticated_at: rows[0].authenticated_at }]);
});

test("a remembered session is remembered after reauthentication", async () => {
  const runtime = base.configured({ ...settings, STILE_SESSION_COOKIE_RETENTION: "prompt" });
  for (const remember_me of [true, false]) {
    const email = `${randomUUID()}@example.com`;
    await restRegistration(runtime, email);
    const login = await restWalk(runtime, "login");
    await login.act("register_client_capabilities");
    await login.act("remember_me", { remember_me });
    await login.act("continue_with_login_identifier", { email });
    if (login.state.name !== "login_password") await login.act("continue_to_password_login");
    await login.act("password_login", { password });
    if (login.state.name !== "success") await login.act("skip");
    expect(login.state.name).toBe("success");
    await runtime.database.write.$client.query(
      "update sessions set authenticated_at = authenticated_at - interval '1 hour' where created_at > now() - interval '1 minute'",
    );
    const flow = await manage(login.visitor, runtime);
    await flow.act("password_update", change);
    await flow.act("password_login", { password });
    expect(flow.state.name).toBe("profile_init");
    const cookie = login.visitor.setCookies.find((line) => line.startsWith("service="));
    expect(cookie?.includes("Max-Age=")).toBe(remember_me);
  }
});

test("A130 the owner's proof performs no change that a thief with the page's cookies asked for", async () => {
  const { owner } = await robbed();
  const page = (browser: Visitor, version = 0) => {
    const call = async (procedure: string, input: object): Promise<PageAnswer["state"]> => {
      const response = await browser.mutate(`flow.${procedure}`, { type: "profile", ...input });
      const answer = (await response.json()).result.data as PageAnswer;
      if (answer.version > 0) ({ version } = answer);
      return answer.state;
    };
    return {
      act: (action: string, input: object = {}) => call("act", { version, action, input }),
      current: () => call("current", {}),
    };
  };
  const own = page(owner);
  await own.act("register_client_capabilities");
  const thief = visitor(base, "198.51.100.7");
  for (const [name, value] of owner.cookies) thief.cookies.set(name, value);
  const stolen = page(thief, 2);
  expect((await stolen.act("password_update", change)).name).toBe("login_password");

  expect(await own.act("patch_metadata", { patch_metadata: { a: 1 } })).toMatchObject({ status: 403 });
  const shown = await own.current();
  expect(shown.name).toBe("login_password");
  expect(shown.payload).not.toHaveProperty("wanted_action");
  const proved = await own.act("password_login", { password });
  expect(proved).toMatchObject({ name: "profile_init", status: 200 });
  expect(proved.payload).not.toHaveProperty("performed_action");
  expect(thief.cookies.get("service")).not.toBe(owner.cookies.get("service"));
});

test.each([
  [503, "the server is overloaded", () => new OverloadedError()],
  [500, "of a fault", () => new TypeError("a fault")],
])(
  "a change that fails after reauthentication is answered with %i if %s, and the proof stands",
  async (status, _, fault) => {
    const hash = async () => {
      throw fault();
    };
    const runtime: TestRuntime = { ...base, passwordHasher: { ...base.passwordHasher, hash } };
    const { owner } = await robbed();
    const browser = visitor(runtime);
    for (const [name, value] of owner.cookies) browser.cookies.set(name, value);
    const flow = await manage(browser, runtime);
    await flow.act("password_update", change);
    expect(await flow.act("password_login", { password })).toMatchObject({
      name: "profile_init",
      status,
      error: { code: "technical_error" },
      payload: { performed_action: "password_update", user: {} },
    });
    expect(flow.response.status).toBe(status);
    expect(browser.cookies.get("service")).not.toBe(owner.cookies.get("service"));
    const next = await flow.act("patch_metadata", { patch_metadata: { a: 1 } });
    expect(next).toMatchObject({ name: "profile_init", status: 200 });
  },
);

test("a change that requires another reauthentication at once is not named as performed", async () => {
  const configured = base.configured({ ...settings, STILE_SESSION_STEP_UP_AFTER: "1" });
  const { passwordHasher } = configured;
  const verify: typeof passwordHasher.verify = (...given) => {
    configured.advanceClock(2);
    return passwordHasher.verify(...given);
  };
  const runtime: TestRuntime = { ...configured, passwordHasher: { ...passwordHasher, verify } };
  const { owner } = await robbed(runtime);
  const flow = await manage(owner, runtime);
  await flow.act("password_update", change);
  expect(await flow.act("password_login", { password })).toMatchObject({
    name: "login_password",
    payload: { wanted_action: "password_update" },
  });
  expect(flow.state.payload).not.toHaveProperty("performed_action");
});
