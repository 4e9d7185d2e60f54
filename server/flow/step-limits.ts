import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import { OverloadedError } from "../lib/overloaded-error.ts";
import type { TurnLimits } from "../limits/turns.ts";
import type { Session } from "../objects/session.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import { isOfSession } from "./names.ts";
import { stepCosts } from "./step-costs.ts";
import type { FlowKey, StepCharge, StoredFlow } from "./store.ts";

/**
 * Runs the first statement of a request. At most as many of them run at once as a pool has connections: the statements
 * of steps in progress would otherwise wait behind all new ones, and no step would end in time.
 *
 * @throws OverloadedError if the request has waited too long; nothing is changed
 */
export async function admit<Result>(
  { admission, config }: Runtime,
  statement: () => Promise<Result>,
): Promise<Result> {
  const limits = { running: config.database.pool_size, waiting: Number.POSITIVE_INFINITY };
  const end = await admission.take("flow", limits);
  if (!end) throw new OverloadedError();
  try {
    return await statement();
  } finally {
    end();
  }
}

/** What a step is charged; null if limits are off. */
export function chargeOf({ config }: Tenant, { source }: Client, action: string): StepCharge | null {
  const { enabled, steps_per_source, steps_per_account } = config.rate_limiter;
  if (!enabled) return null;
  return {
    source,
    costs: stepCosts(action),
    perSource: steps_per_source,
    perAccount: steps_per_account,
  };
}

/** Steps of one account that are judged at once, and that wait. */
const accountTurns: TurnLimits = { running: 2, waiting: 8 };

/** Steps of one source outside an account. One source may serve many people. */
const sourceTurns: TurnLimits = { running: 8, waiting: 64 };

/**
 * Whose turns a step takes, one after the other. An account's, if the client has a session of it; before that, one of
 * the account or the identifier at the source, so that the holder of a password or a stranger takes no turn of the owner,
 * and one of the source, so that its steps for many identifiers do not occupy the hasher. An unknown identifier has turns
 * too, so that they do not reveal whether it exists.
 */
export function turnsOf(
  { tenant, client }: Pick<RequestContext, "tenant" | "client">,
  { record }: Pick<StoredFlow, "record">,
): [string, TurnLimits][] {
  const { type, data } = record;
  const { userId, identifier, factors } = data;
  const account = `${tenant.id}/account/${userId}`;
  if (isOfSession(type)) return [[account, accountTurns]];
  const source: [string, TurnLimits] = [`${tenant.id}/source/${client.source}`, sourceTurns];
  if (userId && factors.length > 0) return [[`${account}/${client.source}`, accountTurns], source];
  return identifier
    ? [[`${tenant.id}/identifier/${identifier.value}/${client.source}`, accountTurns], source]
    : [source];
}

/** Takes the turns of a step; null if one of them is not granted. */
export async function takeTurns(
  { turns }: Runtime,
  of: [string, TurnLimits][],
): Promise<(() => void) | null> {
  const ends: (() => void)[] = [];
  const endAll = () => {
    for (const end of ends) end();
  };
  for (const [key, limits] of of) {
    const end = await turns.take(key, limits);
    if (end) ends.push(end);
    else {
      endAll();
      return null;
    }
  }
  return endAll;
}

/** Seconds until a step that was postponed may be repeated. */
export function secondsUntil({ exhaustedUntil, now }: StoredFlow): number {
  return exhaustedUntil ? secondsBetween(now.getTime(), exhaustedUntil.getTime()) : 1;
}

/**
 * The client that a refusal is remembered of: the holders of an account's sessions, else those of a flow. Others at the
 * source are not it, although they share a budget.
 */
function refusedClient({ tenantId, flowId }: FlowKey, session: Session | undefined): string {
  return session ? `account ${tenantId}/${session.userId}` : `flow ${tenantId}/${flowId}`;
}

/**
 * Remembers that a step exceeded a budget.
 *
 * @param factor the factor that it tried to prove, if any
 * @returns whether it is the first such step until the budget is renewed
 */
export function recordRefusal(
  { refusals }: Runtime,
  key: FlowKey,
  session: Session | undefined,
  until: Date,
  factor: string | null,
): boolean {
  return refusals.record(refusedClient(key, session), until.getTime(), factor ?? undefined);
}

/**
 * Returns the seconds for which a step is refused before it claims its flow, because its client goes on although a
 * budget is used up; null if it is not. A flood of steps then costs no statement.
 */
export function refusedFor(
  { refusals, platform }: Runtime,
  key: FlowKey,
  session: Session | undefined,
): number | null {
  const now = Date.now() + platform.clockShift();
  const until = refusals.until(refusedClient(key, session), now);
  return until === null ? null : secondsBetween(now, until);
}

function secondsBetween(now: number, until: number): number {
  return Math.max(1, Math.ceil((until - now) / 1000));
}
