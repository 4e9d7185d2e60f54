import { sql } from "drizzle-orm";
import type { Databases } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { TenantContext } from "../context/context.ts";
import { thisRelease } from "../database/releases.ts";
import { quantile } from "../funnel/durations.ts";
import { NONE, OTHER } from "../funnel/measures.ts";
import { type OutcomeCounts, readOutcomes, readSignInTimes, type SeriesStep } from "../funnel/read-counts.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { type ChannelName, channelNames } from "../messages/channels.ts";
import { outageOf, serverOf } from "../messages/outages.ts";
import { idleSince } from "../sessions/idleness.ts";
import { keepsSms } from "../sms/create-transport.ts";
import type { SmsJob } from "../sms/sms-job.ts";

/** How often something was counted, by name. */
type Tally = Record<string, number>;

/** What happened in a step of time. */
export interface OverviewStep {
  at: string;
  sign_ins: number;
  sign_ups: number;
  failures: number;
  /** The same by method. A sign-in with two factors counts for both. */
  methods: Record<string, { sign_ins: number; sign_ups: number; failures: number }>;
}

/** The numbers of a range of time. */
export interface OverviewNumbers {
  from: string;
  to: string;
  sign_ins: number;
  sign_ups: number;
  failures: number;
  /** From the start of a flow to the sign-in, in milliseconds; null without sign-ins. */
  time_to_sign_in: { median_ms: number | null; p95_ms: number | null };
  /** Steps in which nothing was counted are absent. */
  steps: OverviewStep[];
  failures_by_cause: Tally;
  messages: Record<ChannelName, { sent: number; failed: number }>;
  deliveries: { delivered: number; retried: number; failed: number };
  limits: Tally;
}

/** A number that is counted up to a bound; `more`: it is higher. */
export interface BoundedCount {
  count: number;
  more: boolean;
}

export interface Overview {
  current: OverviewNumbers;
  previous: OverviewNumbers;
  active_sessions: BoundedCount;
  /** Messages that wait to be sent, and since when their server takes none. */
  messages: Record<ChannelName, { waiting: BoundedCount; failing_since: string | null; set_up: boolean }>;
  /** Deliveries that wait for an attempt, and those among them that have failed before. */
  deliveries: { waiting: BoundedCount; failing: number };
  version: { service: string; schema: number };
}

/** Sessions that are counted at most. */
export const MAX_COUNTED_SESSIONS = 100_000;

/** Waiting deliveries that are counted at most. */
export const MAX_COUNTED_WAITING = 10_000;

/** A range of time, and the steps that it is shown in. */
export interface OverviewQuery {
  from: Date;
  to: Date;
  step: SeriesStep;
  flowTypes: readonly string[];
  states: readonly string[];
}

/** The kinds of jobs that send messages. */
type SendingJob = MailJob["name"] | SmsJob["name"];

type OverviewContext = TenantContext<
  Databases & { tenant: Tenant; jobs: Pick<Jobs<{ name: SendingJob }>, "waiting"> }
> & { now: Date };

/**
 * Reads the numbers of a tenant: those of a range of time and of the one before it from the counts by hour, and those of now.
 * The audit log is not read, so that the work does not grow with sign-ins.
 */
export async function readOverview(context: OverviewContext, query: OverviewQuery): Promise<Overview> {
  const { runtime, tenant } = context;
  const { from, to } = query;
  const before = new Date(from.getTime() - (to.getTime() - from.getTime()));
  const counts = await readOutcomes(runtime, { ...query, tenantId: tenant.id, from: before });
  const [earlier, later] = [
    counts.filter(({ at }) => at < from.getTime()),
    counts.filter(({ at }) => at >= from.getTime()),
  ];
  const timesOf = (range: { from: Date; to: Date }) =>
    readSignInTimes(runtime, { ...range, tenantId: tenant.id, flowTypes: query.flowTypes });
  const [current, previous] = [
    { from, to },
    { from: before, to: from },
  ];
  return {
    current: numbersOf(later, await timesOf(current), current),
    previous: numbersOf(earlier, await timesOf(previous), previous),
    active_sessions: await activeSessions(context),
    messages: await waitingMessages(context),
    deliveries: await waitingDeliveries(context),
    version: { service: thisRelease().version, schema: await schemaVersion(runtime) },
  };
}

function numbersOf(
  counts: readonly OutcomeCounts[],
  durations: readonly number[],
  { from, to }: { from: Date; to: Date },
): OverviewNumbers {
  const of = (measure: OutcomeCounts["measure"]) => counts.filter((one) => one.measure === measure);
  const messages = tally(of("message"), ({ name, target }) => `${name} ${target}`);
  const deliveries = tally(of("delivery"), ({ name }) => name);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    sign_ins: total(of("signed_in")),
    sign_ups: total(of("signed_up")),
    failures: total(of("failed")),
    time_to_sign_in: { median_ms: quantile(durations, 0.5), p95_ms: quantile(durations, 0.95) },
    steps: stepsOf(counts),
    failures_by_cause: tally(of("failed"), ({ target }) => target),
    messages: ofChannels((channel) => ({
      sent: messages[`${channel} sent`] ?? 0,
      failed: messages[`${channel} failed`] ?? 0,
    })),
    deliveries: {
      delivered: deliveries.delivered ?? 0,
      retried: deliveries.retried ?? 0,
      failed: deliveries.failed ?? 0,
    },
    limits: tally(of("limited"), ({ name }) => name),
  };
}

