import { screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { draw } from "./drawing.fixture.tsx";
import { isIdpInitiated, readProviderReturn } from "./provider-return.ts";

/** A provider's answer that the server refused. */
const rejected = (code: string) => ({
  ...states.thirdparty_rejected,
  payload: { redirect_url: `https://login.example/?error=${code}` },
  error: { code, message: "" },
});

beforeEach(() => history.replaceState(null, "", "/"));

describe("the redirect to an identity provider", () => {
  test("follows the user's choice on this page", async () => {
    const { user, navigate } = draw(states.login_init_with_a_provider, { answers: [states.thirdparty] });
    await user.click(screen.getByRole("button", { name: "Continue with Acme Works" }));
    await waitFor(() =>
      expect(navigate).toHaveBeenCalledExactlyOnceWith("https://accounts.example/authorize?state=1"),
    );
  });

  test("is not repeated after the user navigated back or reloaded the page", async () => {
    const { server, navigate } = draw(states.thirdparty, { answers: [states.login_init] });
    expect((await screen.findByRole("heading", { name: "Sign in" })).tagName).toBe("H1");
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "back", 7, {});
    expect(navigate).not.toHaveBeenCalled();
  });

  test("is not repeated on a page from the browser's cache", async () => {
    const { user, navigate, server } = draw(states.login_init_with_a_provider, {
      answers: [states.thirdparty, structuredClone(states.thirdparty), states.login_init],
    });
    await user.click(screen.getByRole("button", { name: "Continue with Acme Works" }));
    await waitFor(() => expect(navigate).toHaveBeenCalledTimes(1));
    window.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    await waitFor(() => expect(server.act).toHaveBeenLastCalledWith("login", "back", expect.any(Number), {}));
    expect(navigate).toHaveBeenCalledTimes(1);
  });

  test("A102 never runs an address that is a script", async () => {
    const { user, navigate, server } = draw(states.login_init_with_a_provider, {
      answers: [{ ...states.thirdparty, payload: { redirect_url: "javascript:alert(1)" } }],
    });
    await user.click(screen.getByRole("button", { name: "Continue with Acme Works" }));
    await waitFor(() => expect(server.act).toHaveBeenLastCalledWith("login", "back", expect.any(Number), {}));
    expect(navigate).not.toHaveBeenCalled();
  });
});

