import { act, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { abortCeremony } from "./ceremonies.ts";
import { draw, settle } from "./drawing.fixture.tsx";

const buffer = (text: string) => new TextEncoder().encode(text).buffer;

/** A credential of a browser's authenticator, as far as the page reads it. */
const assertion = {
  id: "Y3JlZA",
  rawId: buffer("cred"),
  type: "public-key",
  response: {
    authenticatorData: buffer("data"),
    clientDataJSON: buffer("{}"),
    signature: buffer("signed"),
    userHandle: null,
  },
  getClientExtensionResults: () => ({}),
};

const attestation = {
  id: "Y3JlZA",
  rawId: buffer("cred"),
  type: "public-key",
  response: {
    attestationObject: buffer("object"),
    clientDataJSON: buffer("{}"),
    getTransports: () => ["internal"],
  },
  getClientExtensionResults: () => ({}),
};

interface Request {
  signal: AbortSignal;
  mediation?: string;
  publicKey: { challenge: ArrayBuffer };
}

/** A prompt that stays open until the request is aborted. */
const waiting = ({ signal }: Request) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const get = vi.fn<(request: Request) => Promise<unknown>>();
const create = vi.fn<(request: Request) => Promise<unknown>>();

function browserThatCan(methods: Record<string, () => Promise<boolean>>): void {
  vi.stubGlobal("PublicKeyCredential", Object.assign(new Function(), methods));
}

beforeEach(() => {
  get.mockReset().mockImplementation(waiting);
  create.mockReset().mockImplementation(waiting);
  browserThatCan({
    isConditionalMediationAvailable: async () => true,
    isUserVerifyingPlatformAuthenticatorAvailable: async () => false,
  });
  Object.defineProperty(navigator, "credentials", { configurable: true, value: { get, create } });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The requests that are no autofill. */
const prompts = () => get.mock.calls.map(([request]) => request).filter(({ mediation }) => !mediation);

const failureOf = (name: string) => Object.assign(new Error("no"), { name });

describe("preflight", () => {
  test("reports the browser's capabilities automatically, and shows a skeleton until the answer arrives", async () => {
    const { server, container } = draw(states.preflight, { version: 0, answers: [states.login_init] });
    expect(container.querySelector(".stile-outline")).not.toBeNull();
    await screen.findByRole("heading", { name: "Sign in" });
    expect(server.current).not.toHaveBeenCalled();
    const capabilities = {
      webauthn_available: true,
      webauthn_conditional_mediation_available: true,
      webauthn_platform_authenticator_available: false,
    };
    expect(server.act).toHaveBeenCalledExactlyOnceWith(
      "login",
      "register_client_capabilities",
      0,
      capabilities,
      capabilities,
    );
  });

  test("reports capabilities whose check is missing or fails as absent", async () => {
    browserThatCan({ isConditionalMediationAvailable: () => Promise.reject(new Error("broken extension")) });
    const { server } = draw(states.preflight, { version: 0 });
    const capabilities = {
      webauthn_available: true,
      webauthn_conditional_mediation_available: false,
      webauthn_platform_authenticator_available: false,
    };
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledWith(
        "login",
        "register_client_capabilities",
        0,
        capabilities,
        capabilities,
      ),
    );
  });

  test("asks before it retries after a rejection", async () => {
    const error = { code: "rate_limit_exceeded", message: "" };
    const { server, user } = draw({ ...states.preflight, status: 429, error }, { version: 0 });
    expect(screen.getByRole("alert").textContent).toBe(en.errors.rate_limit_exceeded);
    expect(screen.getAllByRole("button")).toHaveLength(1);
    expect(server.act).not.toHaveBeenCalled();
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(1));
  });
});

/** The state after a rejection, asked for anew: the error, and options with another challenge. */
function renewed(state: FlowState): FlowState {
  const copy = structuredClone(state);
  for (const options of Object.values(copy.payload))
    (options as { publicKey: { challenge: string } }).publicKey.challenge = "bmV3";
  return { ...copy, status: 401, error: { code: "passkey_invalid", message: "" } };
}

describe("login_passkey", () => {
  test("prompts at once and sends the assertion", async () => {
    get.mockResolvedValue(assertion);
    const { server } = draw(states.login_passkey, { answers: [states.success] });
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "webauthn_verify_assertion_response", 7, {
      assertion_response: expect.objectContaining({
        id: "Y3JlZA",
        response: expect.objectContaining({ signature: "c2lnbmVk" }),
      }),
    });
    expect(get.mock.calls[0]?.[0].mediation).toBeUndefined();
  });

  test.each([
    ["NotAllowedError", en.errors.passkey_cancelled],
    ["SecurityError", en.errors.passkey_failed],
  ])("goes back with a notice when the browser answers %s", async (name, message) => {
    get.mockRejectedValue(failureOf(name));
    const { server } = draw(states.login_passkey, { answers: [states.login_method_chooser] });
    expect(await screen.findByText(message)).toBeDefined();
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "back", 7, {});
    expect(screen.getByRole("heading").textContent).toBe("How would you like to sign in?");
  });

  test("aborts the browser's prompt when the user goes back, without a notice", async () => {
    const { server, user } = draw(states.login_passkey, { answers: [states.login_method_chooser] });
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    await user.click(screen.getByRole("button", { name: "Back" }));
    await screen.findByRole("heading", { name: "How would you like to sign in?" });
    expect(get.mock.calls[0]?.[0].signal.aborted).toBe(true);
    expect(server.act).toHaveBeenCalledTimes(1);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("does not prompt again automatically after a rejection, and asks for a new challenge to try again", async () => {
    get.mockResolvedValueOnce(assertion);
    const { server, user } = draw(states.login_passkey, {
      answers: [states.login_passkey_refused, renewed(states.login_passkey)],
    });
    await screen.findByText(en.errors.passkey_invalid);
    const tryAgain = screen.getByRole("button", { name: "Try again" });
    expect(get).toHaveBeenCalledTimes(1);
    const asked = server.current.mock.calls.length;
    await user.click(tryAgain);
    await waitFor(() => expect(get).toHaveBeenCalledTimes(2));
    expect(server.current).toHaveBeenCalledTimes(asked + 1);
    expect(new TextDecoder().decode(get.mock.calls[1]?.[0].publicKey.challenge)).toBe("new");
    expect(server.act).toHaveBeenCalledTimes(1);
  });

  test("prompts on request only, with the options of a page that was reloaded after a rejection", async () => {
    const { server, user } = draw(renewed(states.login_passkey));
    const tryAgain = await screen.findByRole("button", { name: "Try again" });
    await waitFor(() => expect(server.current).toHaveBeenCalledTimes(1));
    expect(get).not.toHaveBeenCalled();
    await user.click(tryAgain);
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    expect(server.current).toHaveBeenCalledTimes(1);
  });

  test("says so if no new challenge can be had", async () => {
    const { user } = draw(states.login_passkey_refused, { answers: [new Error("no answer")] });
    await user.click(await screen.findByRole("button", { name: "Try again" }));
    expect(await screen.findByText(en.errors.connection_lost)).toBeDefined();
    expect(get).not.toHaveBeenCalled();
  });
});

describe("onboarding_verify_passkey_attestation", () => {
  test("lets the browser create a passkey and sends it", async () => {
    create.mockResolvedValue(attestation);
    const { server } = draw(states.onboarding_verify_passkey_attestation, { answers: [states.success] });
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "webauthn_verify_attestation_response", 7, {
      public_key: expect.objectContaining({
        response: expect.objectContaining({ transports: ["internal"] }),
      }),
    });
  });

  test("is tried again on request, with a new challenge", async () => {
    create.mockResolvedValueOnce(attestation);
    const { user } = draw(states.onboarding_verify_passkey_attestation, {
      answers: [
        states.onboarding_verify_passkey_attestation_refused,
        renewed(states.onboarding_verify_passkey_attestation),
      ],
    });
    await screen.findByRole("alert");
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(create).toHaveBeenCalledTimes(2));
    expect(new TextDecoder().decode(create.mock.calls[1]?.[0].publicKey.challenge)).toBe("new");
  });

  test("reports a device that already has a passkey", async () => {
    create.mockRejectedValue(failureOf("InvalidStateError"));
    draw(states.onboarding_verify_passkey_attestation, { answers: [states.onboarding_create_passkey] });
    expect(await screen.findByText(en.errors.webauthn_credential_already_exists)).toBeDefined();
  });
});

