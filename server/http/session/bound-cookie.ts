import { serializeItem, serializeList, Token } from "structured-headers";
import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { IssuedSession, Session } from "../../objects/session.ts";
import type { Runtime } from "../../runtime.ts";
import { type BoundValues, bindsSessions, lifetimeMs } from "../../sessions/device-binding/binding.ts";
import { CHALLENGE_LIFETIME_MS, makeChallenge } from "../../sessions/device-binding/challenge.ts";
import { algorithms } from "../../sessions/device-binding/proof.ts";
import { cookieValues, formatCookie, isSecure } from "../request/cookies.ts";
import { pathPrefix, withinTenant } from "../request/tenant-path.ts";

/** What browsers are told of device-bound sessions: headers, the bound cookie, and the instructions. */

export const REGISTRATION_PATH = "/sessions/binding";
export const REFRESH_PATH = "/sessions/binding/refresh";

/** A challenge of an answer is for the refresh that follows it soon. */
const CHALLENGE_AHEAD_MS = CHALLENGE_LIFETIME_MS - 30_000;

type Context = { runtime: Runtime; tenant: Tenant };

/** The values of the bound cookie in a `Cookie` header. */
export function boundValues({ config }: Tenant, cookies: string | null): BoundValues {
  return cookieValues(cookies, boundCookieName(config));
}

/** The cookie that a browser renews by a proof of its key: everywhere where the session cookie is. */
export function boundCookie(config: Config, value: string): string {
  return formatBoundCookie(config, value, lifetimeMs(config) / 1000);
}

/** Removes the bound cookie. */
export function expiredBoundCookie(config: Config): string {
  return formatBoundCookie(config, "", 0);
}

/** `Secure-Session-Registration` (DBSC, 9.1), which has a browser bind the session that comes with it; null if it is not to. */
export function bindingOffer(context: Context, { id, isBound }: IssuedSession): string | null {
  const { config } = context.tenant;
  if (isBound || !bindsSessions(config)) return null;
  const accepted = algorithms.map((name) => [new Token(name), new Map()] as [Token, Map<string, never>]);
  const parameters = new Map([
    ["path", withinTenant(config, REGISTRATION_PATH)],
    ["challenge", makeChallenge(context, { id, boundKey: null })],
  ]);
  return serializeList([[accepted, parameters]]);
}

/** `Secure-Session-Challenge` (DBSC, 9.2) for the next proof of a session. */
export function challengeHeader(context: Context, session: Pick<Session, "id" | "boundKey">): string {
  return serializeItem([makeChallenge(context, session), new Map([["id", session.id]])]);
}

/** The same if the browser will need one soon, so that its refresh takes one round trip. */
export function challengeAhead(context: Context, session: Session): string | null {
  const { runtime, tenant } = context;
  const { boundKey, boundAt } = session;
  if (!boundKey || !boundAt || !bindsSessions(tenant.config)) return null;
  const age = Date.now() + runtime.platform.clockShift() - boundAt.getTime();
  return age >= lifetimeMs(tenant.config) - CHALLENGE_AHEAD_MS ? challengeHeader(context, session) : null;
}

/** The session instructions (DBSC, 9.6). */
export function instructions({ config }: Tenant, sessionId: string): object {
  const { hostname, origin } = new URL(config.base_url);
  const { cookie, device_bound } = config.session;
  const site = cookie.domain.replace(/^\./, "");
  const isOfSite = cookie.domain !== "" && device_bound.include_site;
  const prefix = pathPrefix(config);
  return {
    session_identifier: sessionId,
    refresh_url: withinTenant(config, REFRESH_PATH),
    scope: {
      origin: isOfSite ? origin.replace(hostname, site) : origin,
      include_site: isOfSite,
      // Other tenants on the host have cookies and sessions of their own.
      scope_specification:
        prefix === ""
          ? []
          : [
              { type: "exclude", domain: "*", path: "/" },
              { type: "include", domain: hostname, path: prefix },
            ],
    },
    credentials: [
      { type: "cookie", name: boundCookieName(config), attributes: boundCookieAttributes(config) },
    ],
    // Links of other sites lead here, those of applications that have their users sign in first of all.
    allowed_refresh_initiators: ["*"],
  };
}

const boundCookieName = ({ session }: Config) => `${session.cookie.name}-bound`;

function formatBoundCookie(config: Config, value: string, maxAge?: number): string {
  const { domain, same_site } = config.session.cookie;
  return formatCookie(config, boundCookieName(config), value, {
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(domain ? { domain } : {}),
    sameSite: same_site,
    secure: isSecure(config),
  });
}

/** The attributes alone, as in `Set-Cookie` (DBSC, 9.9). */
function boundCookieAttributes(config: Config): string {
  const cookie = formatBoundCookie(config, "");
  return cookie.slice(cookie.indexOf("; ") + 2);
}
