import { describe, expect, test } from "vitest";
import { eventually } from "#server/testing/eventually";
import { states } from "../gallery/states.ts";
import { fakeServer } from "./drawing.fixture.tsx";
import type { FlowAnswer } from "./flow-server.ts";
import { createFlowStore } from "./use-flow.ts";

const at = { version: 4, state: states.login_password };
const noPause = async () => {};
const email = { email: "ada@example.org" };
const incapable = {
  webauthn_available: false,
  webauthn_conditional_mediation_available: false,
  webauthn_platform_authenticator_available: false,
};

describe("a step", () => {
  test("sends the version of the shown state, and shows the answer", async () => {
    const server = fakeServer({ version: 5, state: states.login_method_chooser });
    const store = createFlowStore(server, "login", { version: 4, state: states.login_init }, noPause);
    await store.act("continue_with_login_identifier", email);
    expect(server.act).toHaveBeenCalledWith("login", "continue_with_login_identifier", 4, email);
    expect(store.view()).toMatchObject({
      version: 5,
      state: states.login_method_chooser,
      subject: "ada@example.org",
      performed: "continue_with_login_identifier",
      busy: null,
      notice: null,
    });
  });

  test("A29 is performed once even if it is requested again while in progress", async () => {
    const server = fakeServer(states.passcode_confirmation, states.passcode_confirmation);
    const store = createFlowStore(server, "login", at, noPause);
    const first = store.act("password_login", { password: "x" });
    expect(store.view().busy).toBe("password_login");
    await Promise.all([first, store.act("password_login", { password: "x" }), store.act("back", {})]);
    expect(server.act).toHaveBeenCalledTimes(1);
    expect(store.view().busy).toBeNull();
  });

  test("waits for a background step in progress, and names the version after it", async () => {
    const server = fakeServer(
      { version: 5, state: states.login_init },
      { version: 6, state: states.login_method_chooser },
    );
    const store = createFlowStore(server, "login", { version: 4, state: states.login_init }, noPause);
    const toggle = store.act("remember_me", { remember_me: true }, { background: true });
    expect(store.view().busy).toBeNull();
    await Promise.all([toggle, store.act("continue_with_login_identifier", email)]);
    expect(server.act.mock.calls.map(([, action, version]) => [action, version])).toEqual([
      ["remember_me", 4],
      ["continue_with_login_identifier", 5],
    ]);
  });

  test("shows its notice with the next state", async () => {
    const store = createFlowStore(fakeServer(states.login_init), "login", at, noPause);
    await store.act("back", {}, { notice: "passkey_cancelled" });
    expect(store.view()).toMatchObject({ state: states.login_init, notice: "passkey_cancelled" });
  });

  test("redirects to the address in the answer", async () => {
    const answer = { version: 9, state: states.success, redirect_to: "https://shop.example/welcome" };
    const store = createFlowStore(fakeServer(answer), "login", at, noPause);
    await store.act("password_login", { password: "x" });
    expect(store.view().redirectTo).toBe("https://shop.example/welcome");
  });
});