const total = (counts: readonly OutcomeCounts[]) => counts.reduce((sum, { count }) => sum + count, 0);

function tally(counts: readonly OutcomeCounts[], nameOf: (of: OutcomeCounts) => string): Tally {
  const tallied = new Map<string, number>();
  for (const one of counts) tallied.set(nameOf(one), (tallied.get(nameOf(one)) ?? 0) + one.count);
  return Object.fromEntries([...tallied].toSorted(([, one], [, other]) => other - one));
}

/** The members that count a measure. */
const membersOf: { readonly [Of in OutcomeCounts["measure"]]?: "sign_ins" | "sign_ups" | "failures" } = {
  signed_in: "sign_ins",
  signed_up: "sign_ups",
  failed: "failures",
};

function stepsOf(counts: readonly OutcomeCounts[]): OverviewStep[] {
  const none = () => ({ sign_ins: 0, sign_ups: 0, failures: 0 });
  const steps = new Map<number, OverviewStep>();
  for (const { measure, at, method, name, count } of counts) {
    const member = membersOf[measure];
    if (!member) continue;
    const step = steps.get(at) ?? { at: new Date(at).toISOString(), ...none(), methods: {} };
    steps.set(at, step);
    step[member] += count;
    const used = member === "failures" ? [method] : [method, name];
    for (const one of new Set(used.filter((one) => one !== NONE && one !== OTHER))) {
      const ofMethod = step.methods[one] ?? none();
      step.methods[one] = ofMethod;
      ofMethod[member] += count;
    }
  }
  return [...steps.values()];
}

const ofChannels = <Value>(make: (channel: ChannelName) => Value) =>
  Object.fromEntries(channelNames.map((channel) => [channel, make(channel)])) as Record<ChannelName, Value>;

const bounded = (count: number, bound: number): BoundedCount => ({
  count: Math.min(count, bound),
  more: count > bound,
});

async function activeSessions({ runtime, tenant, now }: OverviewContext): Promise<BoundedCount> {
  const idle = idleSince(tenant, now);
  const { rows } = await runtime.database.read.execute<{ count: number }>(sql`
    select count(*)::int as count from (
      select 1 from sessions where tenant_id = ${tenant.id} and expires_at > ${now} and impersonation is null
        and ${idle === null ? sql`true` : sql`last_used_at >= ${idle}`}
      limit ${MAX_COUNTED_SESSIONS + 1}) active`);
  return bounded(rows[0]?.count ?? 0, MAX_COUNTED_SESSIONS);
}

/** The kinds of jobs that send the messages of a channel. */
const jobsOf: Record<ChannelName, readonly SendingJob[]> = {
  mail: ["send_mail", "send_newer_mail"],
  sms: ["send_sms"],
};

/** Whether messages of a channel get anywhere: to a server or service, an application, or the mailbox of development. */
const isSetUp: Record<ChannelName, (config: Config) => boolean> = {
  mail: ({ email_delivery, smtp_url, mode }) =>
    !email_delivery.enabled || smtp_url !== undefined || mode === "development",
  sms: (config) =>
    !config.sms_delivery.enabled || config.sms_delivery.account_sid !== undefined || keepsSms(config),
};

async function waitingMessages({ runtime, tenant }: OverviewContext): Promise<Overview["messages"]> {
  const { read } = runtime.database;
  const { counts, more } = await runtime.jobs.waiting(tenant.id);
  const found: Partial<Overview["messages"]> = {};
  for (const channel of channelNames) {
    const outage = await outageOf(read, channel, serverOf(channel, tenant, runtime.tenant));
    const count = jobsOf[channel].reduce((sum, name) => sum + (counts[name] ?? 0), 0);
    found[channel] = {
      waiting: { count, more },
      failing_since: outage?.since.toISOString() ?? null,
      set_up: isSetUp[channel](tenant.config),
    };
  }
  return found as Overview["messages"];
}

async function waitingDeliveries({ runtime, tenant }: OverviewContext): Promise<Overview["deliveries"]> {
  const { rows } = await runtime.database.read.execute<{ count: number; failing: number }>(sql`
    select count(*)::int as count, (count(*) filter (where attempts > 0))::int as failing from (
      select attempts from webhook_deliveries where tenant_id = ${tenant.id} and state = 'waiting'
      limit ${MAX_COUNTED_WAITING + 1}) waiting`);
  const { count = 0, failing = 0 } = rows[0] ?? {};
  return { waiting: bounded(count, MAX_COUNTED_WAITING), failing };
}

/** Returns the number of migrations that the database has. */
async function schemaVersion({ database }: Databases): Promise<number> {
  const { rows } = await database.read.execute<{ count: number }>(
    sql`select count(*)::int as count from drizzle.__drizzle_migrations`,
  );
  return rows[0]?.count ?? 0;
}
