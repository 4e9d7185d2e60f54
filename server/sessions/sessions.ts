import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import { afterCommit } from "#db/after-commit";
import { LOCK_ORDER } from "#db/artifact-lock-order";
import { type Databases, schema, type Transaction } from "#db/client";
import { clockText } from "#db/clock";
import { ConflictError } from "#db/errors";
import { positionText } from "#db/log-position";
import { executeParts, type Part } from "#db/part";
import { queryPrepared } from "#db/prepared";
import type { Factor, Impersonation } from "#db/schema/sessions";
import type { Write } from "#db/write";
import { clientsToldBy } from "../config/logout-channels.ts";
import type { Tenant } from "../config/tenant.ts";
import type { RequestContext, TenantContext } from "../context/context.ts";
import {
  type EventContext,
  type EventSession,
  emit,
  emitEnded,
  type SessionEventName,
  type WakesWebhooks,
} from "../events/emit.ts";
import { lockUser } from "../identity/lock-user.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { timeOrderedUuid } from "../lib/uuid.ts";
import { type IssuedSession, NEVER_AUTHENTICATED, type Session, sessionColumns } from "../objects/session.ts";
import type { Logs } from "../observability/logger.ts";
import { templateClaims } from "./claim-template.ts";
import { idleExpiry, idleSince, isIdle } from "./idleness.ts";
import { goesOn, IMPERSONATION_TOKEN_TYPE, readActor } from "./impersonation.ts";
import { lockSessions } from "./lock-sessions.ts";
import { providerSessionOf } from "./provider-sessions.ts";
import {
  clientClaims,
  IN_COOKIE,
  SESSION_TOKEN_TYPE,
  type SessionClaims,
  type TokenCarrier,
  tokenClaims,
  type UserClaims,
} from "./session-claims.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Logs & Signing & WakesWebhooks;

/** What reads sessions. */
export type SessionReading = OnPlatform & Databases;

const { sessions } = schema;

/** The input of `issueSession`. */
export interface NewSession extends UserClaims {
  userId: string;
  /** The factors that the user has just proved. */
  factors: Factor[];
  /** The same as authentication method references (RFC 8176) for the token. */
  amr: string[];
  rememberMe: boolean;
  /**
   * The operator creates the session, for a browser of which it shows this. Its user has proved nothing now, so it counts
   * as authenticated in 1970, and a change of the account asks for a proof.
   */
  byOperator?: {
    userAgent: string | null;
    ipAddress: string | null;
    /** The operator acts in it as the user, until `seconds` are over: it has a browser of its own, and no other session ends. */
    acting?: { impersonation: Impersonation; seconds: number };
  };
}

/** No browser has registered a key for the session yet. */
const unbound = {
  boundKey: null,
  boundAt: null,
  boundHash: null,
  boundUntil: null,
  previousBoundHash: null,
  previousBoundUntil: null,
  boundChallengeAt: null,
  bindingRejectedAt: null,
} satisfies Partial<Session>;

/** How browsers get the tokens of a tenant. */
export const carrierOf = ({ config }: Tenant): TokenCarrier =>
  config.session.enable_auth_token_header ? "header" : "cookie";

const endedEvents = ["session.delete.passive.expire", "session.delete.passive.limit"] as const;

const issueText = `session_ended as (
    delete from sessions where tenant_id = $1 and user_id = $2 and impersonation is null and id not in (
      select id from sessions
      where tenant_id = $1 and user_id = $2 and impersonation is null and expires_at > $12
      order by created_at desc, id desc limit $3)
    returning *, case when expires_at <= $12 or last_used_at < $14::timestamptz then '${endedEvents[0]}'
      else '${endedEvents[1]}' end as event),
  session_sign_in as (
    update users set language = coalesce($4::text, language),
      last_sign_in_at = case when $15::boolean then $12::timestamptz else last_sign_in_at end
    where tenant_id = $1 and id = $2 and ($15::boolean or language is distinct from coalesce($4::text, language))),
  session_account as (select blocked_at from users where tenant_id = $1 and id = $2),
  session_issued as (
    insert into sessions (tenant_id, id, user_id, authenticated_at, factors, amr, ip_address, user_agent,
      remember_me, created_at, last_used_at, expires_at, impersonation)
    values ($1, $5, $2, $6, $7, $8, $9, $10, $11, $12, $12, $13, $16::jsonb))`;

