import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { FlowType } from "../../flow/names.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { acme } from "../../testing/provider-people.ts";
import { mailedCode, password, restRegistration } from "../../testing/rest-walk.ts";
import { testRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { MAX_BODY_BYTES } from "../request/body.ts";
import { checkingCookies } from "./cookie-check.ts";
import type { PageAnswer } from "./page-answer.ts";
import { pageState } from "./page-state.ts";

const runtime = await runtimeForTests();

/** A browser that runs no script: it renders the page, posts one of its forms, follows the redirect, and renders again. */
async function page(browser: Visitor, type: FlowType, on = runtime): Promise<PageAnswer> {
  const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  return pageState(on, on.tenant, cookies, type);
}

async function submit(
  browser: Visitor,
  type: FlowType,
  action: string,
  fields: Record<string, string> = {},
  on = runtime,
) {
  const { version } = await page(browser, type, on);
  const isFirst = browser.cookies.size === 0;
  const response = await browser.submit("/step", { flow: type, action, version: String(version), ...fields });
  expect(response.status).toBe(303);
  const address = type === "login" ? "/" : `/?flow=${type}`;
  expect(response.headers.get("location")).toBe(isFirst ? checkingCookies(address) : address);
  return page(browser, type, on);
}

const newAddress = () => `${randomUUID()}@example.com`;

describe("without a script", () => {
  test("renders the first state and writes nothing", async () => {
    const drawn = await page(visitor(runtime), "registration");
    expect(drawn).toMatchObject({
      version: 0,
      state: { name: "registration_init", status: 200, csrf_token: "" },
    });
    expect(drawn.state.actions).toHaveProperty("register_login_identifier");
  });

  test("a user registers and signs in again", async () => {
    const email = newAddress();
    const browser = visitor(runtime);
    let drawn = await submit(browser, "registration", "register_login_identifier", {
      email: "not-an-address",
      username: "",
    });
    expect(drawn.state).toMatchObject({ name: "registration_init", status: 400, csrf_token: "" });
    expect(drawn.state.actions.register_login_identifier?.inputs.email).toMatchObject({
      value: "not-an-address",
      error: { code: "value_invalid_error" },
    });
    await submit(browser, "registration", "register_login_identifier", { email });
    await submit(browser, "registration", "verify_passcode", { code: mailedCode(runtime, email) });
    drawn = await submit(browser, "registration", "register_password", { new_password: password });
    expect(drawn.state.name).toBe("success");
    expect(await (await browser.request("/sessions/validate")).json()).toMatchObject({ is_valid: true });

    const returning = visitor(runtime);
    await submit(returning, "login", "continue_with_login_identifier", { email });
    await submit(returning, "login", "continue_to_password_login");
    drawn = await submit(returning, "login", "password_login", { password: "wrong" });
    expect(drawn.state).toMatchObject({ name: "login_password", status: 400 });
    drawn = await submit(returning, "login", "password_login", { password });
    expect(drawn.state.name).toBe("success");
    expect(returning.cookies.has("service")).toBe(true);
  });

  test.each([
    ["is ticked is true", { remember_me: "true" }, "persistent"],
    ["is not ticked is false", {}, "session"],
  ])("a checkbox that %s", async (_, box, retention) => {
    const asking = runtime.configured({ STILE_SESSION_COOKIE_RETENTION: "prompt" });
    const email = newAddress();
    await restRegistration(asking, email);
    const browser = visitor(asking);
    expect((await submit(browser, "login", "remember_me", box, asking)).state.status).toBe(200);
    await submit(browser, "login", "continue_with_login_identifier", { email }, asking);
    const { version } = await submit(browser, "login", "continue_to_password_login", {}, asking);
    const form = { flow: "login", action: "password_login", version: String(version), password };
    const response = await browser.submit("/step", form);
    expect(response.headers.get("x-session-retention")).toBe(retention);
  });

  test("an outdated form performs no action, and the page shows the current state", async () => {
    const browser = visitor(runtime);
    await submit(browser, "login", "register_client_capabilities");
    const { version } = await page(browser, "login");
    await submit(browser, "login", "continue_with_login_identifier", { email: newAddress() });
    const late = await browser.submit("/step", {
      flow: "login",
      action: "continue_with_login_identifier",
      version: String(version),
      email: newAddress(),
    });
    expect(late.status).toBe(303);
    expect((await page(browser, "login")).version).toBe(version + 1);
  });

  test("after a lost response the next submit shows the current state, and the one after it works", async () => {
    const cookieName = `stile-registration-${runtime.tenant.id}`;
    const browser = visitor(runtime);
    const email = newAddress();
    await submit(browser, "registration", "register_client_capabilities");
    const kept = browser.cookies.get(cookieName) ?? "";
    await submit(browser, "registration", "register_login_identifier", { email });
    browser.cookies.set(cookieName, kept);

    let drawn = await submit(browser, "registration", "register_login_identifier", { email });
    expect(drawn.state.name).toBe("passcode_confirmation");
    const beforeEnd = await submit(browser, "registration", "verify_passcode", {
      code: mailedCode(runtime, email),
    });
    expect(beforeEnd.state.name).toBe("password_creation");

    // The last response is lost too, with the session cookie.
    const last = browser.cookies.get(cookieName) ?? "";
    const form = { flow: "registration", action: "register_password", version: String(beforeEnd.version) };
    await browser.submit("/step", { ...form, new_password: password });
    browser.cookies.delete("service");
    browser.cookies.set(cookieName, last);
    const again = await browser.submit("/step", { ...form, new_password: password });
    expect(again.headers.get("x-session-lifetime")).not.toBeNull();
    drawn = await page(browser, "registration");
    expect(drawn.state.name).toBe("success");
    expect((await browser.request("/me")).status).toBe(200);
  });

  describe("the account page", () => {
    async function signedIn(): Promise<{ browser: Visitor; id: string }> {
      const browser = visitor(runtime);
      const { visitor: registered } = await restRegistration(runtime, newAddress());
      browser.cookies.set("service", registered.cookies.get("service") ?? "");
      const { user } = (await page(browser, "profile")).state.payload as { user: { id: string } };
      return { browser, id: user.id };
    }
    test("shows the account at once, writes nothing, and its first form starts the flow", async () => {
      const { browser, id } = await signedIn();
      const drawn = await page(browser, "profile");
      expect(drawn).toMatchObject({ version: 0, state: { name: "profile_init", csrf_token: "" } });
      expect([...browser.cookies.keys()]).toEqual(["service"]);
      const form = { account: id, patch_metadata: JSON.stringify({ theme: "dark" }) };
      const after = await submit(browser, "profile", "patch_metadata", form);
      expect(after.version).toBeGreaterThan(0);
      expect(after.state).toMatchObject({
        name: "profile_init",
        status: 200,
        payload: { user: { metadata: { unsafe_metadata: { theme: "dark" } } } },
      });
    });

    test("two pages that were opened at once are one flow", async () => {
      const { browser, id } = await signedIn();
      const form = (theme: string) => ({
        flow: "profile",
        action: "patch_metadata",
        version: "0",
        account: id,
        patch_metadata: JSON.stringify({ [theme]: true }),
      });
      for (const theme of ["dark", "light"])
        expect((await browser.submit("/step", form(theme))).status).toBe(303);
      expect((await page(browser, "profile")).state.payload).toMatchObject({
        user: { metadata: { unsafe_metadata: { dark: true, light: true } } },
      });
    });

    test("performs nothing on the account of another person who has signed in since", async () => {
      const { id } = await signedIn();
      const { browser: other, id: otherId } = await signedIn();
      for (const account of [{ account: id }, {}]) {
        const after = await submit(other, "profile", "account_delete", account);
        expect(after.state).toMatchObject({ name: "profile_init", payload: { user: { id: otherId } } });
      }
      expect((await other.request("/me")).status).toBe(200);
    });

    test("starts the flow for a script too, on the account that it names", async () => {
      const { browser, id } = await signedIn();
      const step = {
        type: "profile",
        action: "patch_metadata",
        version: 0,
        input: { patch_metadata: { theme: "dark" } },
      };
      const refused = await (await browser.mutate("flow.act", step)).json();
      expect(refused.result.data.state).toMatchObject({ name: "error", status: 403 });
      const { result } = await (await browser.mutate("flow.act", { ...step, account: id })).json();
      expect(result.data.state).toMatchObject({
        name: "profile_init",
        payload: { user: { metadata: { unsafe_metadata: { theme: "dark" } } } },
      });
    });

    test("offers a visitor without a session nothing", async () => {
      expect(await page(visitor(runtime), "profile")).toMatchObject({
        version: 0,
        state: { name: "error", error: { code: "unauthorized" } },
      });
    });
  });

  test("reports an expired flow on the first state of the next flow", async () => {
    const late = await testRuntime();
    const browser = visitor(late);
    await submit(browser, "login", "register_client_capabilities", {}, late);
    const { version } = await page(browser, "login", late);
    late.advanceClock(3601);
    await browser.submit("/step", {
      flow: "login",
      action: "continue_with_login_identifier",
      version: String(version),
    });
    const drawn = await page(browser, "login", late);
    expect(drawn).toMatchObject({
      version: 0,
      state: { name: "login_init", status: 410, error: { code: "flow_expired_error" } },
    });
    expect((await submit(browser, "login", "register_client_capabilities", {}, late)).state).toMatchObject({
      name: "login_init",
      status: 200,
    });
    await late.close();
  });

  test("shows that the rate limit is exceeded", async () => {
    const limited = runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STARTS_PER_MINUTE: "1",
    });
    const peer = "198.51.100.77";
    await submit(visitor(limited, peer), "login", "register_client_capabilities", {}, limited);
    const drawn = await submit(visitor(limited, peer), "login", "register_client_capabilities", {}, limited);
    expect(drawn).toMatchObject({
      version: 0,
      state: { status: 429, error: { code: "rate_limit_exceeded" } },
    });
  });
});

