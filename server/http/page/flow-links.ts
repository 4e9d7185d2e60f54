import { deviceAddress } from "../../flow/authorization.ts";
import { userCodeText } from "../../openid/user-code.ts";
import { redirect } from "../answer/reply.ts";
import { flowError } from "../flow/call-flow.ts";
import { wantsPage } from "../request/accepts.ts";
import { languageInQuery } from "../request/language.ts";
import { presentedSession } from "../session/presented-session.ts";
import type { Handler } from "../table/handler-context.ts";
import { loginPageHandler } from "./login-page.ts";
import { expiredPageCookie, openPageCookie, pageCookie } from "./page-cookie.ts";

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

/** Longer ones identify no request. */
const MAX_REQUEST_CHARACTERS = 64;

/**
 * `GET /device`: the page on which users enter the code that a device shows (RFC 8628, 3.3). Users type this address; one with
 * `user_code` (3.3.1) fills the field.
 */
export const devicePageHandler = forBrowsers(async (context) => {
  const { runtime, tenant, url, cookies } = context;
  const { enabled, device_flow, device_code_lifetime } = tenant.config.openid;
  if (!enabled || !device_flow) return redirect(303, "/");
  const presented = await presentedSession(context, { touch: false });
  const before = await openPageCookie(runtime, tenant, "authorization", cookies);
  // Kept while the user signs in, and no longer: the next device is another one.
  const known = before && "userCode" in before && before.signsIn ? before.userCode : "";
  const userCode = userCodeText(url.searchParams.get("user_code") ?? (presented.ok ? known : ""));
  const shown = { userCode, ...(presented.ok ? {} : { signsIn: true as const }) };
  const kept = [
    await pageCookie(runtime, tenant, "authorization", shown, device_code_lifetime),
    expiredPageCookie(tenant, "consent"),
  ];
  const language = languageInQuery(url.searchParams);
  const page = language === null ? "" : `&lang=${language}`;
  const login = `/login?redirect_to=${encodeURIComponent(deviceAddress(tenant.config))}${page}`;
  return redirect(303, presented.ok ? `/?flow=consent${page}` : login, { cookies: kept });
});

/** `GET /consent`: the page that asks the user about an authorization request, which is not in its address. */
export const consentPageHandler = forBrowsers(async ({ runtime, tenant, url }) => {
  const request = url.searchParams.get("request") ?? "";
  const { enabled, request_lifetime } = tenant.config.openid;
  if (!enabled || request === "" || request.length > MAX_REQUEST_CHARACTERS) return redirect(303, "/");
  const cookie = await pageCookie(runtime, tenant, "authorization", { request }, request_lifetime);
  const language = languageInQuery(url.searchParams);
  return redirect(303, `/?flow=consent${language === null ? "" : `&lang=${language}`}`, {
    cookies: [cookie, expiredPageCookie(tenant, "consent")],
  });
});