describe("login_init", () => {
  test("offers passkey autofill in a field that asks for it", async () => {
    get.mockResolvedValue(assertion);
    const { server } = draw(states.login_init, { answers: [states.success] });
    expect(screen.getByLabelText<HTMLInputElement>("Email").autocomplete).toBe("username webauthn");
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(1));
    expect(get.mock.calls[0]?.[0].mediation).toBe("conditional");
    expect(server.act.mock.calls[0]?.[1]).toBe("webauthn_verify_assertion_response");
  });

  test("aborts autofill when another action runs, and shows no failure of it", async () => {
    const { user } = draw(states.login_init, { answers: [states.login_method_chooser] });
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    await user.type(screen.getByLabelText("Email"), "ada@example.org{Enter}");
    await screen.findByRole("heading", { name: "How would you like to sign in?" });
    expect(get.mock.calls[0]?.[0].signal.aborted).toBe(true);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("prompts at the press of the button with the options that a page without a flow has", async () => {
    get.mockImplementation(({ mediation, ...request }) =>
      mediation === "conditional" ? waiting(request) : Promise.resolve(assertion),
    );
    const { server, user } = draw(states.login_init, { version: 0, answers: [states.success] });
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    await user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(1));
    expect(get.mock.calls.map(([{ mediation }]) => mediation)).toEqual(["conditional", undefined]);
    expect(server.act.mock.calls[0]?.[1]).toBe("webauthn_verify_assertion_response");
  });

  test("says that a prompt was cancelled, goes on with autofill, and prompts again", async () => {
    get.mockImplementation(({ mediation, ...request }) =>
      mediation === "conditional" ? waiting(request) : Promise.reject(failureOf("NotAllowedError")),
    );
    const { server, user } = draw(states.login_init, { version: 0 });
    const press = () => user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await press();
    await screen.findByText(en.errors.passkey_cancelled);
    await waitFor(() => expect(get.mock.lastCall?.[0].mediation).toBe("conditional"));
    expect(server.act).not.toHaveBeenCalled();
    get.mockResolvedValue(assertion);
    await press();
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(1));
  });

  test("does not renew the challenge while the browser prompts, and another action ends the prompt", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { server, user } = draw(states.login_init, { version: 0, answers: [states.login_method_chooser] });
    await user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(get.mock.lastCall?.[0].mediation).toBeUndefined());
    await act(() => vi.advanceTimersByTimeAsync(600_000));
    expect(server.current).not.toHaveBeenCalled();
    await user.type(screen.getByLabelText("Email"), "ada@example.org{Enter}");
    await screen.findByRole("heading", { name: "How would you like to sign in?" });
    expect(get.mock.lastCall?.[0].signal.aborted).toBe(true);
  });

  test.each([429, 503])("does not prompt again by itself after an answer %d", async (status) => {
    const refused = {
      ...states.login_init,
      name: "error",
      status,
      actions: {},
      error: { code: "rate_limit_exceeded", message: "" },
    };
    get.mockImplementation(({ mediation, ...request }) =>
      mediation === "conditional" ? waiting(request) : Promise.resolve(assertion),
    );
    const { server, user } = draw(states.login_init, { version: 0, answers: Array(6).fill(refused) });
    await user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(1));
    await waitFor(() => expect(get.mock.lastCall?.[0].mediation).toBe("conditional"));
    expect(prompts()).toHaveLength(1);
  });

  test("prompts once for a double click, and goes on with autofill after a prompt that was aborted", async () => {
    const { user } = draw(states.login_init, { version: 0 });
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    await user.dblClick(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(prompts()).toHaveLength(1));
    expect(prompts()[0]?.signal.aborted).toBe(false);
    // By another component in the page: once it may have been autofill that was opening.
    act(() => abortCeremony());
    await waitFor(() => expect(prompts()).toHaveLength(2));
    act(() => abortCeremony());
    await waitFor(() => expect(get.mock.lastCall?.[0].mediation).toBe("conditional"));
  });

  /** A browser whose autofill does not open before `open` is called. */
  function browserThatOpensLater() {
    const { promise, resolve: open } = Promise.withResolvers<boolean>();
    const isConditionalMediationAvailable = vi.fn(() => promise);
    browserThatCan({ isConditionalMediationAvailable });
    return { open, isConditionalMediationAvailable };
  }

  test("leaves no autofill open that was still opening when the page took the form away", async () => {
    const { open, isConditionalMediationAvailable } = browserThatOpensLater();
    // Of the page around the form. Without any such field autofill does not open.
    const field = document.body.appendChild(document.createElement("input"));
    field.setAttribute("autocomplete", "username webauthn");
    const { unmount } = draw(states.login_init);
    await waitFor(() => expect(isConditionalMediationAvailable).toHaveBeenCalled());
    unmount();
    open(true);
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    field.remove();
    await waitFor(() => expect(get.mock.calls[0]?.[0].signal.aborted).toBe(true));
  });

  test("keeps autofill of a form that took the place of one whose autofill was still opening", async () => {
    const { open, isConditionalMediationAvailable } = browserThatOpensLater();
    const { unmount } = draw(states.login_init);
    await waitFor(() => expect(isConditionalMediationAvailable).toHaveBeenCalled());
    unmount();
    isConditionalMediationAvailable.mockClear();
    draw(states.login_init);
    await waitFor(() => expect(isConditionalMediationAvailable).toHaveBeenCalled());
    open(true);
    await waitFor(() => expect(get).toHaveBeenCalledTimes(2));
    // Whatever ends autofill has done so by now.
    await act(async () => {});
    expect(get.mock.calls.map(([{ signal }]) => signal.aborted)).toEqual([true, false]);
  });

  test("prompts at a press while autofill is still opening, which ends the prompt", async () => {
    const { open, isConditionalMediationAvailable } = browserThatOpensLater();
    const { user } = draw(states.login_init, { version: 0 });
    await waitFor(() => expect(isConditionalMediationAvailable).toHaveBeenCalled());
    await user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(prompts()).toHaveLength(1));
    open(true);
    await waitFor(() => expect(prompts()).toHaveLength(2));
    expect(prompts()[1]?.signal.aborted).toBe(false);
    expect(get.mock.calls.map(([{ signal }]) => signal.aborted)).toEqual([true, true, false]);
  });

  test("asks for other options first where a press finds old ones, as after a laptop has slept", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const renewed = structuredClone(states.login_init);
    (renewed.payload.request_options as { publicKey: { challenge: string } }).publicKey.challenge = "bmV3";
    const answers = [{ version: 0, state: renewed }];
    const { user } = draw(states.login_init, { version: 0, answers });
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    vi.setSystemTime(Date.now() + 3 * 3_600_000);
    await user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(prompts()).toHaveLength(1));
    expect(new TextDecoder().decode(prompts()[0]?.publicKey.challenge)).toBe("new");
    expect(prompts()[0]?.signal.aborted).toBe(false);
  });

  test("asks the server for options where a switch has started the flow meanwhile", async () => {
    const { server, user } = draw(states.login_init, { version: 0, answers: [states.login_init] });
    await user.click(screen.getByRole("checkbox"));
    await user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(2));
    expect(server.act.mock.calls[1]?.[1]).toBe("webauthn_generate_request_options");
    expect(prompts()).toHaveLength(0);
  });

  test("asks the server for options in a flow, whose challenge may have grown old", async () => {
    const { server, user } = draw(states.login_init, { answers: [states.login_passkey] });
    await user.click(screen.getByRole("button", { name: "Sign in with a passkey" }));
    await waitFor(() => expect(server.act).toHaveBeenCalledTimes(1));
    expect(server.act.mock.calls[0]?.[1]).toBe("webauthn_generate_request_options");
  });

  test("renews the challenge before it expires, and keeps typed text", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const renewed = structuredClone(states.login_init);
    (renewed.payload.request_options as { publicKey: { challenge: string } }).publicKey.challenge = "bmV3";
    const { server, user } = draw(states.login_init, { answers: [renewed] });
    await waitFor(() => expect(get).toHaveBeenCalledTimes(1));
    await user.type(screen.getByLabelText("Email"), "ada@");
    await act(() => vi.advanceTimersByTimeAsync(300_000 * 0.9 + 31_000));
    expect(server.current).toHaveBeenCalledTimes(2);
    await waitFor(() => expect(get).toHaveBeenCalledTimes(2));
    expect(new TextDecoder().decode(get.mock.calls[1]?.[0].publicKey.challenge)).toBe("new");
    expect(screen.getByLabelText<HTMLInputElement>("Email").value).toBe("ada@");
  });
});