describe("the first form", () => {
  const post = (browser: Visitor, fields: Record<string, string>) =>
    browser.submit("/step", { flow: "login", version: "0", ...fields });
  const identifier = "continue_with_login_identifier";

  test("that a page without scripts posts is offered no passkey after it", async () => {
    const browser = visitor(runtime);
    await post(browser, { action: identifier, email: newAddress() });
    const back = await submit(browser, "login", "back");
    expect(back.state.actions).not.toHaveProperty("webauthn_generate_request_options");
  });

  test("of a passkey, posted before the scripts of the page have arrived, leads to the passkey", async () => {
    const browser = visitor(runtime);
    await post(browser, { action: "webauthn_generate_request_options", with_script: "true" });
    expect((await page(browser, "login")).state.name).toBe("login_passkey");
  });

  test("goes on with the flow that another page has started meanwhile, and loses nothing typed", async () => {
    const browser = visitor(runtime);
    await browser.mutate("flow.start", { type: "login", capabilities: { webauthn_available: true } });
    await post(browser, { action: identifier, email: newAddress() });
    const drawn = await page(browser, "login");
    expect(drawn.state.status).toBe(200);
    expect(drawn.state.name).not.toBe("login_init");
  });

  test("of an expired flow takes what was typed into another flow", async () => {
    const late = await testRuntime();
    const browser = visitor(late);
    await post(browser, { action: identifier, email: "unknown@nowhere" });
    const { version } = await page(browser, "login", late);
    late.advanceClock(3601);
    await post(browser, { action: identifier, email: newAddress(), version: String(version) });
    const drawn = await page(browser, "login", late);
    expect(drawn.state.status).toBe(200);
    expect(drawn.state.name).not.toBe("login_init");
    await late.close();
  });
});

