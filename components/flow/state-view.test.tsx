import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { flow as de } from "#words/de/flow";
import { flow as en } from "#words/en/flow";
import { type DrawnState, states } from "../gallery/states.ts";
import { draw } from "./drawing.fixture.tsx";
import { variantsOf } from "./variants.ts";
import { stateWords } from "./words.ts";

const names = Object.keys(states) as DrawnState[];

/** The buttons and links of the page: name, and whether enabled. */
function found(role: "button" | "textbox" | "checkbox" | "alert"): string[] {
  return screen.queryAllByRole(role).map((element) => {
    const { labels } = element as HTMLInputElement;
    const label = labels?.[0]?.querySelector("span:not(.stile-remark)") ?? labels?.[0];
    for (const decoration of element.querySelectorAll("svg text")) decoration.remove();
    return (
      element.getAttribute("aria-label") ??
      (role === "textbox" || role === "checkbox" ? label : element)?.textContent ??
      ""
    ).trim();
  });
}

test("an error has the words of its precise code", () => {
  const state = structuredClone(states.login_otp_wrong);
  const wrong = state.actions.otp_code_validate?.inputs.otp_code;
  if (wrong) wrong.error = { code: "passcode_invalid", detail_code: "otp_code_already_used", message: "" };
  draw(state);
  expect(screen.getByText(en.errors.otp_code_already_used)).toBeDefined();
});

describe("an alias", () => {
  test("is not drawn beside its action", () => {
    draw(states.onboarding_username);
    expect(screen.getAllByRole("textbox")).toHaveLength(1);
    expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual([
      "Continue",
      "Not now",
    ]);
  });
});

describe("every state", () => {
  test.each(names)("%s has one heading, and every control a name", (name) => {
    const { container } = draw(states[name]);
    expect(container.querySelectorAll("h1")).toHaveLength(1);
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe(
      stateWords(en, states[name].name, variantsOf(states[name], "login")).title,
    );
    for (const control of container.querySelectorAll<HTMLInputElement>(
      "input:not([type=hidden], [aria-hidden]), select, textarea, button",
    )) {
      expect(
        control.labels?.[0]?.textContent || control.getAttribute("aria-label") || control.textContent,
      ).toBeTruthy();
    }
  });

  test.each(names)("%s draws every action of a user as a form that works without scripts", (name) => {
    const { container } = draw(states[name], { version: 7 });
    // Results of a browser or of an identity provider cannot be typed in, and neither can a picture.
    const browserOnly = [
      "picture_update",
      "webauthn_verify_assertion_response",
      "webauthn_verify_attestation_response",
      "exchange_token",
    ];
    // The choice of another way leads to where `back` leads.
    const { actions, error } = states[name];
    const hidden = Object.hasOwn(actions, "continue_to_login_method_chooser") ? ["back"] : [];
    // No code is right any more.
    if (error?.code === "passcode_max_attempts_reached") hidden.push("verify_passcode");
    const expected = Object.values(actions)
      .filter(({ action }) => !hidden.includes(action))
      .filter(({ action, alias_of }) => !browserOnly.includes(action) && alias_of === undefined)
      .map(({ action }) => action);
    const forms = [...container.querySelectorAll<HTMLFormElement>("form[data-action]")];
    const fields = forms.map((form) => Object.fromEntries(new FormData(form)));
    expect([...new Set(fields.map(({ action }) => action))].sort()).toEqual(expected.sort());
    for (const [index, form] of forms.entries()) {
      expect([form.method, form.getAttribute("action")]).toEqual(["post", "/step"]);
      expect(fields[index]).toMatchObject({ flow: "login", version: "7" });
    }
  });

  test.each(names)("%s uses no inline style, which the Content-Security-Policy would block", (name) => {
    const { container } = draw(states[name]);
    expect(container.querySelectorAll("[style]")).toHaveLength(0);
  });
});

