import { redirect } from "../answer/reply.ts";
import { flowError } from "../flow/call-flow.ts";
import { wantsPage } from "../request/accepts.ts";
import type { Handler } from "../table/handler-context.ts";
import { loginPageHandler } from "./login-page.ts";

/**
 * The addresses of flows in a browser: people type them and applications link to them, so each leads to its page as
 * `GET /login` does. Programs that send GET instead of POST are told so.
 */

/** Answers browsers with a page, and every other client with 405. */
const forBrowsers =
  (lead: Handler): Handler =>
  (context) => {
    if (wantsPage(context.request.headers)) return lead(context);
    const { config } = context.tenant;
    const reply = flowError(config, "operation_not_permitted_error", { status: 405 });
    return { ...reply, headers: { ...reply.headers, Allow: "POST, OPTIONS" } };
  };

/** `GET /registration`: as `GET /login?flow=registration`, with the way back that the query names. */
export const registrationPageHandler = forBrowsers((context) => {
  const url = new URL(context.url);
  url.searchParams.set("flow", "registration");
  return loginPageHandler({ ...context, url });
});

/** `GET /profile`: the account page. */
export const profilePageHandler = forBrowsers(() => redirect(303, "/account"));

/** `GET /token_exchange`: the page of a sign-in that a SAML provider started; without SAML that of the login. */
export const tokenExchangePageHandler = forBrowsers(({ tenant }) =>
  redirect(303, tenant.config.saml.enabled ? "/?flow=token_exchange" : "/"),
);
