import { type SQL, sql } from "drizzle-orm";
import { type ClaimPool, claimWork } from "#db/claim";
import { databaseNow } from "#db/clock";
import { isDistributed } from "#db/distribution";
import { isNodeUnreachable } from "#db/errors";
import { statementOf } from "#db/prepared";
import { forReachableTenants } from "../database/reachable-tenants.ts";
import type { ReceiverLoad } from "./receiver-load.ts";

/** A delivery in hand, with what is sent. */
export interface ClaimedDelivery {
  tenantId: string;
  id: string;
  /** Id of a stored webhook, or of one of the configuration. */
  webhook: string;
  attempts: number;
  /** Identifies the claim: another process that takes the delivery over sets another time. */
  claimedUntil: Date;
  /** Time of the claim, by the database's clock. */
  now: Date;
  /** Null if the event is purged. */
  event: {
    id: string;
    name: string;
    sequence: number;
    /** See `db/schema/webhooks.ts`. */
    traceparent: string | null;
    data: Record<string, unknown> | null;
    sealedData: Buffer | null;
    createdAt: Date;
  } | null;
  /** Null for a webhook of the configuration, and for one that was deleted. */
  stored: {
    callback: string;
    enabled: boolean;
    sealedSecret: Buffer;
    /** Null unless it still signs. */
    sealedPreviousSecret: Buffer | null;
  } | null;
}

/**
 * Seconds after which a claim of a killed process ends. Longer than an exchange and the write of its result.
 */
const LEASE_SECONDS = 15;

/** Whether a delivery `d` is due, and in no other hands. */
const isDue = (now: SQL) => sql`
  d.state = 'waiting' and d.due_at <= ${now} and (d.claimed_until is null or d.claimed_until < ${now})`;

/**
 * Whether a delivery `d` may be claimed: it is due, and no earlier event of its subject waits for its first attempt at the
 * same webhook.
 *
 * @param tenant the tenant of `d`
 */
const isClaimable = (now: SQL, tenant: SQL) => sql`
  ${isDue(now)}
  and (d.subject_id is null or d.attempts > 0 or not exists (
    select 1 from webhook_deliveries e
    where e.tenant_id = ${tenant} and e.webhook = d.webhook and e.subject_id = d.subject_id
      and e.sequence < d.sequence and e.state = 'waiting' and e.attempts = 0))`;

/** What claims the due deliveries of all receivers but listeners. */
type ClaimDue = (
  database: ClaimPool,
  limit: number,
  load: Pick<ReceiverLoad, "limits" | "freeSlow">,
  /** See `Platform.clockShift`. */
  clockShift: number,
) => Promise<ClaimedDelivery[]>;

/**
 * Claims due deliveries. Tenants take turns at random, and so do the receivers of each, each up to its free places; the
 * places of slow ones are limited together.
 */
export const claimDue: ClaimDue = async (database, ...given) => {
  const claimed = (await isDistributed(database)) ? claimByReceivers : claimTogether;
  return claimed(database, ...given);
};

/** Receivers that one search finds in a distributed database. */
const MAX_FOUND = 1_000;

/** The same in a distributed database, whose nodes hold the deliveries of some tenants each: no statement claims of all. */
const claimByReceivers: ClaimDue = async (database, limit, load, clockShift) => {
  const now = databaseNow(clockShift);
  const { rows: found } = await forReachableTenants(database, (within) =>
    database.claim.execute<{ tenantId: string; webhook: string }>(sql`
      select d.tenant_id as "tenantId", d.webhook from webhook_deliveries d
      where ${isDue(now)} and ${within(sql`d.tenant_id`)} and not exists (
        select 1 from webhooks w where w.tenant_id = d.tenant_id and w.is_listener and w.id::text = d.webhook)
      group by d.tenant_id, d.webhook order by random() limit ${MAX_FOUND}::int`),
  );
  const limits = new Map(load.limits().map((one) => [`${one.tenant_id} ${one.webhook}`, one]));
  let free = limit;
  let freeSlow = load.freeSlow();
  const claimed: ClaimedDelivery[] = [];
  for (const receiver of inTurn(found)) {
    const known = limits.get(`${receiver.tenantId} ${receiver.webhook}`) ?? { free: 1, fast: false };
    const places = Math.min(known.free, free, known.fast ? free : freeSlow);
    if (places <= 0) continue;
    // What was claimed before must be delivered: a node that goes down between ends the search alone.
    const ofOne = await claimOf(database, { ...receiver, limit: places }, clockShift).catch(
      (error: unknown) => {
        if (isNodeUnreachable(error)) return [];
        throw error;
      },
    );
    claimed.push(...ofOne);
    free -= ofOne.length;
    if (!known.fast) freeSlow -= ofOne.length;
    if (free === 0) break;
  }
  return claimed;
};

