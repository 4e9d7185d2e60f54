import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { draw } from "./drawing.fixture.tsx";

const { register_login_identifier: _, ...choice } = states.registration_init.actions;

/** The first state, after the choice to stay signed in. */
const remembered: FlowState = {
  ...states.login_init,
  actions: { ...states.login_init.actions, ...choice },
};

const codeField = () => screen.getByLabelText<HTMLInputElement>("Code");

test("a complete code is sent automatically", async () => {
  const { server, user } = draw(states.passcode_confirmation, { answers: [states.success] });
  await user.type(codeField(), "12 34 56");
  await waitFor(() =>
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "verify_passcode", 7, { code: "123456" }),
  );
});

test.each([
  ["123456"],
  ["123 456"],
  ["123-456"],
  [" 123456 \n"],
  ["Your code is 123456. It is valid for 5 minutes."],
])("a code is extracted from the pasted text: %j", async (text) => {
  const { server, user } = draw(states.passcode_confirmation, { answers: [states.success] });
  await user.click(codeField());
  await user.paste(text);
  await waitFor(() =>
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "verify_passcode", 7, { code: "123456" }),
  );
});

test("a code that is composed with an input method is sent when the composition ends", async () => {
  const { server } = draw(states.passcode_confirmation, { answers: [states.success] });
  const field = codeField();
  fireEvent.compositionStart(field);
  fireEvent.input(field, { target: { value: "１２３４５６" }, isComposing: true });
  expect(field.value).toBe("１２３４５６");
  expect(server.act).not.toHaveBeenCalled();
  fireEvent.compositionEnd(field);
  await waitFor(() =>
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "verify_passcode", 7, { code: "123456" }),
  );
});

test("A105 a code field is one input that phones and mail programs can fill", () => {
  draw(states.passcode_confirmation);
  const { autocomplete, inputMode, maxLength, type } = codeField();
  expect({ autocomplete, inputMode, maxLength, type }).toEqual({
    autocomplete: "one-time-code",
    inputMode: "numeric",
    maxLength: 6,
    type: "text",
  });
  expect(screen.getAllByRole("textbox")).toHaveLength(1);
});

test("a code of letters is entered with a keyboard of letters, and extracted from pasted text", async () => {
  const { server, user } = draw(states.passcode_confirmation_alphanumeric, { answers: [states.success] });
  expect(codeField().inputMode).toBe("text");
  await user.click(codeField());
  await user.paste("Your code is AB3D7K. It is valid for 5 minutes.");
  await waitFor(() =>
    expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "verify_passcode", 7, { code: "AB3D7K" }),
  );
});

test("a wrong code is removed from the field, which has the focus again", async () => {
  const { user } = draw(states.passcode_confirmation, { answers: [states.passcode_confirmation_wrong] });
  await user.type(codeField(), "123456");
  await screen.findByText(en.errors.passcode_invalid);
  expect(codeField().value).toBe("");
  await waitFor(() => expect(document.activeElement).toBe(codeField()));
});

test("a missing value is reported without asking the server, and has the focus", async () => {
  const { server, user } = draw(states.login_init);
  await user.click(screen.getByRole("button", { name: "Continue" }));
  const field = screen.getByLabelText("Email");
  expect(screen.getByText(en.errors.value_missing_error).closest("p")?.id).toBe(
    field.getAttribute("aria-describedby"),
  );
  expect(document.activeElement).toBe(field);
  expect(server.act).not.toHaveBeenCalled();
});

test.each([
  ["short", "Please use at least 8 characters."],
  ["x".repeat(257), "Please use at most 256 characters."],
])("a new password of the wrong length is reported beside its field", async (password, message) => {
  const { server, user } = draw(states.password_creation);
  await user.click(screen.getByLabelText("New password"));
  await user.paste(password);
  await user.keyboard("{Enter}");
  expect(screen.getByText(message)).toBeDefined();
  expect(screen.getByLabelText<HTMLInputElement>("New password").value).toBe(password);
  expect(server.act).not.toHaveBeenCalled();
});

test("A105 password managers can fill and save passwords, and users can reveal them", async () => {
  const { user, unmount } = draw(states.login_password);
  const field = screen.getByLabelText<HTMLInputElement>("Password");
  expect(field.autocomplete).toBe("current-password");
  await user.click(screen.getByRole("button", { name: "Show password" }));
  expect(field.type).toBe("text");
  await user.click(screen.getByRole("button", { name: "Hide password" }));
  expect(field.type).toBe("password");
  unmount();
  draw(states.password_creation);
  expect(screen.getByLabelText<HTMLInputElement>("New password").autocomplete).toBe("new-password");
});

