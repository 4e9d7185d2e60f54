import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import { draw } from "./drawing.fixture.tsx";
import { readProviderReturn } from "./provider-return.ts";

/** What has run out, what the page says, and what the user can do about it. */

const said = async (text: string) => {
  const shown = await screen.findByText(text);
  expect(shown.closest("[role=alert], [role=status]")).not.toBeNull();
};

const offered = (name: string | RegExp, role: "button" | "link" = "button") =>
  expect(screen.getByRole(role, { name })).toBeDefined();

test("a flow that has expired says so where something was typed, and starts again", async () => {
  const { user, server } = draw(states.login_password, {
    answers: [states.error_410, states.error_410, states.login_init],
  });
  await user.type(screen.getByLabelText("Password"), "seven herons{Enter}");
  await said(en.errors.flow_expired_error);
  await user.click(screen.getByRole("link", { name: en.page.startAgain }));
  await screen.findByRole("heading", { name: "Sign in" });
  expect(server.start).toHaveBeenCalledTimes(1);
});

test("a flow that has expired starts another one where nothing was typed, and says so", async () => {
  const { user } = draw(states.login_method_chooser, { answers: [states.error_410, states.login_init] });
  await user.click(screen.getByRole("button", { name: /password/i }));
  await said(en.errors.page_renewed);
  expect(screen.getByLabelText("Email")).toBeDefined();
});

test("a code that was tried too often says so, and another one can be sent", async () => {
  draw(states.passcode_confirmation_exhausted);
  await said(en.errors.passcode_max_attempts_reached);
  offered(/new code|again/i);
});

test.each<[string, FlowState, RegExp]>([
  ["of a code", states.passcode_confirmation_too_fast, /0:42/],
  ["of a password", states.login_password_too_fast, /0:04/],
])("the wait %s is said, and counts down on its button", async (_, state, left) => {
  draw(state);
  await said(en.errors.rate_limit_exceeded);
  expect(screen.getByRole("button", { name: left }).getAttribute("aria-disabled")).toBe("true");
});

test("a provider's answer that came too late says that it failed, and the sign-in can be tried again", async () => {
  const providerReturn = readProviderReturn(new URLSearchParams("error=invalid_request"));
  draw(states.thirdparty, {
    ...(providerReturn ? { providerReturn } : {}),
    answers: [states.login_init_with_a_provider],
  });
  await said(en.errors.third_party_failed);
  offered("Continue with Acme Works");
});
