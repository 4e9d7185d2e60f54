import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { eventually } from "#server/testing/eventually";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { EmbeddedLogin } from "./embedded-login.tsx";
import { signInAtOnce } from "./immediate-sign-in.ts";

afterEach(() => vi.unstubAllGlobals());

const url = "https://login.example/t/1";

/** A service that gives the answers in order, and a browser that offers a credential or declines. */
function stub(
  answers: (FlowState | Error)[],
  offer: () => Promise<unknown>,
  { immediateGet = true, headers = {} as Record<string, string> } = {},
) {
  const steps: { action: string; input: unknown }[] = [];
  vi.stubGlobal("fetch", async (address: string, { body }: RequestInit) => {
    const query = new URL(address).searchParams;
    const action = (query.get("action") ?? "start").split("@")[0] ?? "";
    steps.push({ action, input: body ? JSON.parse(String(body)).input_data : null });
    const answer = answers.shift();
    if (!answer || answer instanceof Error) throw answer ?? new Error("no more answers");
    return Response.json(answer, { status: answer.status, headers });
  });
  const get = vi.fn(offer);
  vi.stubGlobal(
    "PublicKeyCredential",
    Object.assign(new Function(), {
      getClientCapabilities: async () => ({ immediateGet }),
      parseRequestOptionsFromJSON: (options: object) => ({ ...options, parsed: true }),
      isConditionalMediationAvailable: async () => true,
      isUserVerifyingPlatformAuthenticatorAvailable: async () => true,
    }),
  );
  vi.stubGlobal("navigator", { ...navigator, languages: ["en"], credentials: { get } });
  const onSuccess = vi.fn();
  const onStateChange = vi.fn();
  const options = { url, onSuccess, onStateChange };
  return { steps, get, options, onSuccess, onStateChange, signIn: () => signInAtOnce(options, "en") };
}

const passkey = { type: "public-key", toJSON: () => ({ id: "AQ", response: {} }) };
const password = { type: "password", id: "ada@example.org", password: "correct horse" };
const declines = async () => {
  throw new DOMException("nothing at hand", "NotAllowedError");
};

/** Draws what `signIn` leaves to show, as the packages do. */
function draw(options: { url: string }, open: Awaited<ReturnType<typeof signInAtOnce>>) {
  const source = { choose: () => "en", load: async () => en };
  render(<EmbeddedLogin {...options} source={source} language="en" begun={open?.begun ?? null} />);
  return userEvent.setup();
}

test("a passkey that the browser offers signs in, and nothing is shown", async () => {
  const { steps, get, signIn, onSuccess, onStateChange } = stub(
    [states.login_init, states.success],
    async () => passkey,
  );
  expect(await signIn()).toBeNull();
  expect(steps.map(({ action }) => action)).toEqual(["start", "webauthn_verify_assertion_response"]);
  expect(steps.at(-1)?.input).toEqual({ assertion_response: { id: "AQ", response: {} } });
  expect(onSuccess.mock.calls).toEqual([[{ kind: "cookie" }]]);
  expect(onStateChange.mock.calls).toEqual([[{ name: "success" }]]);
  // The browser refuses an immediate request with a signal, or with a list of credentials.
  expect(get.mock.calls).toEqual([
    [{ password: true, uiMode: "immediate", publicKey: expect.objectContaining({ parsed: true }) }],
  ]);
});

test("a service before 0.4 is told in a step of its own what the browser can do", async () => {
  const { steps, get, signIn } = stub(
    [states.preflight, states.login_init, states.success],
    async () => passkey,
  );
  expect(await signIn()).toBeNull();
  expect(steps.map(({ action }) => action)).toEqual([
    "start",
    "register_client_capabilities",
    "webauthn_verify_assertion_response",
  ]);
  expect(get.mock.calls).toEqual([[expect.objectContaining({ publicKey: expect.anything() })]]);
});

test("a result that the service hands over as a token is reported as such", async () => {
  const headers = { "X-Auth-Token": "t.o.k", "X-Session-Lifetime": "60", "X-Session-Retention": "session" };
  const answers = [states.login_init, states.success];
  const { signIn, onSuccess } = stub(answers, async () => passkey, { headers });
  await signIn();
  expect(onSuccess.mock.calls).toEqual([
    [{ kind: "token", token: "t.o.k", lifetime: 60, retention: "session" }],
  ]);
});

test.each([
  ["at once", [states.login_password], []],
  [
    "by the choice of methods",
    [states.login_method_chooser, states.login_password],
    ["continue_to_password_login"],
  ],
])("a saved password signs in where the flow offers it %s", async (_, between, ways) => {
  const { steps, signIn, onSuccess } = stub(
    [states.login_init, ...between, states.success],
    async () => password,
  );
  expect(await signIn()).toBeNull();
  expect(steps.slice(1)).toEqual([
    { action: "continue_with_login_identifier", input: { email: "ada@example.org" } },
    ...ways.map((action) => ({ action, input: {} })),
    { action: "password_login", input: { password: "correct horse" } },
  ]);
  expect(onSuccess).toHaveBeenCalledTimes(1);
});

