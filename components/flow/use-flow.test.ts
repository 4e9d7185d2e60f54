import { describe, expect, test } from "vitest";
import { fakeServer } from "./drawing.fixture.tsx";
import { states } from "./states.fixture.ts";
import { converse } from "./use-flow.ts";

const at = { version: 4, state: states.login_password };
const noPause = async () => {};
const email = { email: "ada@example.org" };

describe("a step", () => {
  test("names the version it was drawn from, and shows the answer", async () => {
    const server = fakeServer({ version: 5, state: states.login_method_chooser });
    const conversation = converse(server, "login", { version: 4, state: states.login_init }, noPause);
    await conversation.act("continue_with_login_identifier", email);
    expect(server.act).toHaveBeenCalledWith("login", "continue_with_login_identifier", 4, email);
    expect(conversation.view()).toMatchObject({
      version: 5,
      state: states.login_method_chooser,
      subject: "ada@example.org",
      performed: "continue_with_login_identifier",
      busy: null,
      notice: null,
    });
  });

  test("A29 is performed once, however often it is asked for while it is under way", async () => {
    const server = fakeServer(states.passcode_confirmation, states.passcode_confirmation);
    const conversation = converse(server, "login", at, noPause);
    const first = conversation.act("password_login", { password: "x" });
    expect(conversation.view().busy).toBe("password_login");
    await Promise.all([
      first,
      conversation.act("password_login", { password: "x" }),
      conversation.act("back", {}),
    ]);
    expect(server.act).toHaveBeenCalledTimes(1);
    expect(conversation.view().busy).toBeNull();
  });

  test("waits for a quiet one that is under way, and names the version that comes of it", async () => {
    const server = fakeServer(
      { version: 5, state: states.login_init },
      { version: 6, state: states.login_method_chooser },
    );
    const conversation = converse(server, "login", { version: 4, state: states.login_init }, noPause);
    const toggle = conversation.act("remember_me", { remember_me: true }, { quiet: true });
    expect(conversation.view().busy).toBeNull();
    await Promise.all([toggle, conversation.act("continue_with_login_identifier", email)]);
    expect(server.act.mock.calls.map(([, action, version]) => [action, version])).toEqual([
      ["remember_me", 4],
      ["continue_with_login_identifier", 5],
    ]);
  });

  test("tells the notice it was given beside the state it leads to", async () => {
    const conversation = converse(fakeServer(states.login_init), "login", at, noPause);
    await conversation.act("back", {}, { notice: "passkey_cancelled" });
    expect(conversation.view()).toMatchObject({ state: states.login_init, notice: "passkey_cancelled" });
  });

  test("leads where the answer says", async () => {
    const answer = { version: 9, state: states.success, redirect_to: "https://shop.example/welcome" };
    const conversation = converse(fakeServer(answer), "login", at, noPause);
    await conversation.act("password_login", { password: "x" });
    expect(conversation.view().leaving).toBe("https://shop.example/welcome");
  });
});

describe("a refusal", () => {
  test("of a page that is out of date brings it up to date", async () => {
    const server = fakeServer(states.error_403, states.passcode_confirmation);
    const conversation = converse(server, "login", at, noPause);
    await conversation.act("password_login", { password: "x" });
    expect(server.current).toHaveBeenCalledTimes(1);
    expect(conversation.view()).toMatchObject({
      state: states.passcode_confirmation,
      notice: "page_out_of_date",
    });
  });

  test("of something nobody asked for is not told", async () => {
    const conversation = converse(fakeServer(states.error_403, states.login_init), "login", at, noPause);
    await conversation.act("register_client_capabilities", {}, { unasked: true });
    expect(conversation.view()).toMatchObject({ state: states.login_init, notice: null });
  });

  test("of an expired flow starts another one when nothing was typed", async () => {
    const server = fakeServer(states.error_410, states.preflight);
    const conversation = converse(server, "registration", at, noPause);
    await conversation.act("back", {});
    expect(server.start).toHaveBeenCalledWith("registration");
    expect(conversation.view()).toMatchObject({ state: states.preflight, notice: "page_renewed" });
  });

  test("of an expired flow is told first when something was typed, and starts another one on demand", async () => {
    const server = fakeServer(states.error_410, states.preflight);
    const conversation = converse(server, "login", at, noPause);
    await conversation.act("password_login", { password: "x" });
    expect(server.start).not.toHaveBeenCalled();
    expect(conversation.view().state).toBe(states.error_410);
    await conversation.restart();
    expect(conversation.view().state).toBe(states.preflight);
  });

  test("of a flow that is gone altogether starts another one", async () => {
    const server = fakeServer(states.error_403, states.error_403, states.preflight);
    const conversation = converse(server, "login", at, noPause);
    await conversation.act("back", {});
    expect(conversation.view().state).toBe(states.preflight);
  });

  test("by a server in trouble leaves the person where they are", async () => {
    const conversation = converse(fakeServer(states.error_500), "login", at, noPause);
    await conversation.act("password_login", { password: "x" });
    expect(conversation.view()).toMatchObject({ ...at, notice: "technical_error", busy: null });
  });
});

describe("a lost answer", () => {
  test("is found again: the step was performed", async () => {
    const server = fakeServer(new Error("gone"), new Error("gone"), states.passcode_confirmation);
    const conversation = converse(server, "login", at, noPause);
    await conversation.act("password_login", { password: "x" });
    expect(server.act).toHaveBeenCalledTimes(1);
    expect(server.current).toHaveBeenCalledTimes(2);
    expect(conversation.view()).toMatchObject({
      state: states.passcode_confirmation,
      notice: null,
      busy: null,
    });
  });

  test("leaves the person to repeat the step when it was not performed", async () => {
    const server = fakeServer(new Error("gone"), states.login_password);
    const conversation = converse(server, "login", at, noPause);
    await conversation.act("password_login", { password: "x" });
    expect(conversation.view()).toMatchObject({ state: states.login_password, notice: "connection_back" });
  });

  test("is waited for while the page says so, and given up after a while", async () => {
    const told: (string | null)[] = [];
    const server = fakeServer(...Array.from({ length: 6 }, () => new Error("gone")), states.login_password);
    const conversation = converse(
      server,
      "login",
      at,
      async () => void told.push(conversation.view().notice),
    );
    await conversation.act("back", {});
    expect(told).toEqual(Array(5).fill("connection_lost"));
    expect(conversation.view()).toMatchObject({ ...at, notice: "connection_missing", busy: null });
    await conversation.retry();
    expect(conversation.view()).toMatchObject({ state: states.login_password, notice: null });
  });
});

describe("a renewal", () => {
  test("of the same state is no turn of the person's", async () => {
    const conversation = converse(
      fakeServer({ version: 5, state: states.login_password_wrong }),
      "login",
      at,
      noPause,
    );
    const { turn } = conversation.view();
    await conversation.refresh();
    expect(conversation.view()).toMatchObject({ version: 5, state: states.login_password_wrong, turn });
  });

  test("that brings no answer changes nothing", async () => {
    const conversation = converse(fakeServer(new Error("gone")), "login", at, noPause);
    const before = conversation.view();
    await conversation.refresh();
    expect(conversation.view()).toBe(before);
  });

  test("of a flow that has expired starts another one", async () => {
    const conversation = converse(fakeServer(states.error_410, states.preflight), "login", at, noPause);
    await conversation.refresh();
    expect(conversation.view()).toMatchObject({ state: states.preflight, notice: null });
  });
});