/** Receivers in an order in which tenants take turns at random, and so do the receivers of each. */
function inTurn<Receiver extends { tenantId: string }>(receivers: readonly Receiver[]): Receiver[] {
  const shuffled = receivers
    .map((receiver) => ({ receiver, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at);
  const turns = new Map<string, number>();
  return shuffled
    .map(({ receiver, at }) => {
      const turn = turns.get(receiver.tenantId) ?? 0;
      turns.set(receiver.tenantId, turn + 1);
      return { receiver, turn, at };
    })
    .toSorted((one, other) => one.turn - other.turn || one.at - other.at)
    .map(({ receiver }) => receiver);
}

/** The same in one statement. */
const claimTogether: ClaimDue = (database, limit, load, clockShift) => {
  const now = databaseNow(clockShift);
  const due = (isFast: boolean, places: number) => sql`
    select c.tenant_id, c.id from (
      select * from receivers where fast = ${isFast}
      order by row_number() over (partition by tenant_id order by random()), random()) h
    cross join lateral (
      select d.tenant_id, d.id from webhook_deliveries d
      where d.tenant_id = h.tenant_id and d.webhook = h.webhook and ${isClaimable(now, sql`d.tenant_id`)}
      order by d.due_at, d.sequence limit h.free for update skip locked) c
    limit ${places}::int`;
  return claim(
    database,
    "claim_deliveries",
    sql`
      recursive heads as (
        (select tenant_id, webhook from webhook_deliveries where state = 'waiting' order by tenant_id, webhook limit 1)
        union all
        select n.tenant_id, n.webhook from heads h cross join lateral (
          select d.tenant_id, d.webhook from webhook_deliveries d
          where d.state = 'waiting' and (d.tenant_id, d.webhook) > (h.tenant_id, h.webhook)
          order by d.tenant_id, d.webhook limit 1) n),
      receivers as (
        select h.tenant_id, h.webhook, coalesce(l.free, 1) as free, coalesce(l.fast, false) as fast
        from heads h
        left join jsonb_to_recordset(${JSON.stringify(load.limits())}::jsonb)
          as l (tenant_id uuid, webhook text, free int, fast boolean) using (tenant_id, webhook)
        where coalesce(l.free, 1) > 0 and not exists (
          select 1 from webhooks w where w.tenant_id = h.tenant_id and w.is_listener and w.id::text = h.webhook)),
      fast as (${due(true, limit)}),
      slow as (${due(false, Math.min(limit, load.freeSlow()))}),
      due as (select * from fast union all select * from slow limit ${limit}::int)`,
    now,
    null,
  );
};

/** Claims the due deliveries of one webhook: those of a listener, which the server leaves to it. */
export function claimOf(
  database: ClaimPool,
  { tenantId, webhook, limit }: { tenantId: string; webhook: string; limit: number },
  clockShift: number,
): Promise<ClaimedDelivery[]> {
  const now = databaseNow(clockShift);
  const tenant = sql`${tenantId}::uuid`;
  return claim(
    database,
    "claim_deliveries_of_one",
    sql`
      due as (
        select d.tenant_id, d.id from webhook_deliveries d
        where d.tenant_id = ${tenant} and d.webhook = ${webhook} and ${isClaimable(now, tenant)}
        order by d.due_at, d.sequence limit ${limit}::int for update skip locked)`,
    now,
    tenant,
  );
}

type ClaimedEvent = NonNullable<ClaimedDelivery["event"]>;
type ClaimedWebhook = NonNullable<ClaimedDelivery["stored"]>;

/** A delivery as the statement returns it, with the members of event and webhook beside its own. */
type Row = Omit<ClaimedDelivery, "event" | "stored"> &
  Omit<ClaimedEvent, "id" | "sequence"> &
  Omit<ClaimedWebhook, "callback"> & { eventId: string | null; sequence: string; callback: string | null };

/**
 * @param due common table expressions, the last one `due (tenant_id, id)`
 * @param tenant the tenant, if they are of one
 */
async function claim(
  database: ClaimPool,
  name: string,
  due: SQL,
  now: SQL,
  tenant: SQL | null,
): Promise<ClaimedDelivery[]> {
  const ofClaimed = tenant ?? sql`c.tenant_id`;
  const statement = statementOf(
    name,
    sql`
    with ${due},
    claimed as (
      update webhook_deliveries d set claimed_until = ${now} + ${LEASE_SECONDS}::int * interval '1 second'
      from due where d.tenant_id = ${tenant ?? sql`due.tenant_id`} and d.id = due.id
      returning d.*)
    select c.tenant_id as "tenantId", c.id, c.webhook, c.attempts, c.claimed_until as "claimedUntil", ${now} as now,
      e.id as "eventId", e.name, e.sequence, e.traceparent, e.data, e.sealed_data as "sealedData", e.created_at as "createdAt",
      w.callback, w.enabled, w.sealed_secret as "sealedSecret",
      case when w.previous_secret_expires_at > ${now} then w.sealed_previous_secret end as "sealedPreviousSecret"
    from claimed c
    left join events e on e.tenant_id = ${ofClaimed} and e.id = c.event_id
    left join webhooks w on w.tenant_id = ${ofClaimed}
      and w.id = case when c.webhook like 'config:%' then null else c.webhook::uuid end
    order by c.sequence`,
  );
  const rows = await claimWork<Row>(database, statement);
  return rows.map(
    ({
      eventId,
      name,
      sequence,
      traceparent,
      data,
      sealedData,
      createdAt,
      callback,
      ...others
    }): ClaimedDelivery => {
      const { enabled, sealedSecret, sealedPreviousSecret, ...delivery } = others;
      return {
        ...delivery,
        event:
          eventId === null
            ? null
            : { id: eventId, name, sequence: Number(sequence), traceparent, data, sealedData, createdAt },
        stored: callback === null ? null : { callback, enabled, sealedSecret, sealedPreviousSecret },
      };
    },
  );
}