test("another account is chosen without a script: the flow is abandoned", async () => {
  const browser = visitor(runtime);
  const email = newAddress();
  const drawn = await submit(browser, "login", "continue_with_login_identifier", { email });
  expect(drawn.state.payload).toEqual({ identifier: email });
  expect((await page(browser, "login")).state.payload).toEqual({ identifier: email });
  const over = await submit(browser, "login", "start_over");
  expect(over.version).toBe(0);
  expect(over.state.payload).not.toHaveProperty("identifier");
});

describe("a form", () => {
  const send = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    visitor(runtime).submit("/step", fields, headers);
  const whole = { flow: "login", action: "register_client_capabilities", version: "0" };

  test.each([
    ["without a flow", { ...whole, flow: "" }],
    ["of a flow that is none", { ...whole, flow: "sign_in" }],
    ["without an action", { ...whole, action: "" }],
    ["without a version", { flow: "login", action: "back" }],
    ["of a version that is none", { ...whole, version: "-1" }],
    [
      "with thousands of fields",
      { ...whole, ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, "x"])) },
    ],
  ])("is 400 with %s", async (_, fields) => {
    const response = await send(fields);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: 400, message: expect.any(String) });
  });

  test("A91 is 413 if it is too large", async () => {
    expect((await send({ ...whole, x: "x".repeat(MAX_BODY_BYTES) })).status).toBe(413);
  });

  test("A37 is 400 for another content type and 403 from another site", async () => {
    expect((await send(whole, { "content-type": "text/plain" })).status).toBe(400);
    expect((await send(whole, { "content-type": "multipart/form-data; boundary=x" })).status).toBe(400);
    expect((await send(whole, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await send(whole, { "sec-fetch-site": "same-site" })).status).toBe(403);
  });

  test.each(["__proto__", "constructor", "x".repeat(1000), "<script>"])(
    "with the action %.20s leads back to the page",
    async (action) => {
      const response = await send({ ...whole, action });
      expect(response.status).toBe(303);
      expect(response.headers.get("location")).toBe(checkingCookies("/"));
    },
  );
});