test("a password names its account by the input that the service asks for", async () => {
  const { steps, signIn } = stub(
    [states.login_init_by_identifier, states.login_password, states.success],
    async () => ({ ...password, id: "ada" }),
  );
  await signIn();
  expect(steps[1]).toEqual({ action: "continue_with_login_identifier", input: { identifier: "ada" } });
});

test("with nothing at hand the login opens in the flow that was begun", async () => {
  const { steps, options, signIn, onSuccess } = stub([states.login_init], declines);
  const open = await signIn();
  expect(onSuccess).not.toHaveBeenCalled();
  draw(options, open);
  await screen.findByRole("heading", { level: 1, name: "Sign in" });
  expect(steps.map(({ action }) => action)).toEqual(["start"]);
});

test("a further step after the passkey is shown in the same flow, and its result is reported", async () => {
  const { steps, options, signIn, onSuccess, onStateChange } = stub(
    [states.login_init, states.login_otp, states.success],
    async () => passkey,
  );
  const user = draw(options, await signIn());
  await screen.findByRole("heading", { level: 1, name: en.states.login_otp.title });
  expect(onSuccess).not.toHaveBeenCalled();
  await user.type(screen.getByLabelText("Code"), "123456");
  await eventually(() => expect(onSuccess.mock.calls).toEqual([[{ kind: "cookie" }]]));
  expect(onStateChange.mock.calls).toEqual([[{ name: "login_otp" }], [{ name: "success" }]]);
  expect(steps.filter(({ action }) => action === "start")).toHaveLength(1);
});

test("a rejected password is shown where it was rejected", async () => {
  const { options, signIn } = stub(
    [states.login_init, states.login_password, states.login_password_wrong],
    async () => password,
  );
  draw(options, await signIn());
  await screen.findByRole("heading", { level: 1, name: en.states.login_password.title });
  expect(screen.getByLabelText("Password").getAttribute("aria-invalid")).toBe("true");
});

test("recovery codes of a new second factor are shown before the result", async () => {
  const { options, signIn, onSuccess } = stub(
    [states.login_init, states.success_with_codes],
    async () => passkey,
  );
  const user = draw(options, await signIn());
  const saved = await screen.findByRole("button", { name: en.page.saved });
  expect(onSuccess).not.toHaveBeenCalled();
  await user.click(saved);
  await eventually(() => expect(onSuccess).toHaveBeenCalledTimes(1));
});

test("an answer that was lost is asked for again by the login that opens", async () => {
  const { steps, options, signIn, onSuccess } = stub(
    [states.login_init, new TypeError("Failed to fetch"), states.success],
    async () => passkey,
  );
  draw(options, await signIn());
  await eventually(() => expect(onSuccess).toHaveBeenCalledTimes(1));
  expect(steps.filter(({ action }) => action === "webauthn_verify_assertion_response")).toHaveLength(2);
});

test("a browser without the mode is asked for nothing, and no flow is begun before the login opens", async () => {
  const { steps, get, signIn } = stub([], declines, { immediateGet: false });
  expect(await signIn()).toEqual({ begun: null });
  vi.stubGlobal("PublicKeyCredential", undefined);
  expect(await signIn()).toEqual({ begun: null });
  expect(get).not.toHaveBeenCalled();
  expect(steps).toEqual([]);
});

test("without a connection the login opens, and says so", async () => {
  const { signIn } = stub([new TypeError("Failed to fetch")], declines);
  expect(await signIn()).toEqual({ begun: null });
});

test.each(["frame", "page"] as const)(
  "before the %s, which hides what is typed from the application, no password is asked for and nothing is kept",
  async (otherwise) => {
    sessionStorage.clear();
    const answers = [states.login_init, states.login_otp];
    const { get, options } = stub(answers, async () => passkey);
    expect(await signInAtOnce({ ...options, otherwise }, "en")).not.toBeNull();
    expect(get.mock.calls).toEqual([
      [{ password: false, uiMode: "immediate", publicKey: expect.objectContaining({ parsed: true }) }],
    ]);
    expect(sessionStorage).toHaveLength(0);
  },
);

test("a service without passkeys is not asked for one before the frame", async () => {
  const { payload, ...init } = states.login_init;
  const answers = [{ ...init, payload: {} }];
  const { get, options } = stub(answers, async () => passkey);
  expect(await signInAtOnce({ ...options, otherwise: "frame" }, "en")).not.toBeNull();
  expect(payload.request_options).toBeDefined();
  expect(get).not.toHaveBeenCalled();
});