test("a switch is sent when it changes, and leaves typed text and the button alone", async () => {
  const { server, user } = draw(states.login_init, { answers: [remembered] });
  await user.type(screen.getByLabelText("Email"), "ada@");
  await user.click(screen.getByLabelText("Keep me signed in"));
  expect(server.act).toHaveBeenCalledExactlyOnceWith("login", "remember_me", 7, { remember_me: true });
  expect(screen.getByRole("button", { name: "Continue" }).getAttribute("aria-disabled")).toBeNull();
  expect(screen.getByLabelText<HTMLInputElement>("Email").value).toBe("ada@");
  await user.click(screen.getByLabelText("Keep me signed in"));
  await waitFor(() =>
    expect(server.act).toHaveBeenLastCalledWith("login", "remember_me", expect.any(Number), {
      remember_me: false,
    }),
  );
});

describe("a switch shows what holds", () => {
  const box = () => screen.getByLabelText<HTMLInputElement>("Keep me signed in");

  test("after another tab has changed it", async () => {
    const { server } = draw(states.login_init, { answers: [remembered] });
    await waitFor(() => expect(server.current).toHaveBeenCalledTimes(1));
    expect(box().checked).toBe(false);
    window.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    await waitFor(() => expect(box().checked).toBe(true));
  });

  test("after a change whose connection was lost", async () => {
    const { server, user } = draw(states.login_init, { answers: [new Error("lost"), states.login_init] });
    await user.click(box());
    expect(box().checked).toBe(true);
    await waitFor(() => expect(box().checked).toBe(false), { timeout: 3000 });
    expect(server.act).toHaveBeenCalledTimes(1);
  });

  test("and the newest change, while the answer to the one before arrives", async () => {
    const { server, user } = draw(states.login_init);
    const answers: ((state: FlowState) => void)[] = [];
    server.act.mockImplementation(
      () => new Promise((answer) => answers.push((state) => answer({ version: 8 + answers.length, state }))),
    );
    await user.click(box());
    await user.click(box());
    answers[0]?.(remembered);
    await waitFor(() => expect(answers).toHaveLength(2));
    expect(box().checked).toBe(false);
    answers[1]?.(states.login_init);
    await user.click(box());
    await waitFor(() => expect(answers).toHaveLength(3));
    expect(box().checked).toBe(true);
  });
});

test("the button of the step in progress is busy, and the others are disabled", async () => {
  const { user } = draw(states.login_password);
  await user.type(screen.getByLabelText("Password"), "secret{Enter}");
  const button = (name: string) => screen.getByRole("button", { name });
  await waitFor(() => expect(button("Sign in").getAttribute("aria-busy")).toBe("true"));
  expect(button("Back").getAttribute("aria-disabled")).toBe("true");
  expect(screen.getByLabelText<HTMLInputElement>("Password").value).toBe("secret");
});

test("an action that has to wait is not sent", async () => {
  const { server, user } = draw(states.login_password_wrong, { answers: [states.login_password_too_fast] });
  await user.type(screen.getByLabelText("Password"), "secret{Enter}");
  const waiting = await screen.findByRole("button", { name: /^Try again in 0:0\d$/ });
  await user.click(waiting);
  await user.type(screen.getByLabelText("Password"), "{Enter}");
  expect(server.act).toHaveBeenCalledTimes(1);
});

test("the focus is on the first field or the title of the state after a step", async () => {
  const { user } = draw(states.login_init, { answers: [states.login_method_chooser, states.login_password] });
  await user.type(screen.getByLabelText("Email"), "ada@example.org{Enter}");
  const title = await screen.findByRole("heading", { name: "How would you like to sign in?" });
  await waitFor(() => expect(document.activeElement).toBe(title));
  await user.click(screen.getByRole("button", { name: /Enter your password/ }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Password")));
});

test("a page from the browser's cache requests the current state", async () => {
  const { server } = draw(states.login_password, { answers: [states.passcode_confirmation] });
  await waitFor(() => expect(server.current).toHaveBeenCalledTimes(1));
  const event = Object.assign(new Event("pageshow"), { persisted: true });
  window.dispatchEvent(event);
  await screen.findByRole("heading", { name: "Check your email" });
});

test("the confirmation of a resent code is shown until the next action", async () => {
  const { user } = draw(states.passcode_confirmation, {
    answers: [states.passcode_confirmation, states.passcode_confirmation_wrong],
  });
  await user.click(screen.getByRole("button", { name: "Send a new code" }));
  expect((await screen.findByRole("status")).textContent).toBe(en.actions.resend_passcode.done);
  await waitFor(() => expect(document.activeElement).toBe(codeField()));
  await user.type(codeField(), "123456");
  await screen.findByText(en.errors.passcode_invalid);
  expect(screen.queryByRole("status")).toBeNull();
});

test("A105 a password manager learns the account of a password, and the server does not", async () => {
  const { server, user, container } = draw(states.login_init, {
    answers: [states.login_password, states.success],
  });
  await user.type(screen.getByLabelText("Email"), "ada@example.org{Enter}");
  await user.type(await screen.findByLabelText("Password"), "secret");
  const owner = container.querySelector<HTMLInputElement>("input[autocomplete=username]");
  expect(owner?.value).toBe("ada@example.org");
  await user.keyboard("{Enter}");
  await waitFor(() => expect(server.act.mock.calls[1]?.[3]).toEqual({ password: "secret" }));
});