describe("the return from an identity provider", () => {
  test("submits its token once, and removes it from the address", async () => {
    history.replaceState(null, "", "/?lang=de&hanko_token=t-1");
    const { server, navigate } = draw(states.thirdparty, {
      providerReturn: { token: "t-1" },
      answers: [states.success],
    });
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "exchange_token", 7, { token: "t-1" });
    expect(location.search).toBe("?lang=de");
    expect(navigate).not.toHaveBeenCalled();
  });

  test("reports nothing once its token was accepted, wherever that leads", async () => {
    const { user } = draw(states.thirdparty, {
      type: "profile",
      providerReturn: { token: "t-1" },
      answers: [states.profile_init],
    });
    await screen.findByRole("heading", { name: "Your account" });
    await user.click(screen.getByText("Add an email address"));
    expect(screen.queryByText(en.errors.page_renewed)).toBeNull();
  });

  test("submits its token once, also if the change that it was for leads to another provider", async () => {
    const redirect_url = "https://other.example/authorize?state=2";
    const payload = { redirect_url, performed_action: "connect_thirdparty_oauth_provider" };
    const { server, navigate } = draw(states.thirdparty, {
      type: "profile",
      providerReturn: { token: "t-1" },
      answers: [{ ...states.thirdparty, payload }],
    });
    await waitFor(() => expect(navigate).toHaveBeenCalledExactlyOnceWith(redirect_url));
    expect(server.act).toHaveBeenCalledExactlyOnceWith("profile", "exchange_token", 7, { token: "t-1" });
  });

  test("goes back to the sign-in with a notice after a cancellation", async () => {
    history.replaceState(null, "", "/?error=access_denied&error_description=no");
    const { server } = draw(states.thirdparty, {
      providerReturn: { error: "third_party_access_denied" },
      answers: [states.login_init],
    });
    expect((await screen.findByRole("status")).textContent).toBe(en.errors.third_party_access_denied);
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "back", 7, {});
    expect(location.search).toBe("");
  });

  test.each([
    ["login", "signup_disabled", en.errors.signup_disabled, "Other ways to sign in"],
    ["registration", "user_conflict", en.errors.user_conflict, "Other ways to sign in"],
    [
      "login",
      "form_data_invalid_error",
      en.states.thirdparty.errors?.form_data_invalid_error,
      "Other ways to sign in",
    ],
    ["profile", "identity_already_linked", en.errors.identity_already_linked, "Go to your account"],
  ] as const)("rejected in a %s by %s says so, with one way on", async (type, code, text, way) => {
    const { server, user, container } = draw(states.thirdparty, {
      type,
      providerReturn: { token: "t-1" },
      answers: [rejected(code)],
    });
    expect((await screen.findByRole("alert")).textContent).toBe(text);
    expect(screen.getByRole("heading").textContent).toBe(en.states.error.title);
    expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual([way]);
    expect(screen.queryByText(en.states.thirdparty.sentence ?? "")).toBeNull();
    expect(container.querySelectorAll(".stile-card a")).toHaveLength(0);
    await user.click(screen.getByRole("button", { name: way }));
    expect(server.act).toHaveBeenLastCalledWith(type, "back", expect.any(Number), {});
  });

  test("rejected where no flow was under way leads to the sign-in", async () => {
    const { actions, ...refused } = rejected("signup_disabled");
    const { exchange_token } = actions;
    draw(states.thirdparty_idp_initiated, {
      type: "token_exchange",
      version: 0,
      providerReturn: { token: "t-1" },
      answers: [{ ...refused, actions: exchange_token ? { exchange_token } : {} }],
    });
    expect((await screen.findByRole("alert")).textContent).toBe(en.errors.signup_disabled);
    expect(screen.queryAllByRole("button")).toEqual([]);
    expect(screen.getByRole("link", { name: en.page.toSignIn }).getAttribute("href")).toBe("/");
  });

  test("is not awaited for ever where none comes", () => {
    draw(states.thirdparty_idp_initiated, { type: "token_exchange", version: 0 });
    expect(screen.getByText(en.page.nothingToDo)).toBeDefined();
    expect(screen.getByRole("link", { name: en.page.toSignIn })).toBeDefined();
  });

  test("that came too fast can be tried again", async () => {
    const error = { code: "rate_limit_exceeded", message: "" };
    draw(states.thirdparty, {
      providerReturn: { token: "t-1" },
      answers: [{ ...states.thirdparty_rejected, status: 429, payload: { retry_after: 1 }, error }],
    });
    expect((await screen.findByRole("alert")).textContent).toBe(en.errors.rate_limit_exceeded);
    expect(screen.getByRole("button", { name: /^Try again/ })).toBeDefined();
    expect(screen.getByRole("button", { name: "Back" })).toBeDefined();
  });

  test("with the address of an account offers to sign in with it, and no second try", async () => {
    const { user, server, container } = draw(states.thirdparty, {
      providerReturn: { token: "t-1" },
      answers: [states.thirdparty_rejected, states.login_init, states.login_method_chooser],
    });
    expect((await screen.findByRole("alert")).textContent).toBe(en.errors.user_conflict);
    expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual([
      "Other ways to sign in",
      en.page.signInInstead,
    ]);
    expect(screen.queryByRole("link", { name: /Continue at/ })).toBeNull();
    expect(container.textContent).toContain("ada@example.org");
    await user.click(screen.getByRole("button", { name: en.page.signInInstead }));
    await screen.findByRole("heading", { name: "How would you like to sign in?" });
    expect(server.start.mock.calls.map(([type]) => type)).toEqual(["login"]);
    const [, identified] = server.act.mock.calls;
    expect(identified?.slice(0, 4)).toEqual([
      "login",
      "continue_with_login_identifier",
      13,
      { email: "ada@example.org" },
    ]);
  });

  test.each([
    ["", "ada@example.org"],
    ["ada@example.org, as typed", "ada@example.org"],
  ])("names the address of an account once, whether the state names one itself: %j", (typed, address) => {
    const payload = { taken_address: address, ...(typed ? { identifier: address } : {}) };
    draw({ ...states.thirdparty_rejected, payload });
    expect(screen.getAllByText(address)).toHaveLength(1);
  });

  test("without a flow in progress reports that the page was renewed", async () => {
    const { server } = draw(states.login_init, { providerReturn: { token: "t-1" } });
    expect((await screen.findByRole("status")).textContent).toBe(en.errors.page_renewed);
    expect(server.act).not.toHaveBeenCalled();
  });

  test("without a flow in progress shows the provider's error", async () => {
    const { server } = draw(states.login_init, {
      version: 0,
      providerReturn: { error: "signup_disabled" },
      answers: [states.login_init],
    });
    expect((await screen.findByRole("alert")).textContent).toBe(en.errors.signup_disabled);
    expect(server.act.mock.calls.map(([, action]) => action)).toEqual(["register_client_capabilities"]);
  });

  test("of an IdP-initiated sign-in starts a flow of its own", async () => {
    const { server } = draw(states.thirdparty_idp_initiated, {
      type: "token_exchange",
      version: 0,
      providerReturn: { token: "t-1" },
      answers: [states.success],
    });
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act.mock.calls.map((call) => call.slice(0, 4))).toEqual([
      ["token_exchange", "exchange_token", 0, { token: "t-1" }],
    ]);
  });
});

test.each([
  ["", null],
  ["hanko_token=t-1&error=x", { token: "t-1" }],
  ["error=access_denied", { error: "third_party_access_denied" }],
  ["error=signup_disabled", { error: "signup_disabled" }],
  ["error=constructor", { error: "third_party_failed" }],
  ["error=%3Cscript%3E", { error: "third_party_failed" }],
])("reads the return from the query %j", (query, providerReturn) => {
  expect(readProviderReturn(new URLSearchParams(query))).toEqual(providerReturn);
});

test("recognises an IdP-initiated return", () => {
  expect(isIdpInitiated(new URLSearchParams("saml_hint=idp_initiated&hanko_token=t"))).toBe(true);
  expect(isIdpInitiated(new URLSearchParams("hanko_token=t"))).toBe(false);
});
