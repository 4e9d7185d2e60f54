// @vitest-environment node
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { FlowState } from "#server/flow/wire";
import { flow as en } from "#words/en/flow";
import { states } from "../gallery/states.ts";
import type { FlowType } from "./flow-server.ts";
import { Login } from "./login.tsx";
import type { ProviderReturn } from "./provider-return.ts";

/** The page as a browser without scripts receives it. */
function markupOf(
  state: FlowState,
  type: FlowType,
  providerReturn: ProviderReturn | null = null,
  redirect_to?: string,
) {
  return renderToStaticMarkup(
    <Login
      type={type}
      initial={{ version: 7, state, ...(redirect_to ? { redirect_to } : {}) }}
      service="Stile"
      words={en}
      language="en"
      signup
      address="https://login.example/"
      providerReturn={providerReturn}
    />,
  );
}

/** The fields of the form of an action, as they would be posted. */
function fields(html: string, action: string): string[] {
  const form = html.split("<form").find((text) => text.includes(`data-action="${action}"`)) ?? "";
  const attribute = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
  const tags = form.match(/<(?:input|button)[^>]*>/g) ?? [];
  return tags.flatMap((tag) => {
    const name = attribute(tag, "name");
    return name ? [`${name}=${attribute(tag, "value")}`] : [];
  });
}

test("without scripts a provider's button carries the return address", () => {
  expect(fields(markupOf(states.login_init_with_a_provider, "login"), "thirdparty_oauth")).toEqual([
    "flow=login",
    "action=thirdparty_oauth",
    "version=7",
    "provider=custom_acme",
    "redirect_to=https://login.example/",
  ]);
});

test("without scripts a link leads to the provider", () => {
  const html = markupOf(states.thirdparty, "login");
  expect(html).toContain('href="https://accounts.example/authorize?state=1"');
  expect(html).not.toContain('data-action="exchange_token"');
});

test("without scripts a return from a provider shows a button that submits the token", () => {
  const html = markupOf(states.thirdparty, "login", { token: "t-1" });
  expect(fields(html, "exchange_token")).toEqual([
    "flow=login",
    "action=exchange_token",
    "version=7",
    "token=t-1",
  ]);
  expect(html).not.toContain("accounts.example");
});

test("without scripts a provider's address that an account has leads to signing in with it, and nowhere else", () => {
  const html = markupOf(states.thirdparty_rejected, "registration");
  const forms = [...html.matchAll(/name="action" value="([^"]*)"/g)].map(([, action]) => action);
  expect(forms).toEqual(["back", "start_over"]);
  expect(html).toContain('<input type="hidden" name="flow" value="login"/>');
  expect(html).toContain('<input type="hidden" name="identifier" value="ada@example.org"/>');
  expect(html).not.toContain("login.example/?error");
  expect(html).not.toContain(en.states.thirdparty.sentence);
});

test("without scripts a provider's answer that is refused says so, with one way on", () => {
  const error = { code: "signup_disabled", message: "" };
  const payload = { redirect_url: "https://login.example/?error=signup_disabled" };
  const html = markupOf({ ...states.thirdparty_rejected, payload, error }, "login");
  const forms = [...html.matchAll(/name="action" value="([^"]*)"/g)].map(([, action]) => action);
  expect(forms).toEqual(["back"]);
  expect(html).toMatch(/stile-button-primary.*Other ways to sign in/);
  expect(html).toContain(en.states.error.title);
  expect(html).not.toContain("login.example/?error");
  expect(html).not.toContain(en.states.thirdparty.sentence);
});

test("without scripts a cancelled return is reported, with a way back", () => {
  const html = markupOf(states.thirdparty, "login", { error: "third_party_access_denied" });
  expect(html).toContain("You turned back");
  expect(html).toContain('data-action="back"');
});

test("without scripts every item of an account has forms that name it", () => {
  const html = markupOf(states.profile_init, "profile");
  expect(fields(html, "email_delete")).toEqual([
    "flow=profile",
    "action=email_delete",
    "version=7",
    "email_id=e1",
  ]);
  expect(html.match(/<details/g)?.length).toBeGreaterThan(10);
  expect(html).toContain('action="/logout"');
});

test("without scripts the redirect follows the recovery codes", () => {
  const html = markupOf(states.success_with_codes, "login", null, "https://shop.example/welcome");
  expect(html).toContain("AB3D-EF5H-JK7M");
  expect(html).toMatch(/<a [^>]*href="https:\/\/shop\.example\/welcome"[^>]*>I have saved them/);
});

test("without scripts the authenticator's QR code is shown, and a button that asks whether it has confirmed", () => {
  const html = markupOf(states.login_authenticator, "login");
  expect(html).toContain(`src="${states.login_authenticator.payload.qr_image_source}"`);
  expect(fields(html, "authenticator_verify")).toEqual([
    "flow=login",
    "action=authenticator_verify",
    "version=7",
  ]);
  expect(html).toMatch(/stile-button-primary[^>]*>.*I have confirmed/);
});

test("without scripts the first state is drawn with its form, and what needs a script is marked", () => {
  const html = markupOf(states.login_init, "login");
  expect(html).not.toContain("stile-outline");
  expect(fields(html, "continue_with_login_identifier")).toContain("action=continue_with_login_identifier");
  expect(fields(html, "webauthn_generate_request_options")).toContain("with_script=true");
  expect(html).toMatch(
    /class="[^"]*stile-with-script"[^>]*data-action="webauthn_generate_request_options"|<form class="[^"]*stile-with-script"/,
  );
});

test("without scripts the form of the identifier carries the choice to stay signed in", () => {
  const html = markupOf(states.login_init, "login");
  const id = /<form id="([^"]*)"[^>]*data-action="continue_with_login_identifier"/.exec(html)?.[1] ?? "none";
  expect(fields(html, "continue_with_login_identifier")).toContain("with_choice=remember_me");
  expect(html).toMatch(
    new RegExp(
      `<input [^>]*form="${id}"[^>]*name="remember_me"|<input [^>]*name="remember_me"[^>]*form="${id}"`,
    ),
  );
  expect(html).not.toContain("stile-apply");
});

test("without scripts the buttons of providers are sent with the choice to stay signed in", () => {
  const html = markupOf(states.login_init_with_a_provider, "login");
  const id = /<form id="([^"]*)"[^>]*data-action="continue_with_login_identifier"/.exec(html)?.[1] ?? "none";
  const button = /<button [^>]*name="provider"[^>]*>/.exec(html)?.[0] ?? "";
  expect(button).toContain(`form="${id}"`);
  expect(button).toContain("formNoValidate");
  expect(button).toContain(
    'formAction="/step?action=thirdparty_oauth&amp;redirect_to=https%3A%2F%2Flogin.example%2F"',
  );
  // Without a choice to carry they are in a form of their own.
  const { remember_me: _choice, ...actions } = states.login_init_with_a_provider.actions;
  expect(markupOf({ ...states.login_init_with_a_provider, actions }, "login")).not.toContain("formAction");
});

test("without scripts a state that the page does not know is shown in the words of the server", () => {
  const html = markupOf(states.unknown, "login");
  for (const text of [
    "Verify home address",
    "This address is disputed.",
    "Tells us where you live.",
    "We ring you instead.",
  ])
    expect(html).toContain(text);
  expect(fields(html, "call_me")).toEqual(["flow=login", "action=call_me", "version=7"]);
});
