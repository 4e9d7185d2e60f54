import { and, eq, lt } from "drizzle-orm";
import { schema } from "#db/client";
import { isTimely } from "../keys/jwt.ts";
import type { Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { Session } from "./session.ts";
import {
  asSessionClaims,
  audienceOf,
  clientClaims,
  issuerOf,
  SESSION_TOKEN_TYPE,
  type SessionClaims,
  type SessionTokenClaims,
} from "./session-claims.ts";
import { type FoundSession, findSession } from "./sessions.ts";

const { sessions } = schema;

/** What a request brought along that may be the token of a session. */
export interface PresentedTokens {
  /** From `Authorization: Bearer`; looked at first. */
  bearer?: string | undefined;
  /** Values of every cookie of the configured name: browsers send all that match, of any path and domain. */
  cookies: readonly string[];
}

export type VerifiedSession =
  | { valid: false }
  | {
      valid: true;
      session: Session;
      claims: SessionClaims;
      /** When it ends if it stays unused; null when `session.idle_timeout` is off. */
      idleExpiresAt: Date | null;
    };

/** The session that a genuine token names. */
type Candidate = FoundSession & { claims: SessionTokenClaims };

/** The time of use is good to a minute, so that busy sessions write little. */
const touchMilliseconds = 60_000;

/** A browser sends a few cookies of one name at most. */
const mostCookies = 8;

/** To end sessions, many more are looked at: whoever plants cookies must not keep a session alive by their number. */
const mostCookiesToEnd = 200;

/**
 * Whether a request comes from somebody who is signed in: the token verifies for this tenant, the row that it names
 * is there and belongs to the same user, and no time has run out by the database's clock.
 *
 * A bearer token that is not valid is passed over. Of several cookies, those of other tenants are passed over, and
 * if what remains names more than one live session, somebody may have planted one: nobody is signed in.
 *
 * @param touch whether this is use of the session, for `session.idle_timeout`; without it nothing is written
 */
export async function verifySession(
  runtime: Runtime,
  tenant: Tenant,
  { bearer, cookies }: PresentedTokens,
  { touch }: { touch: boolean },
): Promise<VerifiedSession> {
  const carried = bearer === undefined ? null : await judge(runtime, tenant, bearer);
  const candidates = carried?.live ? [carried] : await judgeAll(runtime, tenant, cookies);
  const live = candidates.filter((candidate) => candidate.live);
  const [chosen] = live;
  if (!chosen) {
    const idle = candidates.filter((candidate) => candidate.idle);
    if (touch) for (const { session } of idle) await endIdle(runtime, tenant, session);
    return { valid: false };
  }
  if (live.some(({ session }) => session.id !== chosen.session.id)) return { valid: false };
  const { session, idleExpiresAt } = touch ? await use(runtime, tenant, chosen) : chosen;
  return { valid: true, session, claims: clientClaims(chosen.claims), idleExpiresAt };
}

/**
 * Every live session that a request's tokens name, each once: for ending them, whoever's they are. Which of them the
 * person meant does not matter then.
 */
export async function findLiveSessions(
  runtime: Runtime,
  tenant: Tenant,
  { bearer, cookies }: PresentedTokens,
): Promise<FoundSession[]> {
  const tokens = new Set([...(bearer === undefined ? [] : [bearer]), ...cookies]);
  const live = new Map<string, FoundSession>();
  for (const token of [...tokens].slice(0, mostCookiesToEnd)) {
    const candidate = await judge(runtime, tenant, token);
    if (candidate?.live) live.set(candidate.session.id, candidate);
  }
  return [...live.values()];
}

async function judgeAll(runtime: Runtime, tenant: Tenant, tokens: readonly string[]): Promise<Candidate[]> {
  const different = new Set(tokens);
  if (different.size > mostCookies) return [];
  const candidates: Candidate[] = [];
  for (const token of different) {
    const candidate = await judge(runtime, tenant, token);
    if (candidate) candidates.push(candidate);
  }
  return candidates;
}

/** Signature, purpose, audience and issuer first: nobody else's words reach the database. */
async function judge(runtime: Runtime, tenant: Tenant, token: string): Promise<Candidate | null> {
  const signed = await runtime.signingKeys.of(tenant).verify(token, {
    typ: SESSION_TOKEN_TYPE,
    audience: audienceOf(tenant),
    issuer: issuerOf(tenant),
    // By the database's clock, as soon as it was asked.
    now: "unchecked",
  });
  const claims = signed && asSessionClaims(signed);
  if (!claims) return null;
  const found = await findSession(runtime, tenant, claims.session_id);
  if (!found || found.session.userId !== claims.sub || !isTimely(signed, found.now)) return null;
  return { ...found, claims };
}

/** Notes that the session is in use, unless that was noted a moment ago. */
async function use(
  { database }: Runtime,
  tenant: Tenant,
  candidate: Candidate,
): Promise<Pick<FoundSession, "session" | "idleExpiresAt">> {
  const { session, now } = candidate;
  const idleTimeout = tenant.config.session.idle_timeout * 1000;
  const interval = idleTimeout > 0 ? Math.min(touchMilliseconds, idleTimeout / 10) : touchMilliseconds;
  if (now.getTime() - session.lastUsedAt.getTime() < interval) return candidate;
  await database.claim
    .update(sessions)
    .set({ lastUsedAt: now })
    .where(and(eq(sessions.tenantId, tenant.id), eq(sessions.id, session.id), lt(sessions.lastUsedAt, now)));
  return {
    session: { ...session, lastUsedAt: now },
    idleExpiresAt: idleTimeout > 0 ? new Date(now.getTime() + idleTimeout) : null,
  };
}

/** Ends a session that was idle for too long, unless another request has used it meanwhile. */
async function endIdle({ database }: Runtime, tenant: Tenant, session: Session): Promise<void> {
  await database.write
    .delete(sessions)
    .where(
      and(
        eq(sessions.tenantId, tenant.id),
        eq(sessions.id, session.id),
        eq(sessions.lastUsedAt, session.lastUsedAt),
      ),
    );
}