describe("the layout", () => {
  test("login_init asks for the address first, then offers the passkey, and links to the registration", () => {
    draw(states.login_init);
    expect(found("textbox")).toEqual(["Email"]);
    expect(found("button")).toEqual(["Continue", "Sign in with a passkey"]);
    expect(found("checkbox")).toEqual(["Keep me signed in"]);
    expect(screen.getByRole("link", { name: "Create an account" }).getAttribute("href")).toBe(
      "/?flow=registration",
    );
  });

  test("login_method_chooser offers the methods with equal weight and with hints, and the back button at the top", () => {
    draw(states.login_method_chooser);
    const [back, ...methods] = screen.getAllByRole("button");
    expect(back?.textContent).toBe("Back");
    expect(methods.map((method) => method.className)).toEqual(
      Array(3).fill("stile-button stile-button-choice"),
    );
    expect(methods[1]?.textContent).toBe("Get a code by emailGood for a few minutes");
  });

  test("an action that is not suggested is a link, not a button", () => {
    draw(states.login_password);
    expect(screen.getByRole("button", { name: "Forgot your password?" }).className).toContain(
      "stile-button-link",
    );
    expect(screen.getByRole("button", { name: "Sign in" }).className).toContain("stile-button-primary");
  });

  test("a single choice is the primary button, and skip is a link", () => {
    draw(states.onboarding_create_passkey);
    expect(screen.getByRole("button", { name: "Create a passkey" }).className).toContain(
      "stile-button-primary",
    );
    expect(screen.getByRole("button", { name: "Not now" }).className).toContain("stile-button-link");
  });

  test("an optional field is marked", () => {
    draw(states.registration_init, { type: "registration" });
    expect(screen.getByLabelText(/Username/).closest(".stile-field")?.textContent).toContain("(optional)");
    expect(screen.getByLabelText("Email").closest(".stile-field")?.textContent).not.toContain("optional");
  });

  test("a switch shows the server's value", () => {
    draw(states.registration_init, { type: "registration" });
    expect(screen.getByRole<HTMLInputElement>("checkbox").checked).toBe(true);
  });

  test("the name of a signed-in user is shown", () => {
    draw(states.success);
    expect(screen.getByText("ada@example.org")).toBeDefined();
    expect(screen.queryAllByRole("button")).toEqual([]);
  });

  test("without registration there is no link to it", () => {
    draw(states.login_init, { signup: false });
    expect(screen.queryByRole("link")).toBeNull();
  });

  test("a state without actions says so", () => {
    draw(states.registration_init_closed, { type: "registration" });
    const closed = en.states.registration_init.variants?.closed;
    expect(screen.getByRole("heading").textContent).toBe(closed?.title);
    expect(screen.getByText(closed?.sentence ?? "")).toBeDefined();
    const ways = screen.getAllByRole("link").map((link) => [link.textContent, link.getAttribute("href")]);
    expect(ways).toEqual([[en.page.toSignIn, "/"]]);
  });

  test("a state without actions and without words of its own says so", () => {
    draw({ ...states.login_password, actions: {} });
    expect(screen.getByText(en.page.nothingToDo)).toBeDefined();
  });

  test("whose account it is stands in every state that names it, with the way to another one", async () => {
    const payload = { identifier: "Ada@Example.org", last_method: "password" };
    const { server, user, container } = draw({ ...states.login_password, payload });
    expect(screen.getByText("Ada@Example.org").closest("p")?.textContent).toBe("Account: Ada@Example.org");
    const form = screen.getByRole("button", { name: en.page.useAnother }).closest("form");
    expect(form?.getAttribute("action")).toBe("/step");
    expect(form && Object.fromEntries(new FormData(form))).toMatchObject({
      flow: "login",
      action: "start_over",
    });
    expect(container.querySelectorAll(".stile-identity")).toHaveLength(1);
    await user.click(screen.getByRole("button", { name: en.page.useAnother }));
    expect(server.start).toHaveBeenCalledTimes(1);
  });

  test("a re-authentication says whose account it is about, and offers no other", () => {
    const payload = { identifier: "ada@example.org", wanted_action: "password_update" };
    draw({ ...states.login_password, payload }, { type: "profile" });
    expect(screen.getByText("ada@example.org")).toBeDefined();
    expect(screen.getByText(en.afterProof.password_update ?? "")).toBeDefined();
    expect(screen.queryByRole("button", { name: en.page.useAnother })).toBeNull();
  });

  test.each([
    ["digits", states.passcode_confirmation, /code of six digits/],
    ["letters", states.passcode_confirmation_alphanumeric, /code of six characters/],
  ])("a code of %s is called what it is", (_, state, sentence) => {
    draw(state);
    expect(screen.getByText(sentence)).toBeDefined();
  });

  test("a mailed code says for how long it is valid, and where else to look", () => {
    const payload = { identifier: "ada@example.org", code_lifetime: 300 };
    draw({ ...states.passcode_confirmation_wrong, payload });
    expect(screen.getByText(/It is good for 5 minutes\./)).toBeDefined();
    expect(screen.getByText(en.states.passcode_confirmation.note ?? "")).toBeDefined();
  });

  test("the page is in German", () => {
    draw(states.passcode_confirmation_wrong, { words: de, language: "de" });
    expect(screen.getByRole("heading").textContent).toBe("Sehen Sie in Ihr Postfach");
    expect(found("button")).toEqual(["Zurück", "Bestätigen", "Neuen Code senden"]);
    expect(screen.getByText(de.errors.passcode_invalid)).toBeDefined();
  });

  test("the document has the title of the state", async () => {
    draw(states.login_password);
    await waitFor(() => expect(document.title).toBe("Enter your password · Stile"));
  });
});

