import { and, eq, lt } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import { headerParameter, isWithinValidity } from "../keys/jwt.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Session } from "../objects/session.ts";
import type { Logs } from "../observability/logger.ts";
import { type BoundValues, isOnItsDevice } from "./device-binding/binding.ts";
import { idleExpiry, idleLimit } from "./idleness.ts";
import { actorClaim, IMPERSONATION_TOKEN_TYPE } from "./impersonation.ts";
import {
  asSessionClaims,
  audienceOf,
  clientClaims,
  IN_COOKIE,
  issuerOf,
  SESSION_TOKEN_TYPE,
  type SessionClaims,
  type TokenCarrier,
} from "./session-claims.ts";
import { endSessions, type FoundSession, findSession } from "./sessions.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Logs & Signing & WakesWebhooks;

const { sessions } = schema;

/** The session tokens that a request carries. */
export interface PresentedTokens {
  /** From `Authorization: Bearer`; takes precedence over cookies. */
  bearer?: string | undefined;
  /** Values of all cookies with the configured name: browsers send one for each matching path and domain. */
  cookies: readonly string[];
  /** The same of the bound cookie. */
  bound: BoundValues;
}

export type VerifiedSession =
  | {
      ok: true;
      /** The token that names it, as it was presented. */
      token: string;
      session: Session;
      claims: SessionClaims;
      /** When it ends if it stays unused; null if `session.idle_timeout` is off. */
      idleExpiresAt: Date | null;
    }
  /** `ambiguous_session`: the cookies name more than one live session. */
  | { ok: false; reason: "no_session" | "ambiguous_session" }
  /** A session cookie came without the bound cookie of its session. */
  | { ok: false; reason: "binding_required"; session: Session; now: Date };

/** The session that a valid token names. */
type Candidate = FoundSession &
  NonNullable<ReturnType<typeof asSessionClaims>> & {
    token: string;
    /** Whether the token was issued in a cookie, or came in one: then the session's binding counts. */
    isOfCookie: boolean;
  };

/** Reads a session by its id; null if there is none. */
export type FindSession = typeof findSession;

/** The time of last use is updated at most once a minute, so that busy sessions write little. */
const TOUCH_INTERVAL_MS = 60_000;

/** A browser sends a few cookies of one name at most. */
const MAX_COOKIES = 8;

/** The limit for signing out is higher, so that many planted cookies do not prevent it. */
const MAX_COOKIES_TO_END = 200;

/**
 * Verifies the session of a request: the token verifies for this tenant, its session exists and belongs to the same
 * user, and neither has expired by the database's clock.
 *
 * An invalid bearer token is ignored, and so are cookies of other tenants. If the remaining cookies name more than one
 * live session, one may be planted, and the request counts as not signed in.
 *
 * @param touch whether to count as use of the session, for `session.idle_timeout`; nothing is written without it
 * @param find reads a session, together with what else its caller needs
 */
export async function verifySession(
  runtime: Process,
  tenant: Tenant,
  { bearer, cookies, bound }: PresentedTokens,
  { touch, find = findSession }: { touch: boolean; find?: FindSession | undefined },
): Promise<VerifiedSession> {
  const fromBearer = bearer === undefined ? null : await verifyToken(runtime, tenant, bearer, "header", find);
  const candidates = fromBearer?.live ? [fromBearer] : await verifyTokens(runtime, tenant, cookies, find);
  const live = candidates.filter((candidate) => candidate.live);
  const [chosen] = live;
  if (!chosen) {
    const idle = candidates.filter((candidate) => candidate.idle);
    if (touch) for (const { session } of idle) await endIdle(runtime, tenant, session);
    return { ok: false, reason: "no_session" };
  }
  if (live.some(({ session }) => session.id !== chosen.session.id))
    return { ok: false, reason: "ambiguous_session" };
  if (chosen.isOfCookie && !isOnItsDevice(tenant, chosen.session, bound, chosen.now))
    return { ok: false, reason: "binding_required", session: chosen.session, now: chosen.now };
  const { session, idleExpiresAt } = touch ? await touchSession(runtime, tenant, chosen) : chosen;
  return {
    ok: true,
    token: chosen.token,
    session,
    claims: clientClaims(chosen.claims, chosen.user, chosen.custom),
    idleExpiresAt,
  };
}

/**
 * All live sessions that the tokens of a request name, each once, for signing out of all of them; on any device.
 */
