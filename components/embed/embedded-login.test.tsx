import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { StrictMode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as de } from "#words/de/flow";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { EmbeddedLogin, type WordSource } from "./embedded-login.tsx";

afterEach(() => {
  vi.unstubAllGlobals();
  history.replaceState(null, "", "/");
  sessionStorage.clear();
});

const source: WordSource<"de" | "en"> = {
  choose: ([wanted]) => (wanted === "de" ? "de" : "en"),
  load: async (language) => ({ de, en })[language],
};

/** A component whose service gives the answers in order; the last one again and again. */
function embed(
  answers: (FlowState | Response | Error)[],
  options: Partial<Parameters<typeof EmbeddedLogin<"de" | "en">>[0]> = {},
  headers: Record<string, string> = {},
) {
  const requests: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    requests.push(url.replace("https://login.example", ""));
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer;
    return Response.json(answer, { status: answer?.status ?? 200, headers });
  });
  const events = { onSuccess: vi.fn(), onStateChange: vi.fn(), onError: vi.fn() };
  const page = render(
    <EmbeddedLogin url="https://login.example/" source={source} language="en" {...events} {...options} />,
    { wrapper: StrictMode },
  );
  return { ...events, ...page, requests, user: userEvent.setup() };
}

const heading = (name: string) => screen.findByRole("heading", { level: 1, name });

/** A state without what a browser would begin at once. */
const login: FlowState = { ...states.login_init, payload: {} };

test("states and errors are reported, each once", async () => {
  const rejected: FlowState = {
    ...states.login_password,
    status: 401,
    error: { code: "invalid_credentials", message: "The password is wrong." },
  };
  const { onStateChange, onError, onSuccess, user, container } = embed([
    login,
    states.login_password,
    rejected,
  ]);
  await heading("Sign in");
  await user.type(screen.getByLabelText("Email"), "ada@example.org");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  await heading("Enter your password");
  await user.type(screen.getByLabelText("Password"), "wrong{Enter}");
  await waitFor(() => expect(onError).toHaveBeenCalled());
  expect(onStateChange.mock.calls).toEqual([[{ name: "login_init" }], [{ name: "login_password" }]]);
  expect(onError.mock.calls).toEqual([[{ code: "invalid_credentials", message: expect.any(String) }]]);
  expect(onSuccess).not.toHaveBeenCalled();
  expect(container.querySelector(".stile-embed")?.getAttribute("lang")).toBe("en");
});

test("success is reported after the recovery codes are saved, and only once", async () => {
  const { onSuccess, user } = embed([login, states.success_with_codes]);
  await heading("Sign in");
  await user.type(screen.getByLabelText("Email"), "ada@example.org");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  const saved = await screen.findByRole("button", { name: en.page.saved });
  expect(onSuccess).not.toHaveBeenCalled();
  await user.click(saved);
  await waitFor(() => expect(onSuccess.mock.calls).toEqual([[{ kind: "cookie" }]]));
});

test("the result comes from the newest answer, also in the strict mode of React", async () => {
  const headers = { "X-Auth-Token": "t.o.k", "X-Session-Lifetime": "60", "X-Session-Retention": "session" };
  const { onSuccess } = embed([states.success], {}, headers);
  await waitFor(() =>
    expect(onSuccess.mock.calls).toEqual([
      [{ kind: "token", token: "t.o.k", lifetime: 60, retention: "session" }],
    ]),
  );
});

test("the other flow opens in the same place", async () => {
  const { requests, user } = embed([login, states.registration_init]);
  await heading("Sign in");
  await user.click(screen.getByRole("link", { name: "Create an account" }));
  await heading("Create your account");
  expect(requests).toEqual(["/login", "/registration"]);
});

test("without a connection the frame says so, and goes on when it is back", async () => {
  const { onError } = embed([new TypeError("Failed to fetch"), login]);
  expect(await screen.findByText(en.errors.connection_lost)).toBeDefined();
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: "connection_lost" });
  await heading("Sign in");
  expect(screen.queryByText(en.errors.connection_lost)).toBeNull();
});