describe("redirects", () => {
  test("follows the answer after success", async () => {
    const { navigate } = draw(states.success, { redirect_to: "https://shop.example/welcome?state=1" });
    await waitFor(() =>
      expect(navigate).toHaveBeenCalledExactlyOnceWith("https://shop.example/welcome?state=1"),
    );
    expect(screen.getByText("Taking you back to shop.example…")).toBeDefined();
  });

  test("follows the payload of a state", async () => {
    const { navigate } = draw({
      ...states.unknown,
      payload: { redirect_url: "https://accounts.example/authorize" },
    });
    await waitFor(() => expect(navigate).toHaveBeenCalledWith("https://accounts.example/authorize"));
  });

  test("A102 never runs an address that is a script", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { navigate, server } = draw(states.success, { redirect_to: "javascript:alert(1)" });
    await settle();
    expect(server.current).toHaveBeenCalled();
    expect(navigate).not.toHaveBeenCalled();
  });
});

describe("onboarding_create_passkey", () => {
  const browserThatCreates = (conditionalCreate: boolean) =>
    browserThatCan({ getClientCapabilities: async () => ({ conditionalCreate }) as never });

  test("lets a capable browser create a passkey without a prompt", async () => {
    browserThatCreates(true);
    create.mockResolvedValue(attestation);
    const { server } = draw(states.onboarding_create_passkey_conditional, {
      answers: [states.onboarding_verify_passkey_attestation, states.success],
    });
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act.mock.calls.map(([, action, , input]) => [action, input])).toEqual([
      ["webauthn_generate_creation_options", { conditional: true }],
      ["webauthn_verify_attestation_response", { public_key: expect.objectContaining({ id: "Y3JlZA" }) }],
    ]);
    expect(create.mock.calls[0]?.[0].mediation).toBe("conditional");
  });

  test("asks the user after a failure of the browser, without a notice, and tries only once", async () => {
    browserThatCreates(true);
    create.mockRejectedValue(failureOf("NotAllowedError"));
    const { server, user } = draw(states.onboarding_create_passkey_conditional, {
      answers: [
        states.onboarding_verify_passkey_attestation,
        structuredClone(states.onboarding_create_passkey_conditional),
        structuredClone(states.onboarding_verify_passkey_attestation),
      ],
    });
    await waitFor(() => expect(server.act).toHaveBeenLastCalledWith("login", "back", expect.any(Number), {}));
    const button = await screen.findByRole("button", { name: "Create a passkey" });
    expect(screen.queryByRole("status")).toBeNull();
    expect(server.act).toHaveBeenCalledTimes(2);
    create.mockImplementation(waiting);
    await user.click(button);
    await waitFor(() => expect(create).toHaveBeenCalledTimes(2));
    expect(server.act).toHaveBeenLastCalledWith(
      "login",
      "webauthn_generate_creation_options",
      expect.any(Number),
      {},
    );
    expect(create.mock.calls[1]?.[0].mediation).toBeUndefined();
  });

  test.each([
    ["a browser that does not support it", false, states.onboarding_create_passkey_conditional],
    ["a server that does not offer it", true, states.onboarding_create_passkey],
  ])("leaves the creation to the user with %s", async (_, isCapable, state) => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    browserThatCreates(isCapable);
    const { server } = draw(state);
    await settle();
    expect(server.current).toHaveBeenCalled();
    expect(server.act).not.toHaveBeenCalled();
    expect(screen.getByRole("button", { name: "Create a passkey" })).toBeDefined();
  });
});