export async function findLiveSessions(
  runtime: Process,
  tenant: Tenant,
  { bearer, cookies }: Omit<PresentedTokens, "bound">,
): Promise<FoundSession[]> {
  const tokens = new Set([...(bearer === undefined ? [] : [bearer]), ...cookies]);
  const live = new Map<string, FoundSession>();
  for (const token of [...tokens].slice(0, MAX_COOKIES_TO_END)) {
    const candidate = await verifyToken(runtime, tenant, token, "cookie");
    if (candidate?.live) live.set(candidate.session.id, candidate);
  }
  return [...live.values()];
}

async function verifyTokens(
  runtime: Process,
  tenant: Tenant,
  tokens: readonly string[],
  find: FindSession,
): Promise<Candidate[]> {
  const different = new Set(tokens);
  if (different.size > MAX_COOKIES) return [];
  const candidates: Candidate[] = [];
  for (const token of different) {
    const candidate = await verifyToken(runtime, tenant, token, "cookie", find);
    if (candidate) candidates.push(candidate);
  }
  return candidates;
}

/** The sessions that tokens of this tenant name, live or not. Reads nothing. */
export async function namedSessions(
  runtime: Pick<Process, "signingKeys">,
  tenant: Tenant,
  tokens: readonly string[],
): Promise<string[]> {
  const first = [...new Set(tokens)].slice(0, MAX_COOKIES);
  const verified = await Promise.all(first.map((token) => claimsIn(runtime, tenant, token)));
  return verified.flatMap((parsed) => (parsed ? [parsed.claims.session_id] : []));
}

/** Verifies signature, type, audience and issuer first, so that only tokens of this tenant reach the database. */
async function verifyToken(
  runtime: Process,
  tenant: Tenant,
  token: string,
  carrier: TokenCarrier,
  find: FindSession = findSession,
): Promise<Candidate | null> {
  const parsed = await claimsIn(runtime, tenant, token);
  if (!parsed) return null;
  const { claims } = parsed;
  const found = await find(runtime, tenant, claims.session_id);
  // A session that is stored was issued, even if the clock was set back since: `iat` is not judged (RFC 7519, 4.1.6).
  const times = { ...parsed.signed, iat: undefined };
  if (!found || found.session.userId !== claims.sub || !isWithinValidity(times, found.now)) return null;
  // A session of a user is named by no token of an operator, and the other way round.
  if ((found.session.impersonation !== null) !== isOfOperator(token)) return null;
  const isOfCookie = carrier === "cookie" || headerParameter(token, IN_COOKIE) === true;
  // Who acts is what the session says, not the token.
  const named = { ...parsed, claims: { ...claims, ...actorClaim(found.session) } };
  return { ...found, ...named, token, isOfCookie };
}

const isOfOperator = (token: string) => headerParameter(token, "typ") === IMPERSONATION_TOKEN_TYPE;

/** The claims of a session token of this tenant, whose times are for the database's clock; null for any other token. */
async function claimsIn({ signingKeys }: Pick<Process, "signingKeys">, tenant: Tenant, token: string) {
  const signed = await signingKeys.of(tenant).verify(token, {
    typ: isOfOperator(token) ? IMPERSONATION_TOKEN_TYPE : SESSION_TOKEN_TYPE,
    audience: audienceOf(tenant),
    issuer: issuerOf(tenant),
    now: "unchecked",
  });
  const parsed = signed && asSessionClaims(signed);
  return parsed && { ...parsed, signed };
}

/** Updates the time of last use, unless it is recent. */
async function touchSession(
  { database }: Process,
  tenant: Tenant,
  candidate: Candidate,
): Promise<Pick<FoundSession, "session" | "idleExpiresAt">> {
  const { session, now } = candidate;
  const limit = idleLimit(tenant);
  const interval = limit === null ? TOUCH_INTERVAL_MS : Math.min(TOUCH_INTERVAL_MS, limit / 10);
  if (now.getTime() - session.lastUsedAt.getTime() < interval) return candidate;
  await database.claim
    .update(sessions)
    .set({ lastUsedAt: now })
    .where(and(eq(sessions.tenantId, tenant.id), eq(sessions.id, session.id), lt(sessions.lastUsedAt, now)));
  return {
    session: { ...session, lastUsedAt: now },
    idleExpiresAt: idleExpiry(tenant, now),
  };
}

/** Ends a session that was idle for too long, unless another request has used it concurrently. */
async function endIdle(runtime: Process, tenant: Tenant, session: Session): Promise<void> {
  const unused = and(eq(sessions.id, session.id), eq(sessions.lastUsedAt, session.lastUsedAt));
  await runtime.database.write.transaction((tx) =>
    endSessions(tx, { runtime, tenant }, unused, "session.delete.passive.expire"),
  );
}