test("a browser that denies storage and cookies still signs in, and what was typed survives a lost connection", async () => {
  const denied = vi.spyOn(window, "sessionStorage", "get").mockImplementation(() => {
    throw new DOMException("Access is denied for this document.", "SecurityError");
  });
  const success = { ...states.success, payload: { authorization_code: "c" } };
  const { onSuccess, user } = embed(
    [login, new TypeError("Failed to fetch"), states.login_password, success],
    { codeChallenge: "x".repeat(43) },
  );
  await heading("Sign in");
  await user.type(screen.getByLabelText("Email"), "ada@example.org{Enter}");
  await heading("Enter your password");
  await user.type(screen.getByLabelText("Password"), "correct{Enter}");
  await waitFor(() => expect(onSuccess.mock.calls).toEqual([[{ kind: "code", code: "c" }]]));
  denied.mockRestore();
});

test("a page that reaches no service reads that there is no connection, and can try again", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const { onError, requests } = embed([new TypeError("Failed to fetch")]);
  // What each attempt loads is not delayed by the clock of the test.
  while (!screen.queryByText(en.errors.connection_missing))
    await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(onError.mock.calls.map(([{ code }]) => code)).toEqual(["connection_lost", "connection_missing"]);
  const before = requests.length;
  fireEvent.click(screen.getByRole("button", { name: en.page.tryAgain }));
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(requests.length).toBeGreaterThan(before);
  vi.useRealTimers();
});

test("a state and inputs that the component does not know are drawn, and can be sent", async () => {
  const { requests, user } = embed([states.unknown, login]);
  await heading("Verify home address");
  await user.type(screen.getByLabelText("House number"), "5");
  await user.selectOptions(screen.getByLabelText("Country"), "Ireland");
  await user.click(screen.getByRole("button", { name: "Confirm home address" }));
  await heading("Sign in");
  expect(requests.at(-1)).toContain("confirm_home_address");
});

test("another language is drawn without another flow", async () => {
  const { rerender, requests } = embed([login]);
  await heading("Sign in");
  rerender(<EmbeddedLogin url="https://login.example/" source={source} language="de" />);
  await heading(de.states.login_init.title);
  expect(requests).toEqual(["/login"]);
});

test("a component that turns from a login to an account loads the words of the account", async () => {
  const load = vi.fn(source.load);
  const { rerender } = embed([login, states.profile_init], { source: { ...source, load } });
  await heading("Sign in");
  rerender(
    <EmbeddedLogin url="https://login.example/" source={{ ...source, load }} language="en" flow="profile" />,
  );
  await heading("Your account");
  expect(load.mock.calls.at(-1)).toEqual(["en", true]);
});

test("an account without a session reports it and leads to the login", async () => {
  const unauthorized: FlowState = {
    name: "error",
    status: 401,
    payload: {},
    csrf_token: "",
    actions: {},
    links: null,
    error: { code: "unauthorized", message: "Sign in first." },
  };
  const { onError, user, requests } = embed([unauthorized, unauthorized, login], { flow: "profile" });
  await user.click(await screen.findByRole("link", { name: en.page.signIn }));
  await heading("Sign in");
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: "unauthorized" });
  expect(requests.at(-1)).toBe("/login");
});

test("the service's own texts are there from the first drawing, and none is asked for where there are none", async () => {
  const texts = { "states.login_init.title": "<b>Welcome</b>" };
  const { requests, rerender } = embed([login, Response.json(texts)], {}, { "X-Words": "v1 en" });
  await waitFor(() => expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("<b>Welcome</b>"));
  expect(requests).toEqual(["/login", "/theme/v1/words-en.json"]);
  rerender(<EmbeddedLogin url="https://login.example/" source={source} language="de" />);
  await heading(de.states.login_init.title);
  expect(requests).toHaveLength(2);
});

test("the service's own texts that cannot be loaded are replaced by ours", async () => {
  embed([login, new TypeError("Failed to fetch")], {}, { "X-Words": "v1 en" });
  expect(await heading("Sign in")).toBeDefined();
});