describe("the first state of a flow that is not started", () => {
  const first = { version: 0, state: states.login_init };
  const identifier = "continue_with_login_identifier";

  test("sends the browser's capabilities with its first action", async () => {
    const server = fakeServer({ version: 2, state: states.login_method_chooser });
    const store = createFlowStore(server, "login", first, noPause);
    await store.act(identifier, email);
    expect(server.act.mock.calls).toEqual([["login", identifier, 0, email, incapable]]);
    expect(server.start).not.toHaveBeenCalled();
  });

  test("starts its flow in the background where passkeys are not available, and keeps the error that it shows", async () => {
    const error = { code: "flow_expired_error", message: "" };
    const server = fakeServer({ version: 2, state: states.login_init });
    const at = { version: 0, state: { ...states.login_init, status: 410, error } };
    const store = createFlowStore(server, "login", at, noPause);
    const { answerCount } = store.view();
    await store.begin();
    expect(server.act.mock.calls).toEqual([
      ["login", "register_client_capabilities", 0, incapable, incapable],
    ]);
    expect(store.view()).toMatchObject({ version: 2, answerCount, state: { error }, busy: null });
  });

  test("starts no flow in the background for a registration", async () => {
    const server = fakeServer();
    const store = createFlowStore(
      server,
      "registration",
      { version: 0, state: states.registration_init },
      noPause,
    );
    await store.begin();
    expect(server.act).not.toHaveBeenCalled();
  });

  test("performs what is asked while its flow starts, after that", async () => {
    const server = fakeServer({ version: 3, state: states.login_method_chooser });
    const { promise: started, resolve: answerStart } = Promise.withResolvers<FlowAnswer>();
    server.act.mockReturnValueOnce(started);
    const store = createFlowStore(server, "login", first, noPause);
    const beginning = store.begin();
    await eventually(async () => expect(server.act).toHaveBeenCalledTimes(1));
    const acted = store.act(identifier, email);
    answerStart({ version: 2, state: states.login_init });
    await Promise.all([beginning, acted]);
    expect(server.act).toHaveBeenLastCalledWith("login", identifier, 2, email);
    expect(store.view()).toMatchObject({ version: 3, state: states.login_method_chooser, notice: null });
  });

  test("stays as it is where its flow cannot be started in the background", async () => {
    for (const answer of [new Error("no network"), states.error_500]) {
      const store = createFlowStore(fakeServer(answer), "login", first, noPause);
      const before = store.view();
      await store.begin();
      expect(store.view()).toEqual(before);
    }
  });

  test("shows what another page of the browser has reached", async () => {
    const server = fakeServer(states.error_403, { version: 5, state: states.login_password });
    const store = createFlowStore(server, "login", first, noPause);
    await store.begin();
    expect(store.view()).toMatchObject({ version: 5, state: states.login_password, notice: null });
  });

  test("is shown again after a lost connection, so that what was typed is sent again", async () => {
    const server = fakeServer(new Error("no network"), first, {
      version: 2,
      state: states.login_method_chooser,
    });
    const store = createFlowStore(server, "login", first, noPause);
    await store.act(identifier, email);
    expect(store.view()).toMatchObject({ version: 0, notice: "connection_back" });
    await store.act(identifier, email);
    expect(store.view()).toMatchObject({ version: 2, state: states.login_method_chooser });
  });

  test("of an expired flow takes what was typed into another flow", async () => {
    const server = fakeServer(states.error_410, { version: 2, state: states.login_method_chooser });
    const store = createFlowStore(server, "login", { version: 4, state: states.login_init }, noPause);
    await store.act(identifier, email);
    expect(server.act.mock.calls).toEqual([
      ["login", identifier, 4, email],
      ["login", identifier, 0, email, incapable],
    ]);
    expect(store.view()).toMatchObject({ state: states.login_method_chooser, subject: email.email });
  });
});

describe("an error", () => {
  test("of an outdated page updates it", async () => {
    const server = fakeServer(states.error_403, states.passcode_confirmation);
    const store = createFlowStore(server, "login", at, noPause);
    await store.act("password_login", { password: "x" });
    expect(server.current).toHaveBeenCalledTimes(1);
    expect(store.view()).toMatchObject({
      state: states.passcode_confirmation,
      notice: "page_out_of_date",
    });
  });

  test("of a page whose browser keeps no cookies says so", async () => {
    const server = { ...fakeServer(states.error_403, states.login_init), forgets: () => true };
    const store = createFlowStore(server, "login", { version: 0, state: states.login_init }, noPause);
    await store.begin();
    expect([store.view().notice, server.act.mock.calls]).toEqual(["cookies_blocked", []]);
    await store.act("continue_with_login_identifier", email);
    expect(store.view().notice).toBe("cookies_blocked");
  });

  test("of an automatic step is not shown", async () => {
    const store = createFlowStore(fakeServer(states.error_403, states.login_init), "login", at, noPause);
    await store.act("register_client_capabilities", {}, { automatic: true });
    expect(store.view()).toMatchObject({ state: states.login_init, notice: null });
  });

  test("of an expired flow starts another one when nothing was typed", async () => {
    const server = fakeServer(states.error_410, states.preflight);
    const store = createFlowStore(server, "registration", at, noPause);
    await store.act("back", {});
    expect(server.start).toHaveBeenCalledWith("registration", incapable);
    expect(store.view()).toMatchObject({ state: states.preflight, notice: "page_renewed" });
  });

  test("of an expired flow is shown first when something was typed, and another one starts on demand", async () => {
    const server = fakeServer(states.error_410, states.error_403, states.preflight);
    const store = createFlowStore(server, "login", at, noPause);
    await store.act("password_login", { password: "x" });
    expect(server.start).not.toHaveBeenCalled();
    expect(store.view().state).toBe(states.error_410);
    await store.restart();
    expect(store.view().state).toBe(states.preflight);
  });

  test("of a missing flow starts another one", async () => {
    const server = fakeServer(states.error_403, states.error_403, states.error_403, states.preflight);
    const store = createFlowStore(server, "login", at, noPause);
    await store.act("back", {});
    expect(server.start).toHaveBeenCalledTimes(1);
    expect(store.view().state).toBe(states.preflight);
  });

  test("of a failing server leaves the page as it is", async () => {
    const store = createFlowStore(fakeServer(states.error_500), "login", at, noPause);
    await store.act("password_login", { password: "x" });
    expect(store.view()).toMatchObject({ ...at, notice: "technical_error", busy: null });
  });
});