const refusalText = `case when not exists (select 1 from session_account) then 'user'
  when (select blocked_at from session_account) is not null then 'account_blocked' end`;

/**
 * Issues a session: signs its token and prepares its row. The session identifier is always new. The token is valid
 * once `write` has inserted the row. It also stores the time of the sign-in, and the language of the request for later mails
 * to the account.
 *
 * @returns `write` also ends the oldest sessions beyond `session.limit`, correctly under concurrent logins, and throws
 *   ConflictError("user") if the account no longer exists, ConflictError("account_blocked") if it is blocked
 */
export async function issueSession(
  context: RequestContext<Process>,
  { userId, factors, amr, rememberMe, byOperator, ...person }: NewSession,
): Promise<{ issued: IssuedSession; session: Session; claims: SessionClaims; write: Write }> {
  const { runtime, tenant, now } = context;
  const { ip: ipAddress, userAgent, language } = context.client;
  const browser = byOperator ?? { ipAddress, userAgent };
  // The language of the operator's request is not that of the user.
  const spoken = byOperator ? null : language;
  const { lifespan, limit, acquire_ip_address, acquire_user_agent } = tenant.config.session;
  // Whole seconds, as in the token, so that the token never outlives the row.
  const acting = byOperator?.acting;
  const seconds = acting ? Math.min(acting.seconds, lifespan) : lifespan;
  const expiresAt = new Date((Math.floor(now.getTime() / 1000) + seconds) * 1000);
  const session: Session = {
    id: timeOrderedUuid(runtime.platform),
    userId,
    authenticatedAt: byOperator ? NEVER_AUTHENTICATED : (lastAuthenticationAt(factors) ?? now),
    factors,
    amr,
    ipAddress: acquire_ip_address ? browser.ipAddress : null,
    userAgent: acquire_user_agent ? browser.userAgent : null,
    rememberMe,
    createdAt: now,
    lastUsedAt: now,
    expiresAt,
    impersonation: acting?.impersonation ?? null,
    ...unbound,
  };
  const carrier = byOperator && !acting ? "header" : carrierOf(tenant);
  const { issued, claims } = await signToken(context, session, person, { now, rememberMe, carrier });

  const part: Part = {
    name: "session",
    text: issueText,
    values: [
      tenant.id,
      userId,
      // One more session of an operator is none of the user's.
      acting ? limit : limit - 1,
      spoken,
      session.id,
      session.authenticatedAt,
      JSON.stringify(factors),
      amr,
      session.ipAddress,
      session.userAgent,
      rememberMe,
      now,
      expiresAt,
      idleSince(tenant, now),
      byOperator === undefined,
      acting ? JSON.stringify(acting.impersonation) : null,
    ],
    refuses: refusalText,
    returns: "(select coalesce(json_agg(e order by created_at, id), '[]') from session_ended e)",
    ofAccount: true,
    // Concurrent logins of one account wait for its lock, so that each counts the sessions of the others.
    begins: true,
  };
  const created = emit(context, byOperator ? "session.create.admin" : "session.create.flow", session);
  const inTransaction = async (tx: Transaction) => {
    await lockUser(tx, tenant.id, userId);
    const { session: ended } = await executeParts<{ session: IssueEndedRow[] }>(tx, [part]);
    for (const row of ended ?? []) await emit(context, row.event, endedSessionOf(row))(tx);
    await created(tx);
  };
  const write: Write = Object.assign(inTransaction, {
    parts: [emitEnded(context, part, userId, endedEvents), ...(created.parts ?? [])],
  });
  return { issued, session, claims, write };
}

/**
 * Issues a session in place of the one that its user has reauthenticated in. The earlier token ends, so the holder of a
 * copy gains nothing from the proof.
 *
 * @returns `write` also throws ConflictError("session") if the earlier session has ended concurrently
 */
export async function replaceSession(
  context: RequestContext<Process>,
  { id, userId, rememberMe }: Session,
  authentication: Omit<NewSession, "userId" | "rememberMe">,
): Promise<{ issued: IssuedSession; session: Session; write: Write }> {
  const { tenant } = context;
  const { issued, session, write } = await issueSession(context, { ...authentication, userId, rememberMe });
  return {
    issued,
    session,
    async write(tx) {
      await lockUser(tx, tenant.id, userId);
      const carry = await applicationsOf(tx, tenant, id);
      const carryProvider = await providerSessionOf(tx, tenant, id);
      const ended = await endSessions(tx, context, eq(sessions.id, id), "session.delete.explicit.logout");
      if (ended === 0) throw new ConflictError("session");
      await write(tx);
      await carry(session.id);
      await carryProvider(session.id);
    },
  };
}