describe("a security key", () => {
  test("is named in the title while the browser prompts for it", () => {
    draw(states.login_passkey_as_second_factor);
    expect(screen.getByRole("heading").textContent).toBe("Use your security key");
  });

  test("is still named after it was rejected", async () => {
    get.mockResolvedValueOnce(assertion);
    draw(states.login_passkey_as_second_factor, { answers: [states.login_passkey_refused] });
    await screen.findByRole("button", { name: "Try again" });
    expect(screen.getByRole("heading").textContent).toBe("Use your security key");
  });

  test("is created like a passkey", async () => {
    create.mockResolvedValue(attestation);
    const { server } = draw(states.onboarding_verify_security_key_attestation, { answers: [states.success] });
    expect(screen.getByRole("heading").textContent).toBe("Set up your security key");
    await screen.findByRole("heading", { name: "You are signed in" });
    expect(server.act.mock.calls[0]?.[1]).toBe("webauthn_verify_attestation_response");
  });

  test("has its own message when it is not touched", async () => {
    get.mockRejectedValue(failureOf("NotAllowedError"));
    draw(states.login_passkey_as_second_factor, { answers: [states.login_security_key] });
    expect(await screen.findByText(/^The security key was not used\./)).toBeDefined();
  });
});

describe("webauthn_credential_verification", () => {
  test("creates the credential that the account requested, and returns to it", async () => {
    create.mockResolvedValue(attestation);
    const { server } = draw(states.webauthn_credential_verification, {
      type: "profile",
      answers: [states.profile_init],
    });
    await screen.findByRole("heading", { name: "Your account" });
    expect(server.act.mock.calls[0]?.slice(0, 2)).toEqual([
      "profile",
      "webauthn_verify_attestation_response",
    ]);
  });
});
