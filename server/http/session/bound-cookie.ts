import { serializeItem, serializeList, Token } from "structured-headers";
import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { IssuedSession, Session } from "../../objects/session.ts";
import type { Runtime } from "../../runtime.ts";
import { bindsSessions, lifetimeMs } from "../../sessions/device-binding/binding.ts";
import { CHALLENGE_LIFETIME_MS, makeChallenge } from "../../sessions/device-binding/challenge.ts";
import { algorithms } from "../../sessions/device-binding/proof.ts";
import { cookieValues, formatCookie, isSecure } from "../request/cookies.ts";
import { pathPrefix, TENANTS_PATH, withinTenant } from "../request/tenant-path.ts";

/** What browsers are told of device-bound sessions: headers, the bound cookie, and the instructions. */

export const REGISTRATION_PATH = "/sessions/binding";
export const REFRESH_PATH = "/sessions/binding/refresh";

/** A challenge of an answer is for the refresh that follows it soon. */
const CHALLENGE_AHEAD_MS = CHALLENGE_LIFETIME_MS - 30_000;

type Context = { runtime: Runtime; tenant: Tenant };

/** The values of the bound cookie in a `Cookie` header. */
export function boundValues({ config }: Tenant, cookies: string | null): string[] {
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
export function bindingOffer(
  context: Context,
  { id, isBound, isImpersonated }: IssuedSession,
): string | null {
  const { config } = context.tenant;
  if (isBound || isImpersonated || !bindsSessions(config)) return null;
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
  const { boundUntil } = session;
  if (!boundUntil || !bindsSessions(tenant.config)) return null;
  const left = boundUntil.getTime() - Date.now() - runtime.platform.clockShift();
  return left <= CHALLENGE_AHEAD_MS ? challengeHeader(context, session) : null;
}

/** The session instructions (DBSC, 9.6). Without an origin they are about the one that answers: a tenant may have several hosts. */
export function instructions({ config }: Tenant, sessionId: string): object {
  const { cookie, device_bound } = config.session;
  const isOfSite = cookie.domain !== "" && device_bound.include_site;
  const { protocol, port } = new URL(config.base_url);
  const site = `${protocol}//${cookie.domain.replace(/^\./, "")}${port && `:${port}`}`;
  return {
    session_identifier: sessionId,
    refresh_url: withinTenant(config, REFRESH_PATH),
    scope: {
      ...(isOfSite ? { origin: site } : {}),
      include_site: isOfSite,
      scope_specification: scopeRules(config),
    },
    credentials: [
      { type: "cookie", name: boundCookieName(config), attributes: boundCookieAttributes(config) },
    ],
    allowed_refresh_initiators: refreshInitiators(config),
  };
}

/** Other tenants on the host have cookies and sessions of their own (DBSC, 9.8; the last rule that fits counts). */
function scopeRules(config: Config): object[] {
  const prefix = pathPrefix(config);
  return prefix === ""
    ? [{ type: "exclude", path: TENANTS_PATH }]
    : [
        { type: "exclude", path: "/" },
        { type: "include", path: prefix },
      ];
}

/**
 * The hosts of other origins whose requests may wait for a refresh: links of applications lead here. Browsers send the cookies
 * with such links alone, unless they are `SameSite=None`; then any site could measure whether its visitor is signed in here (DBSC,
 * 3.2).
 */
function refreshInitiators({ session, cors }: Config): string[] {
  if (session.cookie.same_site !== "none") return ["*"];
  return [...new Set(cors.allow_origins.map((origin) => new URL(origin).hostname))];
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