describe("second factors", () => {
  test("login_otp asks for the code, and keeps the alternatives in the background", () => {
    const { container } = draw(states.login_otp);
    expect(screen.getByLabelText<HTMLInputElement>("Code").autocomplete).toBe("one-time-code");
    const disclosure = container.querySelector("details");
    expect(disclosure?.open).toBe(false);
    expect(disclosure?.querySelector("summary")?.textContent).toBe("Use a recovery code");
    expect(screen.getByRole("button", { name: "Use a security key instead" }).className).toContain(
      "stile-button-link",
    );
  });

  test("a disclosure opens on a click, and its form is sent", async () => {
    const { server, user } = draw(states.login_otp, { answers: [states.success] });
    await user.click(screen.getByText("Use a recovery code"));
    const field = screen.getByLabelText<HTMLInputElement>("Recovery code");
    expect(field.autocomplete).toBe("off");
    await user.type(field, "AB3D-EF5H-JK7M");
    await user.click(screen.getByText("Use this code"));
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "recovery_code_validate", 7, {
        recovery_code: "AB3D-EF5H-JK7M",
      }),
    );
  });

  test("a disclosure with a rejected field is open, and the field has the focus", async () => {
    const { container } = draw(states.login_otp_recovery_code_wrong);
    expect(container.querySelector("details")?.open).toBe(true);
    expect(screen.getByText(en.errors.recovery_code_invalid)).toBeDefined();
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Recovery code")));
  });

  test("a state about a security key has words of its own", () => {
    draw(states.login_security_key);
    expect(screen.getByRole("button", { name: "Use your security key" }).className).toContain(
      "stile-button-primary",
    );
  });

  test("an authenticator app is set up by a QR code, or by a key in groups that can be copied", async () => {
    const { user } = draw(states.mfa_otp_secret_creation);
    expect(screen.getByRole<HTMLImageElement>("img").src).toMatch(/^data:image\/png/);
    expect(screen.getByText("JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP")).toBeDefined();
    await user.click(screen.getByRole("button", { name: "Copy" }));
    expect(await navigator.clipboard.readText()).toBe("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP");
    expect(await screen.findByRole("button", { name: "Copied" })).toBeDefined();
  });

  test("a device is trusted on a click, and not by default", () => {
    draw(states.device_trust);
    expect(found("button")).toEqual(["Back", "Yes, trust this device", "Not now"]);
    expect(screen.queryByRole("checkbox")).toBeNull();
  });
});