describe("a lost answer", () => {
  test("is recovered if the step was performed", async () => {
    const server = fakeServer(new Error("no answer"), new Error("no answer"), states.passcode_confirmation);
    const store = createFlowStore(server, "login", at, noPause);
    await store.act("password_login", { password: "x" });
    expect(server.act).toHaveBeenCalledTimes(1);
    expect(server.current).toHaveBeenCalledTimes(2);
    expect(store.view()).toMatchObject({
      state: states.passcode_confirmation,
      notice: null,
      busy: null,
    });
  });

  test("lets the user repeat the step if it was not performed", async () => {
    const server = fakeServer(new Error("no answer"), states.login_password);
    const store = createFlowStore(server, "login", at, noPause);
    await store.act("password_login", { password: "x" });
    expect(store.view()).toMatchObject({ state: states.login_password, notice: "connection_back" });
  });

  test("shows a notice while reconnecting, and gives up after five attempts", async () => {
    const notices: (string | null)[] = [];
    const server = fakeServer(
      ...Array.from({ length: 6 }, () => new Error("no answer")),
      states.login_password,
    );
    const store = createFlowStore(server, "login", at, async () => void notices.push(store.view().notice));
    await store.act("back", {});
    expect(notices).toEqual(Array(5).fill("connection_lost"));
    expect(store.view()).toMatchObject({ ...at, notice: "connection_missing", busy: null });
    await store.retry();
    expect(store.view()).toMatchObject({ state: states.login_password, notice: null });
  });
});

describe("a service that refuses the calls of this page", () => {
  test("is asked again once, and no more", async () => {
    const server = { ...fakeServer(new Error("refused"), new Error("refused")), refuses: async () => true };
    const store = createFlowStore(server, "login", at, noPause);
    await store.act("back", {});
    expect(server.current).toHaveBeenCalledTimes(1);
    expect(store.view()).toMatchObject({ ...at, notice: "origin_refused", busy: null });
  });
});

describe("a renewal", () => {
  test("of the same state does not count as an answer", async () => {
    const store = createFlowStore(
      fakeServer({ version: 5, state: states.login_password_wrong }),
      "login",
      at,
      noPause,
    );
    const { answerCount } = store.view();
    await store.refresh();
    expect(store.view()).toMatchObject({ version: 5, state: states.login_password_wrong, answerCount });
  });

  test("without an answer changes nothing", async () => {
    const store = createFlowStore(fakeServer(new Error("no answer")), "login", at, noPause);
    const before = store.view();
    await store.refresh();
    expect(store.view()).toBe(before);
  });

  test("that is overtaken by a step in another tab is repeated, and does not abandon the flow", async () => {
    const server = fakeServer(states.error_403, { version: 6, state: states.login_otp });
    const store = createFlowStore(server, "login", at, noPause);
    await store.refresh();
    expect(server.start).not.toHaveBeenCalled();
    expect(store.view()).toMatchObject({ version: 6, state: states.login_otp });
  });

  test("of an expired flow starts another one", async () => {
    const store = createFlowStore(fakeServer(states.error_410, states.preflight), "login", at, noPause);
    await store.refresh();
    expect(store.view()).toMatchObject({ state: states.preflight, notice: null });
  });
});
