import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import { frame as words } from "#words/en/frame";
import type { FlowAnswer } from "../flow/flow-server.ts";
import { states } from "../gallery/states.ts";
import { FrameLogin } from "./frame-login.tsx";

const origin = "https://app.example";
const codeChallenge = "x".repeat(43);

/** The page that holds the frame. */
const parent = { postMessage: vi.fn() };

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.spyOn(window, "parent", "get").mockReturnValue(parent as unknown as Window);
  // A browser that keeps partitioned cookies.
  vi.spyOn(document, "cookie", "get").mockReturnValue("stile-kept=1");
  vi.spyOn(document, "cookie", "set").mockReturnValue();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  parent.postMessage.mockReset();
});

const refused: FlowState = {
  name: "error",
  status: 403,
  payload: {},
  csrf_token: "",
  actions: {},
  links: null,
  error: { code: "operation_not_permitted_error", message: "Not permitted." },
};

const login: FlowState = { ...states.login_init_with_providers, payload: {} };

/** A frame whose service answers each procedure with the last of its states, or as given, in order. */
function frame(
  answers: Record<string, (FlowState | string | null)[]> = {},
  state: FlowState = login,
  type: "login" | "registration" = "login",
) {
  const calls: [string, Record<string, unknown>][] = [];
  let version = 7;
  vi.stubGlobal("fetch", async (url: string | URL, init: RequestInit) => {
    const procedure = String(url).split("flow.")[1] ?? "";
    calls.push([procedure, JSON.parse(String(init.body))]);
    const given = answers[procedure] ?? [state];
    const next = given.length > 1 ? given.shift() : given[0];
    version += 1;
    const data = typeof next === "object" && next !== null ? { version, state: next } : next;
    return Response.json({ result: { data } });
  });
  const initial: FlowAnswer = { version, state };
  const shown = render(
    <FrameLogin
      {...{ initial, page: { origin, codeChallenge }, theme: "dark", signup: true }}
      {...{ type, words: en, frameWords: words, language: "en", base: "/t/7" }}
      ownOrigin="https://login.example"
    />,
  );
  const sent = () => parent.postMessage.mock.calls.map(([message]) => message);
  return { ...shown, calls, sent, user: userEvent.setup() };
}

/** The window that opens next. */
function nextWindow() {
  const child = { closed: false, postMessage: vi.fn(), focus: vi.fn(), close: vi.fn() };
  child.close.mockImplementation(() => {
    child.closed = true;
  });
  vi.spyOn(window, "open").mockReturnValue(child as unknown as Window);
  const receive = (data: unknown, forged: MessageEventInit = {}) =>
    window.dispatchEvent(
      new MessageEvent("message", {
        origin: location.origin,
        source: child as unknown as Window,
        ...forged,
        data,
      }),
    );
  return { child, receive };
}

const emailField = () => screen.getByLabelText<HTMLInputElement>("Email");
const chooseProvider = () => screen.getByRole("button", { name: /Google/ });

test("the page is told the title, states and errors, and no other page is", async () => {
  const { sent, user } = frame({
    act: [{ ...states.login_password, error: { code: "invalid_credentials", message: "" } }],
  });
  await user.type(emailField(), "ada@example.org{Enter}");
  await screen.findByRole("heading", { name: "Enter your password" });
  await waitFor(() =>
    expect(sent()).toEqual(
      expect.arrayContaining([
        { type: "stile:title", title: "Enter your password" },
        { type: "stile:statechange", name: "login_password" },
        { type: "stile:error", code: "invalid_credentials", message: expect.any(String) },
      ]),
    ),
  );
  expect(new Set(parent.postMessage.mock.calls.map(([, target]) => target))).toEqual(new Set([origin]));
});

test("the code goes to the page once, and no result without one does", async () => {
  const success = { ...states.success, payload: { authorization_code: "c" } };
  const { sent, user } = frame({ act: [success] });
  await user.type(emailField(), "ada@example.org{Enter}");
  const results = () => sent().filter(({ type }) => type === "stile:success");
  await waitFor(() =>
    expect(results()).toEqual([{ type: "stile:success", result: { kind: "code", code: "c" } }]),
  );
});

test("links lead to pages that can be framed", () => {
  frame();
  const link = screen.getByRole("link", { name: "Create an account" });
  const { pathname, searchParams } = new URL(link.getAttribute("href") ?? "", "https://login.example");
  expect(pathname).toBe("/t/7/embed");
  expect(Object.fromEntries(searchParams)).toEqual({
    origin,
    code_challenge: codeChallenge,
    flow: "registration",
    lang: "en",
    theme: "dark",
  });
});

test("a window that the browser blocks is named, and what was typed stays", async () => {
  const { user } = frame();
  vi.spyOn(window, "open").mockReturnValue(null);
  await user.type(emailField(), "ada@example.org");
  await user.click(chooseProvider());
  expect((await screen.findByRole("alert")).textContent).toContain(words.blocked);
  expect(emailField().value).toBe("ada@example.org");
});

