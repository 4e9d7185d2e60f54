import { and, desc, eq, gt, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";
import { LOCK_ORDER } from "#db/artifact-lock-order";
import { type Databases, schema, type Transaction } from "#db/client";
import { clockText } from "#db/clock";
import { ConflictError } from "#db/errors";
import { queryPrepared } from "#db/prepared";
import type { Write } from "#db/write";
import type { TenantContext } from "../context/context.ts";
import { lockUser } from "../identity/lock-user.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { identifierHash } from "./identifier-hash.ts";
import { DOCUMENT_KEPT_SECONDS } from "./unlisted-clients.ts";
import {
  type Permissions,
  permissions,
  together,
  type WaitingAuthorization,
} from "./waiting-authorization.ts";

const { openidArtifacts, openidConsents, sessions } = schema;

/** What a user has allowed an application. */
export interface Consent {
  allowed: Permissions;
  /** When it has to be asked for again; null for an application that the operator has listed. */
  endsAt: Date | null;
}

/** Reads what a user has allowed an application; null: nothing yet, or not any more. */
export async function findConsent(
  { runtime, tenant }: TenantContext<Databases & OnPlatform>,
  userId: string,
  clientId: string,
): Promise<Consent | null> {
  const values = [tenant.id, userId, clientId, runtime.platform.clockShift()];
  const query = { name: "openid_consent", text: findText, values };
  const [row] = await queryPrepared<ConsentRow, "read">(runtime.database, "read", query);
  return row ? consentIn(row) : null;
}

/**
 * Reads what a user has allowed an application once no end of its access is being written. What was written before is then
 * deleted by that end, if there is one.
 */
export async function findSettledConsent(
  { runtime, tenant }: TenantContext<Databases & OnPlatform>,
  userId: string,
  clientId: string,
): Promise<Consent | null> {
  const values = [tenant.id, userId, clientId, runtime.platform.clockShift()];
  const text = `${findText} for key share`;
  const { rows } = await runtime.database.write.$client.query<ConsentRow>(text, values);
  return rows[0] ? consentIn(rows[0]) : null;
}

const consentIn = ({ allowed, expires_at }: ConsentRow): Consent => ({
  allowed: permissions.parse(allowed),
  endsAt: expires_at,
});

interface ConsentRow {
  allowed: unknown;
  expires_at: Date | null;
}

const findText = `
  select allowed, expires_at from openid_consents
  where tenant_id = $1 and user_id = $2 and client_id = $3 and (expires_at is null or expires_at > ${clockText("$4")})`;

/** Of the applications that describe themselves, a user's consents to so many are kept: those that were given last. */
const MAX_UNLISTED = 200;

/**
 * Returns the write that allows what a request asks, beside what is allowed already.
 *
 * @returns it throws ConflictError("authorization") if the request is answered or expired
 */
export function allow(
  tenantId: string,
  userId: string,
  authorization: WaitingAuthorization,
  now: Date,
): Write {
  const { request } = authorization;
  return async (tx) => {
    await lockUser(tx, tenantId, userId);
    await takeRequest(tx, tenantId, { request, userId, answer: "allowed", now });
    await keepConsent(tx, tenantId, userId, authorization, now);
  };
}

/**
 * Stores what a user allows an application, beside what is allowed already.
 *
 * @param tx has locked the account
 */
export async function keepConsent(
  tx: Transaction,
  tenantId: string,
  userId: string,
  { clientId, application, asked, lifetime }: WaitingAuthorization,
  now: Date,
): Promise<void> {
  const isOfUser = and(eq(openidConsents.tenantId, tenantId), eq(openidConsents.userId, userId));
  const [before] = await tx
    .select({ allowed: openidConsents.allowed })
    .from(openidConsents)
    .where(
      and(
        isOfUser,
        eq(openidConsents.clientId, clientId),
        or(isNull(openidConsents.expiresAt), gt(openidConsents.expiresAt, now)),
      ),
    );
  const consent = {
    application: application ?? null,
    allowed: before ? together(permissions.parse(before.allowed), asked) : asked,
    expiresAt: lifetime === undefined ? null : new Date(now.getTime() + lifetime * 1000),
    updatedAt: now,
  };
  await tx
    .insert(openidConsents)
    .values({ tenantId, userId, clientId, ...consent, createdAt: now })
    .onConflictDoUpdate({
      target: [openidConsents.tenantId, openidConsents.userId, openidConsents.clientId],
      set: consent,
    });
  if (!application || application.origin === "listed" || lifetime === undefined) return;
  const tooMany = tx
    .select({ clientId: openidConsents.clientId })
    .from(openidConsents)
    .where(and(isOfUser, isNotNull(openidConsents.expiresAt)))
    .orderBy(desc(openidConsents.updatedAt), openidConsents.clientId)
    .offset(MAX_UNLISTED);
  await tx.delete(openidConsents).where(and(isOfUser, inArray(openidConsents.clientId, tooMany)));
  // One that has registered is known for as long as what it was allowed is valid; a document is read again.
  const { kind, seconds } =
    application.origin === "registration"
      ? { kind: "Client", seconds: lifetime }
      : { kind: "MetadataDocument", seconds: DOCUMENT_KEPT_SECONDS };
  const until = new Date(now.getTime() + seconds * 1000).toISOString();
  await tx
    .update(openidArtifacts)
    .set({ expiresAt: sql`greatest(${openidArtifacts.expiresAt}, ${until}::timestamptz)` })
    .where(isArtifact(tenantId, kind, clientId));
}

/**
 * Returns the write by which a request is denied.
 *
 * @returns it throws ConflictError("authorization") if the request is answered or expired
 */
export function deny(
  tenantId: string,
  userId: string,
  { request }: Pick<WaitingAuthorization, "request">,
  now: Date,
): Write {
  return (tx) => takeRequest(tx, tenantId, { request, userId, answer: "denied", now });
}

/** A user's answer to an application that asks for consent. */
export type Answer = "allowed" | "denied";

/** The answer to one that asks for an account: that which is signed in. */
export const CHOSEN = "chosen";

/**
 * Answers a request once, as the user whom it asks.
 *
 * @param userId null for a request that came without a session
 * @param changes more columns of its row
 * @throws ConflictError("authorization") if it is answered or expired
 */
export async function takeRequest(
  tx: Transaction,
  tenantId: string,
  {
    request,
    userId,
    answer,
    now,
  }: { request: string; userId: string | null; answer: Answer | typeof CHOSEN; now: Date },
  changes: { userId?: string; payload?: Buffer } = {},
): Promise<void> {
  const taken = await tx
    .update(openidArtifacts)
    .set({ consumedAt: now, answer, ...changes })
    .where(
      and(
        isArtifact(tenantId, "Interaction", request),
        userId === null ? isNull(openidArtifacts.userId) : eq(openidArtifacts.userId, userId),
        isNull(openidArtifacts.consumedAt),
        gt(openidArtifacts.expiresAt, now),
      ),
    )
    .returning({ idHash: openidArtifacts.idHash });
  if (taken.length === 0) throw new ConflictError("authorization");
}

const isArtifact = (tenantId: string, kind: string, id: string) =>
  and(
    eq(openidArtifacts.tenantId, tenantId),
    eq(openidArtifacts.kind, kind),
    eq(openidArtifacts.idHash, identifierHash(id)),
  );

/**
 * Returns the write that ends the access of an application to an account: what was allowed, every code and token, and what it
 * asks just now. Its next request is as its first.
 */
export function endAccess(tenantId: string, userId: string, clientId: string): Write {
  const isOfClient = (table: typeof openidArtifacts | typeof openidConsents) =>
    and(eq(table.tenantId, tenantId), eq(table.userId, userId), eq(table.clientId, clientId));
  return async (tx) => {
    // In the order in which answers of the user, ends of sessions and redemptions lock: account, sessions, artifacts.
    await lockUser(tx, tenantId, userId);
    const ofSessions = tx
      .select({ id: openidArtifacts.sessionId })
      .from(openidArtifacts)
      .where(isOfClient(openidArtifacts));
    await tx
      .select({ id: sessions.id })
      .from(sessions)
      .where(and(eq(sessions.tenantId, tenantId), inArray(sessions.id, ofSessions)))
      .orderBy(sessions.id)
      .for("key share");
    await tx
      .select({ idHash: openidArtifacts.idHash })
      .from(openidArtifacts)
      .where(isOfClient(openidArtifacts))
      .orderBy(sql.raw(LOCK_ORDER))
      .for("update");
    for (const table of [openidConsents, openidArtifacts]) await tx.delete(table).where(isOfClient(table));
  };
}
