import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { flow } from "#words/en/flow";
import { frame } from "#words/en/frame";
import { states } from "../gallery/states.ts";
import { frameServer } from "./frame-server.ts";
import { FrameWindow } from "./frame-window.tsx";
import type { ToWindow } from "./messages.ts";

const page = { origin: "https://app.example", codeChallenge: "x".repeat(43) };

/** Another window of this origin. */
let other: Window;
let requests: string[];

beforeEach(() => {
  document.body.innerHTML = "<iframe></iframe>";
  other = document.querySelector("iframe")?.contentWindow as Window;
  requests = [];
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** The service, which answers each procedure of tRPC with the data given, and fails where there is none. */
function serve(procedures: Record<string, () => unknown>) {
  vi.stubGlobal("fetch", async (url: string | URL, { body }: RequestInit = {}) => {
    const name = new URL(url, "https://login.example").pathname.split("/").at(-1) ?? "";
    requests.push(`${name} ${body ?? ""}`);
    const answer = procedures[name]?.();
    if (answer === undefined) throw new TypeError("no connection");
    return Response.json({ result: { data: answer } });
  });
}

const receive = (data: unknown) =>
  window.dispatchEvent(new MessageEvent("message", { origin: location.origin, source: other, data }));

test("a window that does not reach the service says so, and asks its frame again", async () => {
  vi.stubGlobal("opener", other);
  const told = vi.spyOn(other, "postMessage");
  const continueWith = (token: string): ToWindow => ({
    type: "stile:continue",
    flow: "login",
    page,
    token,
    step: null,
  });
  serve({});
  render(
    <FrameWindow
      {...{ words: flow, frameWords: frame, language: "en", base: "", service: "Seven Herons" }}
      {...{ ownOrigin: location.origin, returned: null, providerReturn: null }}
    />,
  );
  expect(told.mock.calls).toEqual([[{ type: "stile:window-ready" }, location.origin]]);
  receive(continueWith("one"));
  await screen.findByText(flow.errors.connection_missing);
  const login = { version: 3, state: { ...states.login_password, payload: {} } };
  serve({ "flow.continue": () => login, "flow.current": () => login });
  await userEvent.click(screen.getByRole("button", { name: flow.page.tryAgain }));
  expect(told).toHaveBeenCalledTimes(2);
  receive(continueWith("two"));
  await screen.findByRole("heading", { name: "Enter your password" });
  expect(requests.filter((request) => request.startsWith("flow.continue"))).toEqual([
    'flow.continue {"type":"login","token":"one"}',
    'flow.continue {"type":"login","token":"two"}',
  ]);
});

test("a window that is loaded again gets the flow in a token of its own, since a token is valid once", async () => {
  vi.spyOn(window, "open").mockReturnValue(other);
  const told = vi.spyOn(other, "postMessage");
  let sealed = 0;
  serve({ "flow.move": () => `token ${++sealed}` });
  vi.spyOn(document, "cookie", "get").mockReturnValue("stile-kept=1");
  const server = frameServer("", "en", page);
  void server.act("login", "thirdparty_oauth", 2, { provider: "google" });
  for (const times of [1, 2]) {
    receive({ type: "stile:window-ready" });
    await waitFor(() => expect(told).toHaveBeenCalledTimes(times));
  }
  expect(told.mock.calls.map(([message]) => (message as ToWindow).token)).toEqual(["token 1", "token 2"]);
});

test("without a connection the window closes, and the step fails in the frame, which says why", async () => {
  vi.spyOn(window, "open").mockReturnValue(other);
  const closed = vi.spyOn(other, "close");
  serve({});
  vi.spyOn(document, "cookie", "get").mockReturnValue("stile-kept=1");
  const server = frameServer("", "en", page);
  const step = server.act("login", "thirdparty_oauth", 2, { provider: "google" });
  receive({ type: "stile:window-ready" });
  await expect(step).rejects.toThrow("no connection");
  expect(closed).toHaveBeenCalledTimes(1);
  expect(server.status()).toBe("none");
});

test("the address of an account, which a provider gave to a sign-up, signs in to it in the same window", async () => {
  vi.stubGlobal("opener", other);
  const told = vi.spyOn(other, "postMessage");
  vi.spyOn(window, "close").mockReturnValue();
  const atProvider = { version: 4, state: states.thirdparty };
  serve({
    "flow.current": () =>
      requests.at(-1)?.includes("login") ? { version: 2, state: states.login_password } : atProvider,
    "flow.act": () => {
      const step = requests.filter((request) => request.startsWith("flow.act")).length;
      if (step === 1) return { version: 5, state: states.thirdparty_rejected };
      if (step === 2) return { version: 2, state: states.login_password };
      return { version: 3, state: { ...states.success, payload: { authorization_code: "c" } } };
    },
    "flow.start": () => ({ version: 1, state: states.login_init }),
  });
  render(
    <FrameWindow
      {...{ words: flow, frameWords: frame, language: "en", base: "", service: "Seven Herons" }}
      {...{ ownOrigin: location.origin, providerReturn: { token: "t" } }}
      returned={{ type: "registration", page, initial: atProvider }}
    />,
  );
  await userEvent.click(await screen.findByRole("button", { name: flow.page.signInInstead }));
  await userEvent.type(await screen.findByLabelText("Password"), "seven herons{Enter}");
  await screen.findByText(frame.closeWindow);
  expect(told).toHaveBeenCalledWith(
    expect.objectContaining({
      type: "stile:window-success",
      answer: expect.objectContaining({ version: 3 }),
    }),
    location.origin,
  );
  const sent = requests.filter((request) => /^flow\.(start|act)/.test(request));
  expect(sent.map((request) => JSON.parse(request.slice(request.indexOf("{"))))).toMatchObject([
    { type: "registration", action: "exchange_token" },
    { type: "login" },
    { type: "login", action: "continue_with_login_identifier", input: { email: "ada@example.org" } },
    { type: "login", action: "password_login" },
  ]);
});