describe("identity providers", () => {
  test("a single provider is labelled with a whole sentence, after the other methods", () => {
    draw(states.login_init_with_a_provider);
    expect(found("button")).toEqual(["Continue", "Sign in with a passkey", "Continue with Acme Works"]);
  });

  test("the button of each provider says what it does", () => {
    const { container } = draw(states.login_init_with_providers);
    expect(found("button")).toEqual([
      "Continue",
      "Continue with Google",
      "Continue with GitHub",
      "Continue with Acme Works",
    ]);
    expect(container.querySelector("fieldset legend")?.textContent).toBe("Continue with");
  });

  test("bears the mark of a known provider, and the first letter of another", () => {
    const { container } = draw(states.login_init_with_providers);
    const marks = [...container.querySelectorAll(".stile-provider-mark")];
    expect(marks.map((mark) => mark.getAttribute("data-provider"))).toEqual(["google", "github", null]);
    expect(marks.map((mark) => mark.textContent)).toEqual(["", "", "A"]);
    expect([...(marks[0]?.querySelectorAll("path") ?? [])].map((part) => part.getAttribute("fill"))).toEqual([
      "#4285f4",
      "#34a853",
      "#fbbc05",
      "#ea4335",
    ]);
    expect(marks.every((mark) => mark.getAttribute("aria-hidden") === "true")).toBe(true);
  });

  test("the provider that this browser used last comes before the other ways", () => {
    const { thirdparty_oauth } = states.login_init_with_a_provider.actions;
    const { actions } = states.login_method_chooser;
    const chooser = {
      ...states.login_method_chooser,
      payload: { identifier: "ada@example.org", last_method: "custom_acme" },
      actions: { ...actions, ...(thirdparty_oauth ? { thirdparty_oauth } : {}) },
    };
    draw(chooser);
    expect(found("button").slice(0, 4)).toEqual([
      "Back",
      en.page.useAnother,
      "Continue with Acme Works",
      expect.stringContaining("Enter your password"),
    ]);
  });

  test("the chosen provider is sent with the return address", async () => {
    const { server, user } = draw(states.login_init_with_providers, { answers: [states.login_init] });
    await user.click(screen.getByRole("button", { name: "Continue with GitHub" }));
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "thirdparty_oauth", 7, {
        provider: "github",
        redirect_to: "https://login.example/",
      }),
    );
  });
});

describe("the page of a tenant", () => {
  test("keeps every address within the tenant", () => {
    const { container } = draw(states.login_init, { base: "/t/acme" });
    for (const form of container.querySelectorAll("form"))
      expect(form.getAttribute("action")).toBe("/t/acme/step");
    expect(screen.getByRole("link", { name: "Create an account" }).getAttribute("href")).toBe(
      "/t/acme?flow=registration",
    );
  });
});

