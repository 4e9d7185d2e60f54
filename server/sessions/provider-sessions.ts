import { and, eq, getTableColumns, inArray, isNull, sql } from "drizzle-orm";
import { z } from "zod";
import { type Databases, schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import { ConflictError } from "#db/errors";
import { sealContext } from "#db/schema/table";
import { type Write, type WriteOfParts, writeOf } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { isRandomToken, randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Session } from "../objects/session.ts";
import { lockSessions } from "./lock-sessions.ts";

/**
 * Sessions at the identity providers that users sign in at, for providers at which a sign-out ends the session too. A session
 * has at most one: that of the provider it was signed in at.
 */

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Sealing;

const { providerSessions, sessions } = schema;

/** How long the browser may take to return from the sign-out at a provider. */
const RETURN_SECONDS = 600;

/** How long the flow of a sign-in may take to issue its session after the user has returned from the provider. */
const SIGN_IN_SECONDS = 86_400;

/** The longest ID token that is kept: it is sent in an address, and servers accept some 8 KiB of those. */
const MAX_ID_TOKEN_CHARACTERS = 6000;

/** Of name identifiers and session indexes (SAML Core 2.0, 8.3.7, has 256). */
const MAX_NAME_CHARACTERS = 1024;

const MAX_SESSION_INDEXES = 8;

const name = z.string().min(1).max(MAX_NAME_CHARACTERS);

const openIdSession = z.strictObject({
  /** ID token of the sign-in; absent if the provider issued none, or a longer one than is kept. */
  idToken: z.string().max(MAX_ID_TOKEN_CHARACTERS).optional(),
});

const samlSession = z.strictObject({
  /** The name identifier of the assertion, as it is to be repeated (SAML Core 2.0, 3.7.1). */
  nameId: z.strictObject({
    value: name,
    format: name.optional(),
    nameQualifier: name.optional(),
    spNameQualifier: name.optional(),
  }),
  sessionIndexes: z.array(name).max(MAX_SESSION_INDEXES),
});

/** What a later version stores otherwise is not read. */
const content = z.union([samlSession, openIdSession]).catch({});

/** What a SAML provider knows a session by. */
export type SamlSession = z.output<typeof samlSession>;

/** What a provider knows a session by. */
export type ProviderSession = z.output<typeof content>;

/** Returns what is kept of a sign-in by OpenID Connect or OAuth 2; without an ID token, the client is all that is known. */
export function openIdSessionOf(idToken: string | undefined): ProviderSession {
  const kept = openIdSession.safeParse({ idToken });
  return kept.success ? kept.data : {};
}

/** Returns what is kept of a sign-in by SAML; null if it is longer than is kept, and then the sign-out stays here. */
export function samlSessionOf(stated: SamlSession): ProviderSession | null {
  const kept = samlSession.safeParse(stated);
  return kept.success ? kept.data : null;
}

/** Whether a sign-out ends the session at any provider of a tenant. */
export function endsAnyProviderSession({ third_party, saml }: Pick<Config, "third_party" | "saml">): boolean {
  return (
    third_party.providers.microsoft.rp_initiated_logout ||
    Object.values(third_party.custom_providers).some((provider) => provider.rp_initiated_logout) ||
    saml.identity_providers.some((provider) => provider.single_logout === true)
  );
}

/** Names a session at a provider until a session of this service has it. */
export const handleOf = (exchangeToken: string): string => sha256(exchangeToken).toString("base64url");

/**
 * Stores a session at a provider, and commits.
 *
 * @param about `exchangeToken`: the token by which the sign-in goes on; only its hash is stored
 */
export async function storeProviderSession(
  { database, platform, vault }: Process,
  tenant: Tenant,
  { exchangeToken, provider, session }: { exchangeToken: string; provider: string; session: ProviderSession },
): Promise<void> {
  const id = platform.uuid();
  await database.write.insert(providerSessions).values({
    tenantId: tenant.id,
    id,
    provider,
    handleHash: sha256(exchangeToken),
    nameIdHash: "nameId" in session ? sha256(session.nameId.value) : null,
    sealed: vault.seal(Buffer.from(JSON.stringify(session)), contextOf(tenant, id)),
    expiresAt: sql`${databaseNow(platform.clockShift())} + ${SIGN_IN_SECONDS}::int * interval '1 second'`,
  });
}

const contextOf = ({ id: tenantId }: Tenant, id: string) =>
  sealContext(providerSessions, "sealed", { tenantId, id });

/**
 * Returns the write by which a session that is being issued gets the session at a provider that a handle names; it throws
 * ConflictError("provider_session") if the provider has ended that meanwhile.
 */
export function joinProviderSession(
  { tenant }: { tenant: Tenant },
  { handle, sessionId }: { handle: string; sessionId: string },
): WriteOfParts {
  return writeOf({
    name: "provider_session",
    text: joinText,
    values: [tenant.id, Buffer.from(handle, "base64url"), sessionId],
    refuses: endedText,
  });
}

const joinText = `provider_session as (
  update provider_sessions set (session_id, handle_hash, expires_at) = row($3::uuid, null, null)
  where tenant_id = $1 and handle_hash = $2
  returning id)`;

/** SQL of the handle of a sign-in whose session the provider has ended. */
const endedHandle = (handleHash: string) => `sha256('ended '::bytea || ${handleHash})`;

/** The handle was renamed before this statement, or while it waited for the row. */
const endedText = `case when exists (select 1 from provider_sessions where tenant_id = $1 and handle_hash = ${endedHandle("$2::bytea")})
    or (exists (select 1 from provider_sessions where tenant_id = $1 and handle_hash = $2)
      and not exists (select 1 from provider_session)) then 'provider_session' end`;

/**
 * Returns the write by which a session that its user has reauthenticated in gets the session at the provider that proved it,
 * unless it has one at another provider: a sign-out ends the session at the provider of the sign-in. The session is stored
 * before it. The write throws ConflictError("provider_session") if the provider has ended that meanwhile.
 */
export function renewProviderSession(
  { tenant }: { tenant: Tenant },
  { handle, sessionId }: { handle: string; sessionId: string },
): Write {
  const handleHash = Buffer.from(handle, "base64url");
  return async (tx) => {
    await tx.execute(sql`
      delete from provider_sessions where tenant_id = ${tenant.id} and session_id = ${sessionId} and provider = (
        select provider from provider_sessions where tenant_id = ${tenant.id} and handle_hash = ${handleHash})`);
    const ofTenant = sql`select 1 from provider_sessions where tenant_id = ${tenant.id}`;
    const { rows } = await tx.execute<{ ended: boolean; other: boolean }>(sql`
      select exists (${ofTenant} and handle_hash = ${sql.raw(endedHandle("sign_in.handle"))}) as ended,
        exists (${ofTenant} and session_id = ${sessionId}) as other
      from (select ${handleHash}::bytea as handle) sign_in`);
    if (rows[0]?.ended) throw new ConflictError("provider_session");
    if (!rows[0]?.other) await joinProviderSession({ tenant }, { handle, sessionId })(tx);
  };
}

/**
 * Holds the session at a provider of a session that is replaced by another one of its user.
 *
 * @returns hands it over to the new session, once that is stored, unless that has one of its own
 */
export async function providerSessionOf(
  tx: Transaction,
  tenant: Tenant,
  sessionId: string,
): Promise<(newId: string) => Promise<void>> {
  if (!endsAnyProviderSession(tenant.config)) return async () => {};
  const { rows } = await tx.execute<{ id: string }>(sql`
    with ${heldSession(tenant, sessionId)}
    update provider_sessions set session_id = null
    where tenant_id = ${tenant.id} and session_id in (select id from held) returning id`);
  const [held] = rows;
  if (!held) return async () => {};
  return async (newId) => {
    const ofHeld = sql`tenant_id = ${tenant.id} and id = ${held.id}`;
    const { rows: handed } = await tx.execute(sql`
      update provider_sessions set session_id = ${newId} where ${ofHeld} and not exists (
        select 1 from provider_sessions where tenant_id = ${tenant.id} and session_id = ${newId}) returning 1`);
    if (handed.length === 0) await tx.execute(sql`delete from provider_sessions where ${ofHeld}`);
  };
}

/** Returns the address of this service at which a sign-out goes on at a provider, for any page to open. */
export const providerLogoutUrl = ({ base_url }: Pick<Config, "base_url">, state: string): string =>
  `${base_url}/logout/provider?state=${state}`;

/** A sign-out that goes on at a provider. */
export interface ProviderSignOut {
  provider: string;
  session: ProviderSession;
  /** Where the browser goes on; null for a page of this service. */
  redirectTo: string | null;
}

/**
 * Keeps the session at a provider beyond the end of its session, for the browser to end it there.
 *
 * @param tx ends the session next
 * @param redirectTo where the browser goes on, already checked; null for a page of this service
 * @returns `state` of the sign-out: 43 characters of base64url, valid for ten minutes, stored as a hash; null if there is no
 *   such session
 */
export async function leaveProviderSession(
  tx: Transaction,
  { runtime, tenant }: TenantContext<OnPlatform>,
  { sessionId, redirectTo }: { sessionId: string; redirectTo: string | null },
): Promise<string | null> {
  if (!endsAnyProviderSession(tenant.config)) return null;
  const { platform } = runtime;
  const state = randomToken(platform);
  const { rows } = await tx.execute(sql`
    with ${heldSession(tenant, sessionId)}
    update provider_sessions set session_id = null, handle_hash = ${signOutHash(state)}, redirect_to = ${redirectTo},
      name_id_hash = null,
      expires_at = ${databaseNow(platform.clockShift())} + ${RETURN_SECONDS}::int * interval '1 second'
    where tenant_id = ${tenant.id} and session_id in (select id from held) returning 1`);
  return rows.length > 0 ? state : null;
}

/** Locks a session before what belongs to it, as every end of a session does. */
const heldSession = ({ id: tenantId }: Tenant, sessionId: string) =>
  sql`held as (select id from sessions where tenant_id = ${tenantId} and id = ${sessionId} for update)`;

/** Exchange tokens are hashed otherwise, so none of them is taken for a `state`. */
const signOutHash = (state: string) => sha256(`sign-out ${state}`);

const isLeaving = (tenant: Tenant, state: string, now: Date) =>
  and(
    eq(providerSessions.tenantId, tenant.id),
    eq(providerSessions.handleHash, signOutHash(state)),
    isNull(providerSessions.sessionId),
    sql`${providerSessions.expiresAt} > ${now}`,
  );

/**
 * Reads a sign-out at a provider.
 *
 * @returns null if its `state` is unknown, already taken or older than ten minutes
 */
export async function findProviderSignOut(
  { runtime, tenant }: TenantContext<Process>,
  state: string,
  now: Date,
): Promise<ProviderSignOut | null> {
  if (!isRandomToken(state)) return null;
  // The primary: the browser comes here at once after the sign-out.
  const [found] = await runtime.database.write
    .select()
    .from(providerSessions)
    .where(isLeaving(tenant, state, now));
  return found ? { ...found, session: unsealed({ runtime, tenant }, found) } : null;
}

/** Takes a sign-out at a provider, and commits, so that its `state` is accepted once. Returns where the browser goes on. */
export async function takeProviderSignOut(
  { runtime, tenant }: TenantContext<Databases>,
  state: string,
  now: Date,
): Promise<Pick<ProviderSignOut, "redirectTo"> | null> {
  if (!isRandomToken(state)) return null;
  const [taken] = await runtime.database.write
    .delete(providerSessions)
    .where(isLeaving(tenant, state, now))
    .returning({ redirectTo: providerSessions.redirectTo });
  return taken ?? null;
}

/** The most sessions that one request of a provider ends. */
const MAX_SESSIONS_OF_NAME = 1000;

/** What a provider's request to end sessions names. */
export interface NamedSessions {
  sessions: Pick<Session, "id" | "userId">[];
  /** Ids of the rows of all of them. */
  rows: string[];
  /** Ids of rows: sign-ins that have returned from the provider, and have not issued their session. */
  waiting: string[];
}

/**
 * Finds the sessions that a SAML provider asks to end.
 *
 * @param about `sessionIndexes`: those of the provider's sessions; empty for all of the name identifier (SAML Core 2.0, 3.7.1)
 */
export async function sessionsOfNameId(
  { runtime, tenant }: TenantContext<Process>,
  {
    provider,
    nameId,
    sessionIndexes,
  }: { provider: string; nameId: string; sessionIndexes: readonly string[] },
): Promise<NamedSessions> {
  // The primary: a replica may not have a new session yet.
  const found = await runtime.database.write
    .select({ ...getTableColumns(providerSessions), userId: sessions.userId })
    .from(providerSessions)
    .leftJoin(
      sessions,
      and(eq(sessions.tenantId, providerSessions.tenantId), eq(sessions.id, providerSessions.sessionId)),
    )
    .where(
      and(
        eq(providerSessions.tenantId, tenant.id),
        eq(providerSessions.provider, provider),
        eq(providerSessions.nameIdHash, sha256(nameId)),
      ),
    )
    .orderBy(providerSessions.id)
    .limit(MAX_SESSIONS_OF_NAME);
  const named = found.filter((row) => {
    const session = unsealed({ runtime, tenant }, row);
    const isOfIndex = (index: string) => sessionIndexes.includes(index);
    return "nameId" in session && (sessionIndexes.length === 0 || session.sessionIndexes.some(isOfIndex));
  });
  return {
    sessions: named.flatMap(({ sessionId: id, userId }) => (id && userId ? [{ id, userId }] : [])),
    rows: named.map(({ id }) => id),
    waiting: named.flatMap(({ id, sessionId }) => (sessionId === null ? [id] : [])),
  };
}

/**
 * Ends sign-ins that have not issued their session, so that they will not, and locks the sessions of the others. The
 * sessions come first, as in a reauthentication, which locks its session and then the sign-in that it has waited for.
 *
 * @param tx ends the sessions next
 * @param named as `sessionsOfNameId` has found it
 * @returns the sessions that are to end, in the order of their ids, with those that were issued or replaced meanwhile
 */
export async function takeNamedSessions(
  tx: Transaction,
  { id: tenantId }: Tenant,
  { sessions: known, rows, waiting }: NamedSessions,
): Promise<Pick<Session, "id" | "userId" | "impersonation">[]> {
  const ids = known.map(({ id }) => id);
  const locked = ids.length === 0 ? [] : await lockSessions(tx, tenantId, inArray(sessions.id, ids));
  const isOneOf = (chosen: string[]) =>
    and(eq(providerSessions.tenantId, tenantId), inArray(providerSessions.id, chosen));
  const ended =
    waiting.length === 0
      ? []
      : await tx
          .update(providerSessions)
          .set({ handleHash: sql.raw(endedHandle("handle_hash")), nameIdHash: null })
          .where(and(isOneOf(waiting), isNull(providerSessions.sessionId)))
          .returning({ id: providerSessions.id });
  if (locked.length === known.length && ended.length === waiting.length) return locked;
  const present = await tx
    .select({ id: providerSessions.sessionId })
    .from(providerSessions)
    .where(isOneOf(rows));
  const issued = present.flatMap(({ id }) => (id !== null && !ids.includes(id) ? [id] : []));
  const more = issued.length === 0 ? [] : await lockSessions(tx, tenantId, inArray(sessions.id, issued));
  return [...locked, ...more].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function unsealed(
  { runtime, tenant }: TenantContext<Sealing>,
  { id, sealed }: { id: string; sealed: Buffer },
): ProviderSession {
  return content.parse(JSON.parse(runtime.vault.unseal(sealed, contextOf(tenant, id)).toString()));
}