test("a window that the user closes leaves the flow, and what was typed", async () => {
  const { user } = frame({ move: ["sealed"] });
  const { child } = nextWindow();
  await user.type(emailField(), "ada@example.org");
  await user.click(chooseProvider());
  const waiting = await screen.findByText(words.waiting);
  expect(document.activeElement).toBe(waiting);
  await user.click(screen.getByRole("button", { name: words.cancel }));
  await waitFor(() => expect(screen.queryByText(words.waiting)).toBeNull());
  expect(child.close).toHaveBeenCalled();
  expect(emailField().value).toBe("ada@example.org");
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a window that is closed after steps of its own leads to another flow, not to an error", async () => {
  const { calls, user } = frame({ move: ["sealed"], current: [login, refused], start: [login] });
  const { child } = nextWindow();
  await user.type(emailField(), "ada@example.org");
  await user.click(chooseProvider());
  await screen.findByText(words.waiting);
  child.closed = true;
  await waitFor(() => expect(screen.queryByText(words.waiting)).toBeNull());
  expect(calls.map(([procedure]) => procedure)).toContain("start");
  expect(emailField().value).toBe("ada@example.org");
});

test("A103 only the window that the frame opened, on this origin, gets the flow and ends the wait", async () => {
  const { calls, user } = frame({ move: ["sealed"], continue: [states.login_password] });
  const { child, receive } = nextWindow();
  await user.click(chooseProvider());
  await screen.findByText(words.waiting);
  const success = { type: "stile:window-success", answer: { version: 99, state: states.success } };
  for (const forged of [{ origin }, { source: window }, { source: null }])
    for (const message of [
      success,
      { type: "stile:window-back", token: "x" },
      { type: "stile:window-ready" },
    ])
      receive(message, forged);
  receive("stile:window-ready");
  receive({ type: "stile:window-ready" });
  await waitFor(() => expect(child.postMessage).toHaveBeenCalledTimes(1));
  expect(child.postMessage).toHaveBeenCalledWith(
    expect.objectContaining({ type: "stile:continue", token: "sealed", flow: "login" }),
    location.origin,
  );
  expect(screen.getByText(words.waiting)).toBeDefined();
  receive({ type: "stile:window-back", token: "returned" });
  expect(await screen.findByRole("heading", { name: "Enter your password" })).toBeDefined();
  expect(calls.filter(([procedure]) => procedure === "continue")).toEqual([
    ["continue", { type: "login", token: "returned" }],
  ]);
});

test("a lost connection is named in the frame, which goes on when it is back", async () => {
  const { user, container } = frame();
  let lost = true;
  vi.stubGlobal("fetch", async (url: string | URL) => {
    if (lost) throw new TypeError("Failed to fetch");
    return Response.json({ result: { data: { version: 9, state: login, url: String(url) } } });
  });
  await user.type(emailField(), "ada@example.org{Enter}");
  await within(container).findByText(en.errors.connection_lost);
  lost = false;
  await within(container).findByText(en.errors.connection_back);
  expect(emailField().value).toBe("ada@example.org");
});

test("the address of an account goes with its user to the sign-in, and not by an address", async () => {
  const taken = structuredClone(states.registration_init);
  const input = taken.actions.register_login_identifier?.inputs.email;
  if (input)
    Object.assign(input, {
      value: "Ada@Example.org",
      error: { code: "email_already_exists", message: "" },
    });
  const assign = vi.fn();
  vi.stubGlobal("location", { ...location, origin: location.origin, assign });
  const { calls, user } = frame(
    { act: [states.login_method_chooser], start: [login] },
    taken,
    "registration",
  );
  await waitFor(() => expect(calls.length).toBeGreaterThan(0));
  await user.click(screen.getByRole("button", { name: en.page.signInInstead }));
  await waitFor(() => expect(assign).toHaveBeenCalledTimes(1));
  expect(calls.filter(([procedure]) => procedure !== "current")).toEqual([
    ["start", expect.objectContaining({ type: "login" })],
    [
      "act",
      expect.objectContaining({
        type: "login",
        action: "continue_with_login_identifier",
        input: { email: "Ada@Example.org" },
      }),
    ],
  ]);
  const { pathname, search } = new URL(assign.mock.calls[0]?.[0] ?? "", "https://login.example");
  expect(pathname).toBe("/t/7/embed");
  expect(search).toContain("flow=login");
  expect(search).not.toMatch(/ada/i);
});

test("a flow that has expired says so in the frame too, and starts again there", async () => {
  const { user, calls } = frame({ act: [states.error_410], start: [login] }, states.login_password);
  await user.type(screen.getByLabelText("Password"), "seven herons{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe(en.errors.flow_expired_error);
  await user.click(screen.getByRole("link", { name: en.page.startAgain }));
  await screen.findByRole("heading", { name: "Sign in" });
  expect(calls.map(([procedure]) => procedure)).toContain("start");
});

test("a code that was tried too often, and a wait, are said in the frame with what can be done", async () => {
  const exhausted = frame({}, states.passcode_confirmation_exhausted);
  expect(screen.getByRole("alert").textContent).toBe(en.errors.passcode_max_attempts_reached);
  expect(screen.getByRole("button", { name: /new code|again/i })).toBeDefined();
  exhausted.unmount();
  frame({}, states.passcode_confirmation_too_fast);
  expect(screen.getByRole("button", { name: /0:42/ }).getAttribute("aria-disabled")).toBe("true");
});

test("a flow that was handed over too late leaves the frame with its state, and says so", async () => {
  const { user } = frame({ move: ["sealed"], continue: [refused] });
  const { receive } = nextWindow();
  await user.click(chooseProvider());
  await screen.findByText(words.waiting);
  receive({ type: "stile:window-back", token: "too late" });
  await screen.findByText(en.errors.page_out_of_date);
  expect(emailField()).toBeDefined();
});