describe("final states", () => {
  test("success links to the account", () => {
    draw(states.success);
    expect(screen.getByRole("link", { name: "Go to your account" }).getAttribute("href")).toBe("/account");
  });

  test("a deleted account links to the sign-in", () => {
    draw(states.account_deleted, { type: "profile" });
    expect(screen.getByRole("heading").textContent).toBe("Your account is gone");
    expect(screen.getByRole("link", { name: "Go to sign-in" }).getAttribute("href")).toBe("/");
  });

  test("a page without a session links to the sign-in, and back from there", () => {
    draw(states.error_401, { type: "profile", version: 0, answers: [new Error("no answer")] });
    expect(screen.getByRole("status").textContent).toBe(en.errors.unauthorized);
    expect(screen.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(
      `/?redirect_to=${encodeURIComponent("https://login.example/")}`,
    );
  });
});

describe("errors", () => {
  test("an input's error is beside it, is associated with it, and has the focus", async () => {
    draw(states.login_password_wrong);
    const field = screen.getByLabelText("Password");
    const message = screen.getByText(en.inputs.password.errors?.value_invalid_error ?? "missing");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(message.closest("p")?.id).toBe(field.getAttribute("aria-describedby"));
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("a rejected value that the server returns can be corrected", () => {
    draw(states.login_init_wrong_email);
    expect(screen.getByLabelText<HTMLInputElement>("Email").value).toBe("ada@example");
  });

  test("an error of the whole state is an alert", () => {
    draw(states.passcode_confirmation_exhausted);
    expect(screen.getByRole("alert").textContent).toBe(en.errors.passcode_max_attempts_reached);
  });

  test("after too many wrong codes the way on is a new code, and none can be entered", async () => {
    const { server, user } = draw(states.passcode_confirmation_exhausted);
    const buttons = screen
      .getAllByRole("button")
      .map(({ textContent, className }) => [textContent, /stile-button-(\w+)/.exec(className)?.[1]]);
    expect(buttons).toContainEqual([en.actions.resend_passcode.label, "primary"]);
    expect(buttons.filter(([, tone]) => tone === "primary")).toHaveLength(1);
    expect(screen.queryByLabelText("Code")).toBeNull();
    expect(screen.queryByText(/It is good for/)).toBeNull();
    await user.click(screen.getByRole("button", { name: en.actions.resend_passcode.label }));
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "resend_passcode", 7, {});
  });

  test("an error without words is shown in the server's words", () => {
    draw(states.unknown);
    expect(screen.getByRole("alert").textContent).toBe("This address is disputed.");
  });

  test("an action without words has the description of the server, with and without fields", () => {
    draw(states.unknown);
    expect(screen.getByText("Tells us where you live.")).toBeDefined();
    expect(screen.getByText("We ring you instead.")).toBeDefined();
  });

  test.each(["error_403", "error_410", "error_500"] as const)(
    "%s shows its error and offers to start again",
    async (name) => {
      const { server, user } = draw(states[name], {
        version: 0,
        answers: [new Error("no answer"), states.login_init],
      });
      expect(screen.getByRole("alert").textContent).toBe(
        en.errors[(states[name].error?.code ?? "") as "technical_error"],
      );
      await user.click(screen.getByRole("link", { name: "Start again" }));
      await waitFor(() => expect(server.start).toHaveBeenCalledWith("login", expect.anything()));
      expect((await screen.findByRole("heading")).textContent).toBe("Sign in");
    },
  );

  test("a wait counts down on the button that has to wait, and on no other", () => {
    draw(states.passcode_confirmation_too_fast);
    expect(screen.getByRole("button", { name: "New code in 0:42" }).getAttribute("aria-disabled")).toBe(
      "true",
    );
    expect(screen.getByRole("button", { name: "Confirm" }).getAttribute("aria-disabled")).toBeNull();
  });
});

describe("a message", () => {
  test("of information is added to a region that is there before it, so that it is read out, once", async () => {
    draw(states.passcode_confirmation, { answers: [states.passcode_confirmation] });
    vi.useFakeTimers();
    fireEvent.click(screen.getByRole("button", { name: "Send a new code" }));
    await act(() => vi.advanceTimersByTimeAsync(0));
    const region = screen.getByText(en.actions.resend_passcode.done ?? "").closest("[role=status]");
    const text = region?.querySelector(".stile-alert-text");
    expect(text?.getAttribute("aria-hidden")).toBe("true");
    await act(() => vi.advanceTimersByTimeAsync(1000));
    vi.useRealTimers();
    expect(text?.getAttribute("aria-hidden")).toBeNull();
    expect(screen.getAllByText(en.actions.resend_passcode.done ?? "")).toHaveLength(1);
  });

  test("is scrolled into view, and so is a new state, but not a page that was just loaded", async () => {
    const shown: string[] = [];
    Element.prototype.scrollIntoView = function scrollIntoView() {
      shown.push(this.className);
    };
    const { user } = draw(states.login_password, {
      answers: [states.login_password_too_fast, states.success],
    });
    expect(shown).toEqual([]);
    await user.type(screen.getByLabelText("Password"), "seven herons");
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    await screen.findByRole("alert");
    expect(shown).toEqual(["stile-alert stile-alert-error"]);
    await user.click(screen.getByRole("button", { name: "Forgot your password?" }));
    await screen.findByRole("heading", { name: en.states.success.title });
    expect(shown.slice(1)).toEqual(["stile-title"]);
    Reflect.deleteProperty(Element.prototype, "scrollIntoView");
  });
});

describe("a refused start", () => {
  const refused = {
    ...structuredClone(states.error_429),
    payload: { resend_after: 7, retry_after: 7 },
  };

  test("keeps what was typed, counts down on the button, and lets it be pressed again", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const { server, user } = draw(states.login_init_with_providers, {
      version: 0,
      answers: [refused, states.login_method_chooser],
    });
    await user.type(screen.getByLabelText("Email"), "ada@example.org");
    await user.click(screen.getByRole("button", { name: "Continue" }));
    const waiting = await screen.findByRole("button", { name: "Try again in 0:07" });
    expect(waiting.getAttribute("aria-disabled")).toBe("true");
    expect(screen.getByRole("alert").textContent).toBe(en.errors.rate_limit_exceeded);
    expect(screen.getByLabelText<HTMLInputElement>("Email").value).toBe("ada@example.org");
    // The limit is that of every first step, and no other button pretends to wait alone.
    const google = screen.getByRole("button", { name: "Continue with Google" });
    expect(google.getAttribute("aria-disabled")).toBe("true");
    await act(() => vi.advanceTimersByTimeAsync(8000));
    vi.useRealTimers();
    await user.click(screen.getByRole("button", { name: "Continue" }));
    await screen.findByRole("heading", { name: en.states.login_method_chooser.title });
    expect(server.act).toHaveBeenCalledTimes(2);
  });

  test("counts down beside the buttons of providers, which have no other label", async () => {
    const { user } = draw(states.login_init_with_providers, { version: 0, answers: [refused] });
    await user.click(screen.getByRole("button", { name: "Continue with GitHub" }));
    expect(await screen.findByText("You can try again in 0:07.")).toBeDefined();
    expect(screen.getByRole("button", { name: "Continue" }).getAttribute("aria-disabled")).toBe("true");
  });

  test("of another account keeps the state", async () => {
    const payload = { identifier: "ada@example.org" };
    const { user } = draw({ ...states.login_password, payload }, { answers: [refused] });
    await user.click(screen.getByRole("button", { name: en.page.useAnother }));
    expect((await screen.findByRole("alert")).textContent).toBe(en.errors.rate_limit_exceeded);
    expect(screen.getByRole("heading").textContent).toBe(en.states.login_password.title);
  });
});

test("a rejected passkey that has to wait counts down before it can be tried again", () => {
  const payload = { resend_after: 9, retry_after: 9 };
  const error = { code: "rate_limit_exceeded", message: "" };
  draw({ ...states.login_passkey_refused, status: 429, payload, error });
  const button = screen.getByRole("button", { name: "Try again in 0:09" });
  expect(button.getAttribute("aria-disabled")).toBe("true");
});

test("after a reload the form that has to wait counts down", () => {
  draw(states.login_password_too_fast);
  expect(screen.getByRole("button", { name: "Try again in 0:04" }).getAttribute("aria-disabled")).toBe(
    "true",
  );
});

test("after a reload the only button of a state that has to wait counts down", () => {
  const error = { code: "rate_limit_exceeded", message: "" };
  for (const name of ["login_security_key", "device_trust"] as const) {
    const { unmount } = draw({ ...states[name], status: 429, payload: { retry_after: 9 }, error });
    const button = screen.getByRole("button", { name: "Try again in 0:09" });
    expect(button.getAttribute("aria-disabled")).toBe("true");
    unmount();
  }
});

describe("a sign-up with the address of an account", () => {
  const taken = () => {
    const state = structuredClone(states.registration_init);
    const input = state.actions.register_login_identifier?.inputs.email;
    if (input)
      Object.assign(input, {
        value: "Ada@Example.org",
        error: { code: "email_already_exists", message: "" },
      });
    return state;
  };

  test("says so, and offers to sign in with it, also without scripts", () => {
    draw(taken(), { type: "registration" });
    expect(screen.getByText(en.errors.email_already_exists)).toBeDefined();
    const form = screen.getByRole("button", { name: en.page.signInInstead }).closest("form");
    expect(form?.getAttribute("action")).toBe("/step");
    expect(form && Object.fromEntries(new FormData(form))).toEqual({
      flow: "login",
      action: "start_over",
      version: "0",
      identifier: "Ada@Example.org",
      with_script: "true",
    });
  });

  test("offers nothing of the kind on the account page", () => {
    draw(taken(), { type: "profile" });
    expect(screen.queryByRole("button", { name: en.page.signInInstead })).toBeNull();
  });
});

describe("an unknown state", () => {
  test("draws its names, its fields by type, and the known members of its payload", () => {
    draw(states.unknown);
    expect(screen.getByRole("heading").textContent).toBe("Verify home address");
    expect(screen.getByLabelText<HTMLInputElement>("Street name").value).toBe("Mill Lane");
    expect(screen.getByLabelText<HTMLInputElement>("House number").type).toBe("number");
    expect(
      within(screen.getByLabelText("Country"))
        .getAllByRole("option")
        .map((option) => option.textContent),
    ).toEqual(["Please choose", "Ireland", "Portugal"]);
    expect(screen.getByLabelText("Opening hours", { exact: false }).tagName).toBe("TEXTAREA");
    expect(screen.getByText("JBSW Y3DP EHPK 3PXP")).toBeDefined();
    expect(screen.getByText("Tells us where you live.")).toBeDefined();
    expect(screen.getByRole("link", { name: "Privacy" }).getAttribute("target")).toBe("_blank");
    expect(found("button")).toEqual(["Back", "Copy", "Confirm home address", "Call me", "Monday", "Tuesday"]);
  });

  test("submits the form, each value in its own type", async () => {
    const { server, user } = draw(states.unknown, { answers: [states.unknown] });
    await user.type(screen.getByLabelText("House number"), "7");
    await user.selectOptions(screen.getByLabelText("Country"), "Portugal");
    await user.click(screen.getByLabelText("Newsletter"));
    await user.type(screen.getByLabelText("Opening hours", { exact: false }), "[[9, 17]");
    await user.click(screen.getByRole("button", { name: "Confirm home address" }));
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledWith("login", "confirm_home_address", expect.any(Number), {
        street_name: "Mill Lane",
        house_number: 7,
        country: "pt",
        newsletter: true,
        opening_hours: [9, 17],
        trace: "t-1",
      }),
    );
  });

  test("sends the value of the button that was pressed", async () => {
    const { server, user } = draw(states.unknown, { answers: [states.unknown] });
    await user.click(screen.getByRole("button", { name: "Tuesday" }));
    await waitFor(() =>
      expect(server.act).toHaveBeenCalledWith("login", "choose_day", expect.any(Number), { day: 2 }),
    );
  });
});