/**
 * Holds the applications that a session has signed its user in to, while it is replaced by another one of that user: they are
 * not told that it has ended, and know the new one by the same name. Their tokens end with it.
 *
 * @returns hands them over to the new session, once that is stored
 */
export async function applicationsOf(
  tx: Transaction,
  { id: tenantId, config }: Tenant,
  sessionId: string,
): Promise<(newId: string) => Promise<void>> {
  if (!config.openid.enabled) return async () => {};
  const ofSession = sql`tenant_id = ${tenantId} and session_id = ${sessionId}`;
  // Locked before what belongs to it, as by every end of a session.
  const { rows: signIns } = await tx.execute<{ client_id: string; sid: string }>(sql`
    with held as (select id from sessions where tenant_id = ${tenantId} and id = ${sessionId} for update)
    select client_id, sid from openid_sign_ins
    where tenant_id = ${tenantId} and session_id in (select id from held)`);
  const { rows: kept } = await tx.execute<{ id_hash: string }>(
    sql`update openid_artifacts set session_id = null where ${ofSession} and kind = 'Session' returning id_hash`,
  );
  // As the end of the session does of itself, but not in a distributed database.
  if (signIns.length > 0)
    await tx.execute(sql`update openid_sign_ins set session_id = null where ${ofSession}`);
  return async (newId) => {
    const handOver = sql`set session_id = ${newId} where tenant_id = ${tenantId} and session_id is null`;
    if (kept.length > 0)
      await tx.execute(sql`
        update openid_artifacts ${handOver} and kind = 'Session'
          and id_hash = any (${sql.param(kept.map(({ id_hash }) => id_hash))})`);
    if (signIns.length > 0)
      await tx.execute(sql`
        update openid_sign_ins ${handOver} and (client_id, sid) in (
          select * from unnest(${sql.param(signIns.map(({ client_id }) => client_id))}::text[],
            ${sql.param(signIns.map(({ sid }) => sid))}::text[]))`);
  };
}

/**
 * Issues another token for an existing session.
 *
 * @returns null if the session has ended
 */
export async function reissueSession(
  context: TenantContext<Process>,
  sessionId: string,
  how: { rememberMe: boolean; carrier: TokenCarrier },
): Promise<IssuedSession | null> {
  const found = await findSession(context.runtime, context.tenant, sessionId);
  if (!found?.live) return null;
  const { issued } = await signToken(context, found.session, found.user, { ...how, now: found.now });
  return issued;
}

/** Records further factors in a session, without counting as a new authentication. */
export function recordFactors(
  { tenant }: Pick<RequestContext<unknown>, "tenant">,
  { id, factors }: { id: string; factors: Factor[] },
): Write {
  return async (tx) => {
    await tx
      .update(sessions)
      .set({ factors })
      .where(and(eq(sessions.tenantId, tenant.id), eq(sessions.id, id)));
  };
}

/** The event of a session's end. */
export type SessionEnd = Extract<SessionEventName, `session.delete.${string}`>;

/** Returns the write that ends a session: its token is invalid from the commit on. It does nothing if it has ended. */
export function endSession(context: EventContext, sessionId: string, event: SessionEnd): Write {
  return async (tx) => void (await endSessions(tx, context, eq(sessions.id, sessionId), event));
}

/** @returns false if the user has no such session */
export async function endSessionOfUser(
  tx: Transaction,
  context: EventContext,
  userId: string,
  sessionId: string,
  event: SessionEnd,
): Promise<boolean> {
  const own = and(eq(sessions.userId, userId), eq(sessions.id, sessionId));
  return (await endSessions(tx, context, own, event)) > 0;
}

/**
 * Returns the write that ends all sessions of a user, and the tokens of applications that outlive sessions
 * (`offline_access`): the holder of a session may have got them.
 *
 * @param keep the id of a session that stays, if any
 */