test("ignores a planted notice", async () => {
  const browser = visitor(runtime);
  browser.cookies.set(`stile-notice-${runtime.tenant.id}`, "<script>");
  expect((await page(browser, "login")).state).not.toHaveProperty("error");
});

describe("a start that has to wait", () => {
  const limited = () =>
    runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STARTS_PER_MINUTE: "1",
      STILE_SESSION_COOKIE_RETENTION: "prompt",
    });

  test("says how long, and keeps what was typed and ticked", async () => {
    const as = limited();
    const email = "not yet an address";
    await submit(visitor(as), "login", "continue_with_login_identifier", { email }, as);
    const browser = visitor(as);
    const fields = { email, with_choice: "remember_me", remember_me: "true" };
    const { version, state } = await submit(browser, "login", "continue_with_login_identifier", fields, as);
    expect(version).toBe(0);
    expect(state).toMatchObject({
      name: "login_init",
      status: 429,
      error: { code: "rate_limit_exceeded" },
      payload: { retry_after: expect.any(Number) },
    });
    expect(state.actions.continue_with_login_identifier?.inputs.email?.value).toBe(email);
    expect(state.actions.remember_me?.inputs.remember_me?.value).toBe(true);
    expect((await page(browser, "registration", as)).state).not.toHaveProperty("error");
  });

  test("A91 says how long where a cookie cannot hold what was typed", async () => {
    const as = limited();
    await submit(visitor(as), "login", "continue_with_login_identifier", { email: newAddress() }, as);
    const browser = visitor(as);
    const fields = {
      flow: "login",
      action: "continue_with_login_identifier",
      version: "0",
      email: "x".repeat(60_000),
    };
    const response = await browser.submit("/step", fields);
    expect(response.status).toBe(303);
    for (const cookie of response.headers.getSetCookie()) expect(cookie.length).toBeLessThan(4_096);
    const { state } = await page(browser, "login", as);
    expect(state).toMatchObject({ status: 429, payload: { retry_after: expect.any(Number) } });
  });

  test("never shows a secret again", async () => {
    const as = limited();
    await submit(visitor(as), "login", "continue_with_login_identifier", { email: newAddress() }, as);
    const browser = visitor(as);
    await submit(browser, "login", "thirdparty_oauth", { password: "seven herons" }, as);
    await submit(browser, "login", "continue_with_login_identifier", { email: "x", code: "123456" }, as);
    expect(JSON.stringify(await page(browser, "login", as))).not.toMatch(/seven herons|123456/);
  });
});