test.each([
  ["en", en],
  ["de", de],
] as const)("a re-authentication says what follows it (%s)", (language, words) => {
  const state = { ...states.login_password, payload: { wanted_action: "account_delete" } };
  draw(state, { type: "profile", words, language });
  expect(screen.getByText(words.afterProof.account_delete ?? "")).toBeTruthy();
});

describe("links of the configuration", () => {
  const links = [
    { name: "terms", href: "https://acme.example/terms", category: "legal", target: "_blank" },
    { name: "privacy", href: "https://acme.example/privacy", category: "legal", target: "_blank" },
    { name: "imprint", href: "https://acme.example/imprint", category: "other", target: "_self" },
  ] as const;
  const named = (name: string) => screen.getAllByRole("link", { name });

  test("are in the footer, with translated names where the words have them", () => {
    draw({ ...states.login_init, links: [...links] });
    for (const name of ["Terms of service", "Privacy policy", "imprint"]) expect(named(name)).toHaveLength(1);
  });

  test("say at sign-up what a new user accepts", () => {
    draw({ ...states.registration_init, links: [...links] }, { type: "registration" });
    expect(screen.getByText(/^By signing up you accept the/).textContent).toBe(
      "By signing up you accept the Terms of service.",
    );
    expect(named("Privacy policy")).toHaveLength(2);
  });

  test("ask for no consent where registration is closed", () => {
    draw({ ...states.registration_init_closed, links: [...links] }, { type: "registration" });
    expect(screen.queryByText(/^By signing up/)).toBeNull();
  });
});
