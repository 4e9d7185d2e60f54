import { and, eq, gt, isNull, lt, not, or, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { clockText } from "#db/clock";
import { queryPrepared } from "#db/prepared";
import type { BoundKey } from "#db/schema/sessions";
import { audit } from "../../audit/audit.ts";
import type { AuditOutputs } from "../../audit/audit-output.ts";
import type { ClientContext, TenantContext } from "../../context/context.ts";
import { runsOtherRelease } from "../../database/instances.ts";
import { emit, type WakesWebhooks } from "../../events/emit.ts";
import type { BindingRejection } from "../../failures/device-binding.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import { randomToken } from "../../lib/random-token.ts";
import { sha256 } from "../../lib/sha256.ts";
import { type Session, sessionColumns } from "../../objects/session.ts";
import { idleLimit } from "../idleness.ts";
import { lifetimeMs, UNDER_WAY_MS } from "./binding.ts";
import type { OpenedChallenge } from "./challenge.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases;

const { sessions } = schema;

/**
 * Binds a session to a key. A registration that a network repeats is answered again, because the browser would give its binding
 * up; another key is refused.
 *
 * @returns the value of the bound cookie; null if the session has ended, or is bound to another key, or servers of another
 *   release run, which would not know the binding
 */
export async function bindSession(
  context: ClientContext<Process & AuditOutputs & WakesWebhooks>,
  { sessionId, issuedAt }: OpenedChallenge,
  key: BoundKey,
): Promise<string | null> {
  const { runtime, tenant, now } = context;
  const value = randomToken(runtime.platform);
  const own = and(eq(sessions.tenantId, tenant.id), eq(sessions.id, sessionId), gt(sessions.expiresAt, now));
  const isRepeated = and(
    sql`${sessions.boundKey} = ${JSON.stringify(key)}::jsonb`,
    eq(sessions.boundChallengeAt, issuedAt),
    gt(sessions.boundAt, new Date(now.getTime() - UNDER_WAY_MS)),
  );
  const cookie = {
    boundHash: sha256(value),
    boundUntil: new Date(now.getTime() + lifetimeMs(tenant.config)),
  };
  return runtime.database.write.transaction(async (tx) => {
    const [bound] = await tx
      .update(sessions)
      .set({ ...cookie, boundKey: key, boundAt: now, boundChallengeAt: issuedAt })
      .where(and(own, isNull(sessions.boundKey), isNull(sessions.impersonation), not(runsOtherRelease)))
      .returning(sessionColumns);
    if (bound) {
      await audit(context, "session_bound", { session_id: bound.id }, bound.userId)(tx);
      await emit(context, "session.binding.create", bound)(tx);
      return value;
    }
    const repeated = await tx
      .update(sessions)
      .set(cookie)
      .where(and(own, isRepeated))
      .returning({ id: sessions.id });
    return repeated.length > 0 ? value : null;
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
    UNDER_WAY_MS,
  ];
  const query = { name: "renew_binding", text: renewText, values };
  const [row] = await queryPrepared<{ live: boolean; renewed: boolean }, "claim">(database, "claim", query);
  if (row?.renewed) return { value };
  return row?.live ? "stale" : "ended";
}

const after = (milliseconds: string) => `${milliseconds}::float8 * interval '1 millisecond'`;

/**
 * The cookie before stays valid for requests under way, if it was valid so far. Times are reckoned beside the update: one that
 * reckons with columns is refused by Citus.
 */
const renewText = `
  with clock as materialized (
    select now, now + ${after("$7")} as bound_until, now - ${after("$8")} as valid_since, now + ${after("$8")} as valid_until
    from (select ${clockText("$4")} as now) moment),
  held as materialized (
    select s.id from sessions s, clock
    where s.tenant_id = $1 and s.id = $2 and s.bound_key is not null and s.expires_at > clock.now
      and ($6::float8 is null or s.last_used_at >= clock.now - ${after("$6")})),
  renewed as (
    update sessions s set bound_hash = $3, bound_until = clock.bound_until, bound_challenge_at = $5,
      previous_bound_hash = s.bound_hash,
      previous_bound_until = case when s.bound_until >= clock.valid_since then clock.valid_until end
    from held, clock
    where s.tenant_id = $1 and s.id = $2 and held.id = s.id and s.bound_challenge_at < $5::timestamptz
    returning s.id)
  select exists (select 1 from held) as live, exists (select 1 from renewed) as renewed`;

/**
 * Records that the session cookie of a bound session came without its bound cookie: it was stolen, or the browser cannot renew.
 * Once for each session in the lifetime of a bound cookie, because the holder of the cookie can send it without end.
 *
 * @param reason what the request says of it
 */
export async function recordRejection(
  context: ClientContext<Process & AuditOutputs & WakesWebhooks>,
  { id, boundKey, bindingRejectedAt }: Session,
  reason: BindingRejection,
): Promise<void> {
  const { runtime, tenant, now } = context;
  const recent = new Date(now.getTime() - lifetimeMs(tenant.config));
  if (!boundKey || (bindingRejectedAt && bindingRejectedAt > recent)) return;
  const isDue = or(isNull(sessions.bindingRejectedAt), lt(sessions.bindingRejectedAt, recent));
  await runtime.database.write.transaction(async (tx) => {
    const [rejected] = await tx
      .update(sessions)
      .set({ bindingRejectedAt: now })
      .where(and(eq(sessions.tenantId, tenant.id), eq(sessions.id, id), isDue))
      .returning(sessionColumns);
    if (!rejected) return;
    await audit(context, "session_binding_rejected", { session_id: id, reason }, rejected.userId)(tx);
    await emit(context, "session.binding.rejected", rejected)(tx);
  });
}