describe("the choice to stay signed in", () => {
  const prompting = () => runtime.configured({ STILE_SESSION_COOKIE_RETENTION: "prompt" });
  const chosen = ({ state }: PageAnswer) => state.actions.remember_me?.inputs.remember_me?.value;

  test("is made with the form of the identifier", async () => {
    const as = prompting();
    const browser = visitor(as);
    const carried = { email: newAddress(), with_choice: "remember_me", remember_me: "true" };
    const drawn = await submit(browser, "login", "continue_with_login_identifier", carried, as);
    expect(drawn.state.name).toBe("login_method_chooser");
    expect(chosen(await submit(browser, "login", "back", {}, as))).toBe(true);
  });

  test("is taken back with the same form, and stays as it was where the form does not carry it", async () => {
    const as = prompting();
    const browser = visitor(as);
    const bad = { email: "no address" };
    await submit(browser, "login", "remember_me", { remember_me: "true" }, as);
    const kept = await submit(browser, "login", "continue_with_login_identifier", bad, as);
    expect([kept.state.status, chosen(kept)]).toEqual([400, true]);
    const carrying = { ...bad, with_choice: "remember_me" };
    const taken = await submit(browser, "login", "continue_with_login_identifier", carrying, as);
    expect([taken.state.status, chosen(taken)]).toEqual([400, undefined]);
    expect(taken.state.actions.continue_with_login_identifier?.inputs.email?.value).toBe("no address");
  });

  test("is made with the button of a provider, whose address names its action", async () => {
    const as = runtime.configured({ STILE_SESSION_COOKIE_RETENTION: "prompt", ...acme() });
    const browser = visitor(as);
    const { state } = await page(browser, "login", as);
    const query = new URLSearchParams({ action: "thirdparty_oauth", redirect_to: "http://localhost:3000/" });
    const fields = {
      flow: "login",
      action: "continue_with_login_identifier",
      version: "0",
      email: "half typ",
      with_choice: "remember_me",
      remember_me: "true",
      provider: "custom_acme",
    };
    expect(state.actions.thirdparty_oauth?.inputs.provider?.allowed_values).toHaveLength(1);
    expect((await browser.submit(`/step?${query}`, fields)).status).toBe(303);
    const drawn = await page(browser, "login", as);
    expect(drawn.state).toMatchObject({ name: "thirdparty", status: 200 });
    expect(drawn.state.payload.redirect_url).toContain("https://");
    expect(chosen(await submit(browser, "login", "back", {}, as))).toBe(true);
  });

  test("is no input where the configuration offers none", async () => {
    const fields = { email: newAddress(), with_choice: "remember_me", remember_me: "true" };
    const drawn = await submit(visitor(runtime), "login", "continue_with_login_identifier", fields);
    expect(drawn.state.status).toBe(400);
  });
});

describe("a sign-up with the address of an account", () => {
  test("goes on by signing in to it, whatever login was under way", async () => {
    const as = runtime.configured({ STILE_PRIVACY_SHOW_ACCOUNT_EXISTENCE_HINTS: "true" });
    const email = newAddress();
    await restRegistration(as, email);
    const browser = visitor(as);
    await submit(browser, "login", "continue_with_login_identifier", { email: newAddress() }, as);
    const told = await submit(browser, "registration", "register_login_identifier", { email }, as);
    expect(told.state.actions.register_login_identifier?.inputs.email).toMatchObject({
      value: email,
      error: { code: "email_already_exists" },
    });
    const fields = { flow: "login", action: "start_over", version: "0", identifier: email };
    const response = await browser.submit("/step", fields);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
    const drawn = await page(browser, "login", as);
    expect(drawn.state).toMatchObject({ name: "login_method_chooser", payload: { identifier: email } });
  });

  test("with an address that cannot be one leads to the form that says so", async () => {
    const browser = visitor(runtime);
    const fields = { flow: "login", action: "start_over", version: "0", identifier: "x" };
    expect((await browser.submit("/step", fields)).status).toBe(303);
    expect((await page(browser, "login")).state).toMatchObject({ name: "login_init", status: 400 });
  });

  test("starts no flow of a type without identifier", async () => {
    const fields = { flow: "registration", action: "start_over", version: "0", identifier: "x@y.example" };
    expect((await visitor(runtime).submit("/step", fields)).status).toBe(400);
  });
});

test("closed registration offers nothing, whatever else is configured", async () => {
  const as = runtime.configured({
    STILE_ACCOUNT_ALLOW_SIGNUP: "false",
    STILE_SESSION_COOKIE_RETENTION: "prompt",
    ...acme(),
  });
  expect((await page(visitor(as), "registration", as)).state.actions).toEqual({});
});
