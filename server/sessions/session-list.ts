import { and, desc, eq, gt, gte } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { Write } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { EventContext } from "../events/emit.ts";
import { describeUserAgent } from "../lib/user-agent.ts";
import { isMadeByOperator, type Session, sessionColumns } from "../objects/session.ts";
import { type ImpersonatorObject, impersonatorObject } from "../objects/session-object.ts";
import { idleSince } from "./idleness.ts";
import { goesOn, readActor } from "./impersonation.ts";
import { endSessionOfUser, type SessionEnd } from "./sessions.ts";

const { sessions } = schema;

/** A session as its owner sees it. Times are RFC 3339. */
export interface SessionProfile {
  id: string;
  /** The `User-Agent` header. */
  user_agent_raw?: string;
  /** Readable form: `macOS (Safari)`. */
  user_agent?: string;
  ip_address?: string;
  /** Whether the request uses this session. */
  current: boolean;
  /** Present if an administrator created it, so that the owner does not take it for a stranger's. */
  created_by_administrator?: true;
  /** Present if an administrator acts in it as the user. */
  impersonated_by?: ImpersonatorObject;
  /** Present if the browser has bound it to a key of its device. */
  device_bound?: true;
  created_at: string;
  expires_at: string;
  last_used: string;
}

/** An account's sessions that have neither expired nor been idle for too long, newest first. */
export async function liveSessions(
  db: ReadOnly,
  tenant: Tenant,
  userId: string,
  now: Date,
): Promise<Session[]> {
  const since = idleSince(tenant, now);
  const rows = await db
    .select(sessionColumns)
    .from(sessions)
    .where(
      and(
        eq(sessions.tenantId, tenant.id),
        eq(sessions.userId, userId),
        gt(sessions.expiresAt, now),
        since === null ? undefined : gte(sessions.lastUsedAt, since),
      ),
    )
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
  const live: Session[] = [];
  for (const session of rows)
    if (goesOn(tenant, session, await readActor(db, tenant, session, 0), now)) live.push(session);
  return live;
}

/** The profile of a session. */
export function describeSession(session: Session, currentSessionId: string): SessionProfile {
  const { id, userAgent, ipAddress, createdAt, expiresAt, lastUsedAt, boundAt, impersonation } = session;
  return {
    id,
    ...(userAgent === null ? {} : { user_agent_raw: userAgent, user_agent: describeUserAgent(userAgent) }),
    ...(ipAddress === null ? {} : { ip_address: ipAddress }),
    current: id === currentSessionId,
    ...(isMadeByOperator(session) ? { created_by_administrator: true as const } : {}),
    ...(impersonation ? { impersonated_by: impersonatorObject(impersonation) } : {}),
    ...(boundAt === null ? {} : { device_bound: true as const }),
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    last_used: lastUsedAt.toISOString(),
  };
}

/** Ends a session of an account; does nothing if it has ended already. */
export function endSessionOf(
  context: EventContext,
  userId: string,
  sessionId: string,
  event: SessionEnd,
): Write {
  return async (tx) => {
    await endSessionOfUser(tx, context, userId, sessionId, event);
  };
}