export function endOtherSessions(
  context: EventContext,
  userId: string,
  event: SessionEnd,
  keep?: string,
): Write {
  const others = keep === undefined ? undefined : ne(sessions.id, keep);
  const ended = and(eq(sessions.userId, userId), others);
  return async (tx) => {
    const tenantId = context.tenant.id;
    // What is issued for the account meanwhile waits, or is seen here.
    await lockUser(tx, tenantId, userId);
    // Before their artifacts, as by every other end of a session.
    await lockSessions(tx, tenantId, ended);
    await tx.execute(endApplicationsText(tenantId, userId, keep ?? null));
    await endSessions(tx, context, ended, event);
  };
}

/**
 * Locks a session against its end until the transaction ends.
 *
 * @param tx has locked the account
 * @throws ConflictError("session") if it has ended
 */
export async function requireSession(tx: Transaction, tenantId: string, sessionId: string): Promise<void> {
  const found = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.tenantId, tenantId), eq(sessions.id, sessionId)))
    .for("key share");
  if (found.length === 0) throw new ConflictError("session");
}

/**
 * Ends the grants with their tokens: a token that is being renewed is in no row, and the new one is of no use without its
 * grant.
 */
const endApplicationsText = (tenantId: string, userId: string, keep: string | null) => sql`
  with ending as materialized (
    select kind, id_hash, grant_hash from openid_artifacts
    where tenant_id = ${tenantId} and user_id = ${userId} and grant_hash is not null
      and kind not in ('Interaction', 'Session') and (session_id is null or session_id is distinct from ${keep}::uuid)),
  family as materialized (
    select kind, id_hash from openid_artifacts
    where tenant_id = ${tenantId} and (kind, id_hash) in (
      select kind, id_hash from ending
      union select 'Grant', grant_hash from ending)
    order by ${sql.raw(LOCK_ORDER)} for update)
  delete from openid_artifacts artifact using family
  where artifact.tenant_id = ${tenantId} and artifact.kind = family.kind and artifact.id_hash = family.id_hash`;

/**
 * Ends the sessions of a tenant that meet a condition, and emits their event: of concurrent statements that end a
 * session, one deletes its row, so each end is told once.
 *
 * @returns the number of sessions
 */
export async function endSessions(
  tx: Transaction,
  context: EventContext,
  condition: SQL | undefined,
  event: SessionEnd,
): Promise<number> {
  const ended = await tx
    .delete(sessions)
    .where(and(eq(sessions.tenantId, context.tenant.id), condition))
    .returning(sessionColumns);
  for (const session of ended) await emit(context, event, session)(tx);
  if (ended.length > 0 && tellsClients(context.tenant)) afterCommit(tx, context.runtime.webhooks.wake);
  return ended.length;
}

/** Whether a client of the OpenID provider may have to be told. */
const tellsClients = ({ config }: Tenant) => clientsToldBy(config, "backchannel_logout_uri").length > 0;

/** A row of `sessions` as a statement returns it that Drizzle did not build. */
export type EndedRow = Record<"id" | "user_id" | "created_at" | "last_used_at" | "expires_at", string> &
  Record<"user_agent" | "ip_address" | "bound_at", string | null> & { impersonation: Impersonation | null };

/** A row that ended because a session was issued. */
type IssueEndedRow = EndedRow & { event: (typeof endedEvents)[number] };

/** Reads such a row for its event. */
export function endedSessionOf(row: EndedRow): EventSession {
  return {
    id: row.id,
    userId: row.user_id,
    userAgent: row.user_agent,
    ipAddress: row.ip_address,
    createdAt: new Date(row.created_at),
    lastUsedAt: new Date(row.last_used_at),
    expiresAt: new Date(row.expires_at),
    boundAt: row.bound_at === null ? null : new Date(row.bound_at),
    impersonation: row.impersonation,
  };
}

/** A session and its state by the database's clock. */
export interface FoundSession {
  session: Session;
  now: Date;
  /** Neither expired nor idle for too long. */
  live: boolean;
  /** Unused for longer than `session.idle_timeout`; or the operator who acts in it is not in the console any more. */
  idle: boolean;
  /** When it ends if it stays unused; null if `session.idle_timeout` is off. */
  idleExpiresAt: Date | null;
  /** Data of its user, for the claims that only clients see. */
  user: UserClaims;
}

/** Reads a session of this tenant and the names of its user; null if there is none with this id. */
export async function findSession(
  runtime: Process,
  tenant: Tenant,
  sessionId: string,
): Promise<FoundSession | null> {
  const values = [tenant.id, sessionId, runtime.platform.clockShift()];
  const query = { name: "session_by_id", text: sessionText, values };
  const [found] = await queryPrepared<SessionRow, "read">(runtime.database, "read", query);
  return found ? foundSession(runtime, tenant, found) : null;
}