test("an error in the application's own address is not taken for a return from a provider", async () => {
  history.replaceState(null, "", "/?error=quota");
  const { onError, requests } = embed([login]);
  await heading("Sign in");
  expect(onError).not.toHaveBeenCalled();
  expect(screen.queryByRole("alert")).toBeNull();
  expect(location.search).toBe("?error=quota");
  expect(requests.every((path) => path === "/login")).toBe(true);
});

test("A104 a token of a provider that no flow waits for leaves the address, and reaches no service", async () => {
  history.replaceState(null, "", "/?hanko_token=of-another-flow&page=2");
  const { requests } = embed([login]);
  await heading("Sign in");
  await waitFor(() => expect(location.search).toBe("?page=2"));
  expect(requests.every((path) => path === "/login")).toBe(true);
});

test("registration is not offered where it is closed", async () => {
  embed([{ ...login, payload: { registration_closed: true } }]);
  await heading("Sign in");
  expect(screen.queryByRole("link", { name: "Create an account" })).toBeNull();
});

test("words that cannot be loaded are replaced by English ones, and the application is told", async () => {
  const load = vi.fn(async (language: "de" | "en") => {
    if (language === "de") throw new TypeError("Failed to fetch dynamically imported module");
    return en;
  });
  const { onError, container } = embed([login], { language: "de", source: { ...source, load } });
  await heading("Sign in");
  expect(container.querySelector(".stile-embed")?.getAttribute("lang")).toBe("en");
  expect(onError.mock.calls).toEqual([[{ code: "connection_missing", message: expect.any(String) }]]);
});

test("without words of any language the descriptions of the service are shown, and the login works", async () => {
  const load = async () => {
    throw new TypeError("Failed to fetch dynamically imported module");
  };
  const { user, onSuccess } = embed([login, states.login_password, states.success], {
    source: { ...source, load },
  });
  await heading("Login init");
  await user.type(screen.getByLabelText("Email"), "ada@example.org");
  await user.click(screen.getByRole("button", { name: "Continue with login identifier" }));
  await heading("Login password");
  await user.type(screen.getByLabelText("Password"), "correct horse{Enter}");
  await waitFor(() => expect(onSuccess).toHaveBeenCalled());
});

test("a step goes on after a reload of the page", async () => {
  const { user, unmount, requests } = embed([login, states.login_password]);
  await heading("Sign in");
  await user.type(screen.getByLabelText("Email"), "ada@example.org");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  await heading("Enter your password");
  unmount();
  history.replaceState(null, "", "/?error=quota");
  const reloaded = embed([states.success]);
  await heading("Enter your password");
  expect(location.search).toBe("?error=quota");
  expect(reloaded.requests).toEqual([]);
  await reloaded.user.type(screen.getByLabelText("Password"), "correct horse{Enter}");
  await waitFor(() => expect(reloaded.onSuccess).toHaveBeenCalled());
  expect(sessionStorage.length).toBe(0);
  expect(requests[0]).toBe("/login");
});

test("passkey managers are told what the service knows of passkeys", async () => {
  const signalUnknownCredential = vi.fn(async () => {});
  vi.stubGlobal("PublicKeyCredential", Object.assign(new Function(), { signalUnknownCredential }));
  const unknown = { unknown_credential: { credential_id: "AQ" } };
  const options = { request_options: { publicKey: { rpId: "login.example", challenge: "AQ" } } };
  const { user } = embed([
    { ...states.login_init, payload: options },
    { ...states.login_init, payload: unknown },
  ]);
  await heading("Sign in");
  await user.type(screen.getByLabelText("Email"), "ada@example.org");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  await waitFor(() =>
    expect(signalUnknownCredential).toHaveBeenCalledWith({ rpId: "login.example", credentialId: "AQ" }),
  );
});

test("a state that the component does not know is shown in the words of the server", async () => {
  embed([states.unknown]);
  await heading("Verify home address");
  expect(screen.getByText("This address is disputed.")).toBeDefined();
  expect(screen.getByText("Tells us where you live.")).toBeDefined();
  expect(screen.getByText("We ring you instead.")).toBeDefined();
});
