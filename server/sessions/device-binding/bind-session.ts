import { and, eq, gt, isNull, lt, or } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { clockText } from "#db/clock";
import { queryPrepared } from "#db/prepared";
import type { BoundKey } from "#db/schema/sessions";
import { audit } from "../../audit/audit.ts";
import type { AuditOutputs } from "../../audit/audit-output.ts";
import type { ClientContext, TenantContext } from "../../context/context.ts";
import { emit, type WakesWebhooks } from "../../events/emit.ts";
import type { BindingRejection } from "../../failures/device-binding.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import { randomToken } from "../../lib/random-token.ts";
import { sha256 } from "../../lib/sha256.ts";
import { type Session, sessionColumns } from "../../objects/session.ts";
import { idleLimit } from "../idleness.ts";
import { lifetimeMs } from "./binding.ts";
import type { OpenedChallenge } from "./challenge.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases;

const { sessions } = schema;

/**
 * Binds a session to a key.
 *
 * @returns the value of the bound cookie; null if the session has ended, or is bound already
 */
export async function bindSession(
  context: ClientContext<Process & AuditOutputs & WakesWebhooks>,
  { sessionId, issuedAt }: OpenedChallenge,
  key: BoundKey,
): Promise<string | null> {
  const { runtime, tenant, now } = context;
  const value = randomToken(runtime.platform);
  return runtime.database.write.transaction(async (tx) => {
    const [bound] = await tx
      .update(sessions)
      .set({
        boundKey: key,
        boundSince: now,
        boundAt: now,
        boundHash: sha256(value),
        boundChallengeAt: issuedAt,
      })
      .where(
        and(
          eq(sessions.tenantId, tenant.id),
          eq(sessions.id, sessionId),
          isNull(sessions.boundKey),
          gt(sessions.expiresAt, now),
        ),
      )
      .returning(sessionColumns);
    if (!bound) return null;
    await audit(context, "session_bound", { session_id: bound.id }, bound.userId)(tx);
    await emit(context, "session.binding.create", bound)(tx);
    return value;
  });
}

/**
 * Renews the bound cookie of a session, by one statement.
 *
 * @param challenge its proof was verified
 * @returns the new value; `stale` if this challenge, or a later one, was used already; `ended` if the session is over
 */
export async function renewBinding(
  { runtime, tenant }: TenantContext<Process>,
  { sessionId, issuedAt }: OpenedChallenge,
): Promise<{ value: string } | "stale" | "ended"> {
  const { database, platform } = runtime;
  const value = randomToken(platform);
  const values = [
    tenant.id,
    sessionId,
    sha256(value),
    platform.clockShift(),
    issuedAt,
    idleLimit(tenant),
    lifetimeMs(tenant.config),
  ];
  const query = { name: "renew_binding", text: renewText, values };
  const [row] = await queryPrepared<{ live: boolean; renewed: boolean }, "claim">(database, "claim", query);
  if (row?.renewed) return { value };
  return row?.live ? "stale" : "ended";
}

/** The cookie before stays valid for requests under way, unless its time is over. */
const renewText = `
  with clock as materialized (select ${clockText("$4")} as now),
  held as materialized (
    select s.tenant_id, s.id from sessions s, clock
    where s.tenant_id = $1 and s.id = $2 and s.bound_key is not null and s.expires_at > clock.now
      and ($6::float8 is null or s.last_used_at >= clock.now - $6 * interval '1 millisecond')),
  renewed as (
    update sessions s set bound_hash = $3, bound_at = clock.now, bound_challenge_at = $5,
      bound_hash_before = case when s.bound_at > clock.now - $7::float8 * interval '1 millisecond' then s.bound_hash end
    from held, clock
    where s.tenant_id = $1 and s.id = $2 and held.id = s.id and s.bound_challenge_at < $5::timestamptz
    returning s.id)
  select exists (select from held) as live, exists (select from renewed) as renewed`;

/**
 * Records that a session cookie came without its bound cookie: it was stolen, or the browser cannot renew. Once for each
 * session in the lifetime of a bound cookie, because the holder of the cookie can send it without end.
 *
 * @param reason what the request says of it
 */
export async function recordRefusal(
  context: ClientContext<Process & AuditOutputs & WakesWebhooks>,
  session: Session,
  reason: BindingRejection,
): Promise<void> {
  const { runtime, tenant, now } = context;
  const recent = new Date(now.getTime() - lifetimeMs(tenant.config));
  if (session.boundRefusedAt && session.boundRefusedAt > recent) return;
  await runtime.database.write.transaction(async (tx) => {
    const [refused] = await tx
      .update(sessions)
      .set({ boundRefusedAt: now })
      .where(
        and(
          eq(sessions.tenantId, tenant.id),
          eq(sessions.id, session.id),
          or(isNull(sessions.boundRefusedAt), lt(sessions.boundRefusedAt, recent)),
        ),
      )
      .returning(sessionColumns);
    if (!refused) return;
    await audit(context, "session_binding_rejected", { session_id: refused.id, reason }, refused.userId)(tx);
    await emit(context, "session.binding.refused", refused)(tx);
  });
}