/** Reads sessions as `findSession` does, and remembers the position of the primary, for reads of the account at a replica. */
export function findingPosition(): { find: typeof findSession; readonly position: string | null } {
  let position: string | null = null;
  return {
    async find(runtime, tenant, sessionId) {
      const values = [tenant.id, sessionId, runtime.platform.clockShift()];
      const query = { name: "session_with_position", text: positionedText, values };
      const [row] = await queryPrepared<SessionRow & { position: string | null }, "read">(
        runtime.database,
        "read",
        query,
      );
      if (!row) return null;
      const { position: found, ...session } = row;
      position = found;
      return foundSession(runtime, tenant, session);
    },
    get position() {
      return position;
    },
  };
}

/** Judges a session that another statement has read. */
export async function foundSession(
  { database, platform }: SessionReading,
  tenant: Tenant,
  found: SessionRow,
): Promise<FoundSession> {
  const { now, email, emailVerifiedAt, username, ...session } = found;
  const actor = await readActor(database.read, tenant, session, platform.clockShift());
  const idleExpiresAt = idleExpiry(tenant, session.lastUsedAt);
  const idle = isIdle(tenant, session, now) || !goesOn(tenant, session, actor, now);
  const user = { email, emailVerified: emailVerifiedAt !== null, username };
  return { session, now, live: session.expiresAt > now && !idle, idle, idleExpiresAt, user };
}

/** A session as statements read it, with the names of its user and the time. */
export type SessionRow = Session & {
  now: Date;
  email: string | null;
  emailVerifiedAt: Date | null;
  username: string | null;
};

/**
 * The columns of a `SessionRow`, of rows `s`, `e` and `n` of `sessions`, `emails` and `usernames`.
 *
 * @param shift SQL for the milliseconds of `clockText`
 * @param prefix of their names
 */
export const sessionRowText = (shift: string, prefix = "") =>
  [
    ...Object.entries(sessionColumns).map(([name, column]) => [`s.${column.name}`, name]),
    [clockText(shift), "now"],
    ["e.address", "email"],
    ["e.verified_at", "emailVerifiedAt"],
    ["n.username", "username"],
  ]
    .map(([value, name]) => `${value} as "${prefix}${name}"`)
    .join(", ");

/** Text, because each request with a session runs it, and the mapper would double what it costs here. */
const sessionTextWith = (more = "") => `
  select ${sessionRowText("$3")}${more}
  from sessions s
  left join emails e on e.tenant_id = $1 and e.user_id = s.user_id and e.is_primary
  left join usernames n on n.tenant_id = $1 and n.user_id = s.user_id
  where s.tenant_id = $1 and s.id = $2`;

const sessionText = sessionTextWith();

const positionedText = sessionTextWith(`, ${positionText} as position`);

function lastAuthenticationAt(factors: readonly Factor[]): Date | null {
  const times = factors.map(({ at }) => Date.parse(at));
  return times.length > 0 ? new Date(Math.max(...times)) : null;
}

async function signToken(
  context: TenantContext<Process>,
  session: Session,
  user: UserClaims,
  { now, rememberMe, carrier }: { now: Date; rememberMe: boolean; carrier: TokenCarrier },
): Promise<{ issued: IssuedSession; claims: SessionClaims }> {
  const { runtime, tenant } = context;
  const claims = tokenClaims(tenant, session);
  const custom = await templateClaims(context, { ...user, id: session.userId });
  const signingKeys = runtime.signingKeys.of(tenant);
  const token = await signingKeys.sign(
    { ...custom, ...claims },
    {
      typ: session.impersonation ? IMPERSONATION_TOKEN_TYPE : SESSION_TOKEN_TYPE,
      parameters: carrier === "cookie" ? { [IN_COOKIE]: true } : {},
    },
  );
  const { retention } = tenant.config.session.cookie;
  const issued: IssuedSession = {
    id: session.id,
    token,
    lifetimeSeconds: Math.ceil((session.expiresAt.getTime() - now.getTime()) / 1000),
    retention: retention === "session" || (retention === "prompt" && !rememberMe) ? "session" : "persistent",
    expiresAt: session.expiresAt,
    isBound: session.boundKey !== null,
    isImpersonated: session.impersonation !== null,
  };
  return { issued, claims: clientClaims(claims, user, custom) };
}
