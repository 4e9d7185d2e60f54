import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { IssuedSession } from "../../objects/session.ts";
import type { Runtime } from "../../runtime.ts";
import { formatCookie, isSecure } from "../request/cookies.ts";
import { bindingOffer, expiredBoundCookie } from "./bound-cookie.ts";

/**
 * The headers and cookies that give a session to its browser: `X-Session-Lifetime` in seconds, `X-Session-Retention`,
 * and the token in the session cookie or, where the tenant configures it, in `X-Auth-Token` instead. The browser is asked to
 * bind the session to its device.
 *
 * @param couldNotRenew whether the browser has shown a bound session without its bound cookie: it goes on with a plain session
 */
export function sessionHeaders(
  { runtime, tenant }: { runtime: Runtime; tenant: Tenant },
  session: IssuedSession,
  { couldNotRenew = false } = {},
): { headers: Record<string, string>; cookies: string[] } {
  const { config } = tenant;
  const isPlain = couldNotRenew && config.session.device_bound.mode === "offered";
  const offer = isPlain ? null : bindingOffer({ runtime, tenant }, session);
  const headers = {
    ...(offer === null ? {} : { "Secure-Session-Registration": offer }),
    "X-Session-Lifetime": String(session.lifetimeSeconds),
    "X-Session-Retention": session.retention,
  };
  if (config.session.enable_auth_token_header)
    return { headers: { ...headers, "X-Auth-Token": session.token }, cookies: [] };
  const maxAge = session.retention === "session" ? undefined : session.lifetimeSeconds;
  return { headers, cookies: [sessionCookie(config, session.token, maxAge)] };
}

/** @param maxAge seconds; without it the cookie lasts until the browser is closed */
export function sessionCookie(config: Config, token: string, maxAge: number | undefined): string {
  const { name, domain, same_site } = config.session.cookie;
  return formatCookie(config, name, token, {
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(domain ? { domain } : {}),
    sameSite: same_site,
    secure: isSecure(config),
  });
}

/** Removes the session cookie, and the bound one. */
export function expiredSessionCookies(config: Config): string[] {
  return [sessionCookie(config, "", 0), expiredBoundCookie(config)];
}
