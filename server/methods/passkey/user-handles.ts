import { and, eq, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { bytesOf } from "#db/json-row";
import type { Part } from "#db/part";
import { prepared } from "#db/prepared";
import { runTogether } from "#db/together";
import type { RequestContext } from "../../context/context.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import type { CredentialId } from "../../webauthn/credential-record.ts";
import { legacyUserHandle, newUserHandle } from "../../webauthn/user-handle.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases;

const { userHandles, webauthnCredentials: credentials } = schema;

/** How long the handle of a registration is kept behind its flow, if no account has come of it. */
const PENDING_SECONDS = 7 * 24 * 3600;

const selectState = prepared("creation_state", (db) => {
  const [tenantId, userId] = [sql.placeholder("tenantId"), sql.placeholder("userId")];
  return db
    .select({
      handle: userHandles.handle,
      id: credentials.id,
      transports: credentials.transports,
      mfaOnly: credentials.mfaOnly,
      userHandle: credentials.userHandle,
    })
    .from(sql`(select) as one`)
    .leftJoin(userHandles, and(eq(userHandles.tenantId, tenantId), eq(userHandles.userId, userId)))
    .leftJoin(credentials, and(eq(credentials.tenantId, tenantId), eq(credentials.userId, userId)))
    .orderBy(credentials.createdAt, credentials.id);
});

/**
 * Returns what the options for a new passkey or security key of an account depend on.
 *
 * The handle is made with the first one, and stored at once, outside of the step's transaction: of two ceremonies that begin
 * together, both must offer the same one. An account that has credentials of a former version goes on with their handle,
 * so that an authenticator treats all of them as one account's.
 *
 * @param userId the account, or the one that a registration is about to create
 * @returns `handle`: `user.id`; `existing`: the account's credentials, oldest first
 */
export async function creationState(
  context: RequestContext<Process>,
  userId: string,
): Promise<{ handle: Buffer; existing: CredentialId[] }> {
  const { runtime, tenant } = context;
  const rows = await selectState(runtime.database.read).execute({ tenantId: tenant.id, userId });
  const existing = rows.flatMap(({ id, transports, mfaOnly }) =>
    id === null ? [] : [{ id, transports: transports ?? [], mfaOnly: mfaOnly ?? false }],
  );
  const isLegacy = rows.some(({ id, userHandle }) => id !== null && userHandle === null);
  const stored = rows[0]?.handle ?? (isLegacy ? legacyUserHandle(userId) : null);
  return { handle: stored ?? (await madeHandle(context, userId)), existing };
}

const makeText = `made as (
  insert into user_handles (tenant_id, user_id, handle, expires_at) values ($1, $2, $3, $4)
  on conflict (tenant_id, user_id) do update set expires_at = greatest(user_handles.expires_at, excluded.expires_at)
  returning handle)`;

async function madeHandle(
  { runtime, tenant, now }: RequestContext<Process>,
  userId: string,
): Promise<Buffer> {
  const expiresAt = new Date(now.getTime() + (tenant.config.flow.lifetime + PENDING_SECONDS) * 1000);
  const part: Part = {
    name: "made",
    text: makeText,
    values: [tenant.id, userId, newUserHandle(runtime.platform), expiresAt],
    returns: "(select handle::text from made)",
  };
  const { made } = await runTogether<{ made: string }>(runtime.database, [part]);
  if (made === undefined) throw new Error("a user handle was neither found nor made");
  return bytesOf(made);
}
