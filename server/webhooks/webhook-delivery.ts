import { type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Logger } from "pino";
import type { Database } from "#db/client";
import { auditEntryJson } from "../audit/audit-entry.ts";
import type { AuditOutput } from "../audit/audit-output.ts";
import type { Config } from "../config/schema.ts";
import { outlastOutage } from "../database/outlast-outage.ts";
import type { Standing } from "../database/standing.ts";
import type { Counters } from "../funnel/counters.ts";
import { createBunches } from "../jobs/bunches.ts";
import { describeFailure } from "../jobs/failure.ts";
import { startWorker, type Worker } from "../jobs/worker.ts";
import type { TenantSigningKeys } from "../keys/tenant-signing-keys.ts";
import { isUnknownKey } from "../keys/unknown-key.ts";
import type { Vault } from "../keys/vault.ts";
import type { Platform } from "../lib/platform.ts";
import { beginCaused, defined, within, written } from "../observability/spans.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { type ClaimedDelivery, claimDue } from "./claim.ts";
import { createEventTokens } from "./event-token.ts";
import { type Logouts, prepareDelivery } from "./prepare-delivery.ts";
import type { ReceiverClient } from "./receiver-client.ts";
import { createReceiverLoad, MAX_IN_HAND } from "./receiver-load.ts";
import { type AttemptedDelivery, type Outcome, writeOutcomes } from "./results.ts";
import { pauseAfter } from "./retry-schedule.ts";

/** Delivers the events of all tenants. Each process of a service may. */
export type WebhookDelivery = ReturnType<typeof createWebhookDelivery>;

interface DeliveryOptions {
  database: Database;
  tenants: Pick<Tenants, "byId">;
  vault: Vault;
  signingKeys: TenantSigningKeys;
  platform: Platform;
  config: Pick<Config, "audit_log">;
  auditOutput: AuditOutput | null;
  client: ReceiverClient;
  /** Absent: clients of the OpenID provider are not told of the end of their sessions. */
  logouts?: Logouts;
  /** Once the database has outgrown this version, nothing more is sent; attempts that were sent end. */
  standing: Pick<Standing, "outgrown">;
  counters: Pick<Counters, "count">;
  log: Logger;
}

/** Interval in which due deliveries are looked for without being woken. */
export const POLL_INTERVAL_MS = 2_000;

/** A receiver that accepts an event within this time is fast. */
const FAST_MS = 1_000;

/** Pause of a delivery that this process cannot prepare, for instance for want of a secret key. */
const POSTPONED_SECONDS = 60;

/**
 * The pause after a claim, as a multiple of its duration, within the bounds below. What is committed meanwhile is claimed
 * together. Claims take time from the logins beside them, and more of it where the database is busy or many receivers wait.
 */
const PAUSE_FACTOR = 4;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 100;

/** How long an outcome waits for others that are written with it. */
const COLLECTING_MS = 10;

/** Outcomes of one statement. */
const MAX_OUTCOMES = 100;

export function createWebhookDelivery(options: DeliveryOptions) {
  const { database, client, logouts, platform, log } = options;
  const { outgrown } = options.standing;
  const load = createReceiverLoad();
  const tokens = createEventTokens(options.signingKeys);
  const ending = new AbortController();
  const outcomes = createBunches<AttemptedDelivery, boolean>({
    max: MAX_OUTCOMES,
    waitMs: COLLECTING_MS,
    write: (bunch) => record(options, bunch, ending.signal),
  });
  /**
   * The attempts in hand. A delivery is claimed again if a failover has lost that it was claimed, or its lease ended during an
   * outage: it is not attempted again, and the later claim gets the same outcome.
   */
  const inHand = new Map<string, Promise<Outcome>>();
  let worker: Worker | undefined;
  let isWoken = false;
  let gathering: NodeJS.Timeout | undefined;
  let nextClaimAt = 0;
  let claims = 0;

  const take = async (limit: number): Promise<ClaimedDelivery[]> => {
    if (outgrown.aborted) return [];
    // A failure of theirs holds up no webhook.
    await logouts?.deliver().catch((error: unknown) => {
      log.warn({ failure: describeFailure(error) }, "ended sessions could not be delivered to their clients");
    });
    claims += 1;
    const claimed = await claimDue(database, limit, load, platform.clockShift());
    for (const delivery of claimed) load.begin(delivery);
    return claimed;
  };

  /** Claims, and sets the pause after it. Within a pause, leaves it to a claim at its end. */
  async function takeInTime(limit: number): Promise<ClaimedDelivery[]> {
    const startedAt = performance.now();
    if (startedAt < nextClaimAt) {
      wakeSoon();
      return [];
    }
    try {
      return await take(limit);
    } finally {
      const endedAt = performance.now();
      const pauseMs = PAUSE_FACTOR * (endedAt - startedAt);
      nextClaimAt = endedAt + Math.min(Math.max(pauseMs, MIN_PAUSE_MS), MAX_PAUSE_MS);
    }
  }

  /** Looks for due deliveries: at once, or after the pause of the last claim. */
  function wakeSoon(): void {
    if (!worker || ending.signal.aborted) return;
    gathering ??= setTimeout(
      () => {
        gathering = undefined;
        worker?.wake();
      },
      Math.max(0, Math.ceil(nextClaimAt - performance.now())),
    );
  }

  async function perform(delivery: ClaimedDelivery): Promise<void> {
    let claimsBefore = claims;
    const attempting = inHand.get(delivery.id) ?? outcomeOf(delivery);
    inHand.set(delivery.id, attempting);
    const hasReleased = await outcomes.run(async () => {
      const outcome = await attempting;
      const isFast =
        outcome.kind === "attempted" && !outcome.answer.error && outcome.answer.durationMs < FAST_MS;
      // The place is free before the outcome is written. What waits for the outcome cannot be claimed until then.
      if (load.end(delivery, isFast)) wakeSoon();
      claimsBefore = claims;
      return { delivery, outcome };
    });
    inHand.delete(delivery.id);
    // An event that was committed during the write is held back for a claim before its end, and not seen by the write.
    if (hasReleased || claims !== claimsBefore) wakeSoon();
  }

  async function outcomeOf(delivery: ClaimedDelivery): Promise<Outcome> {
    const { event, attempts } = delivery;
    const attributes = defined({
      "stile.event": event?.name,
      "stile.event.id": event?.id,
      "stile.attempt": attempts + 1,
    });
    const span = beginCaused("delivery", SpanKind.CLIENT, event?.traceparent, attributes);
    const outcome = await within(span, () => attemptOrPostpone(delivery, span));
    if (span) endDelivery(span, outcome);
    return outcome;
  }

  async function attemptOrPostpone(delivery: ClaimedDelivery, span: Span | null): Promise<Outcome> {
    try {
      return await attempt(delivery, span);
    } catch (error) {
      if (!isUnknownKey(error, log))
        log.warn({ ...facts(delivery), failure: describeFailure(error) }, "a delivery could not be prepared");
      return { kind: "postponed", pauseSeconds: POSTPONED_SECONDS };
    }
  }

  async function attempt(delivery: ClaimedDelivery, span: Span | null): Promise<Outcome> {
    const prepared = await prepareDelivery({ ...options, tokens }, delivery);
    // Due at once elsewhere. What was prepared may be wrong: that the webhook is gone, for instance.
    if (outgrown.aborted) return { kind: "postponed", pauseSeconds: 0 };
    if (prepared.kind !== "request") return prepared;
    const sender = (prepared.ofClient ? logouts?.client : null) ?? client;
    const { headers, ...request } = prepared.request;
    // Clients of the provider are services of others.
    const trace = span && !prepared.ofClient ? { traceparent: written(span) } : {};
    const answer = await sender.post({
      ...request,
      headers: { ...headers, ...trace },
      signal: ending.signal,
    });
    if (answer.error === "aborted") return { kind: "postponed", pauseSeconds: 0 };
    const pauseSeconds =
      answer.error === undefined ? null : pauseAfter(delivery.attempts + 1, answer.retryAfterSeconds);
    const line = { ...facts(delivery), event: prepared.name, ...numbers(answer) };
    if (answer.error === undefined) log.debug(line, "event delivered");
    else if (pauseSeconds === null) log.error(line, "delivery of an event was given up");
    else log.warn(line, "delivery of an event failed and will be retried");
    return { kind: "attempted", answer, pauseSeconds };
  }

  return {
    /** Starts to deliver. Without it, `runDue` delivers. */
    start(): void {
      worker = startWorker({
        concurrency: MAX_IN_HAND,
        intervalMs: POLL_INTERVAL_MS,
        take: takeInTime,
        perform,
        onOutage: (error) =>
          error === undefined
            ? log.info("claiming deliveries works again")
            : log.warn({ failure: describeFailure(error) }, "claiming deliveries failed"),
      });
    },
    /** Looks for due deliveries. Call it after the commit of an event. Without `start`, `isWoken` tells it. */
    wake(): void {
      isWoken ||= worker === undefined;
      wakeSoon();
    },
    /** Whether deliveries wait for `runDue`: `wake` was called, or more were due than it made. Always false after `start`. */
    isWoken: () => isWoken,
    /**
     * Makes up to `limit` due attempts and waits for their results, for processes without a worker.
     *
     * @returns the number of attempts
     */
    async runDue(limit: number): Promise<number> {
      isWoken = false;
      let done = 0;
      while (done < limit && !ending.signal.aborted) {
        const claimed = await take(Math.min(limit - done, MAX_IN_HAND));
        if (claimed.length === 0) break;
        done += claimed.length;
        await Promise.all(claimed.map(perform));
      }
      isWoken ||= done >= limit && worker === undefined;
      return done;
    },
    /** Waits up to `timeoutMs` for attempts in hand, then ends them; their deliveries are due at once elsewhere. */
    async stop(timeoutMs: number): Promise<void> {
      const deadline = setTimeout(() => ending.abort(), timeoutMs);
      await worker?.stop();
      clearTimeout(gathering);
      clearTimeout(deadline);
      ending.abort();
      client.close();
      logouts?.client.close();
    },
  };
}

/** Has the span of an attempt tell what became of it. */
function endDelivery(span: Span, outcome: Outcome): void {
  const error = outcome.kind === "attempted" ? outcome.answer.error : undefined;
  const status = outcome.kind === "attempted" ? outcome.answer.status : undefined;
  span.setAttributes(
    defined({ "stile.outcome": outcome.kind, "http.response.status_code": status, "error.type": error }),
  );
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** What a log line says of a delivery: no address and no data, which may be personal. */
function facts({ tenantId, id, webhook, attempts, event }: ClaimedDelivery) {
  return { tenant: tenantId, webhook, delivery: id, eventId: event?.id, attempt: attempts + 1 };
}

const numbers = ({ status, error, durationMs }: { status?: number; error?: string; durationMs: number }) => ({
  status,
  error,
  duration_ms: durationMs,
});

/**
 * Writes outcomes, once the database takes them. What fails otherwise is logged: the deliveries are claimed again when their
 * leases end.
 *
 * @returns whether the statement released deliveries that waited for others
 */
async function record(
  options: DeliveryOptions,
  bunch: readonly AttemptedDelivery[],
  signal: AbortSignal,
): Promise<boolean> {
  const { config, auditOutput, log } = options;
  try {
    const { disabled, hasReleased } = await outlastOutage(() => writeOutcomes(options, bunch), signal);
    for (const attempted of bunch) countAttempt(options, attempted);
    for (const entry of disabled) {
      const { webhook } = entry.details;
      log.error(
        { tenant: entry.tenantId, webhook },
        "a webhook was disabled: too many deliveries in a row failed",
      );
      auditOutput?.(auditEntryJson(entry, config));
    }
    return hasReleased;
  } catch (error) {
    log.warn({ failure: describeFailure(error) }, "results of deliveries could not be written");
    return false;
  }
}

/** Counts an attempt. What was not attempted is not counted. */
function countAttempt(
  { counters, platform }: Pick<DeliveryOptions, "counters" | "platform">,
  { delivery: { tenantId }, outcome }: AttemptedDelivery,
): void {
  if (outcome.kind !== "attempted") return;
  const { answer, pauseSeconds } = outcome;
  const failed = pauseSeconds === null ? "failed" : "retried";
  const name = answer.error === undefined ? "delivered" : failed;
  counters.count(tenantId, {
    measure: "delivery",
    name,
    at: Date.now() + platform.clockShift(),
    durationMs: answer.durationMs,
  });
}
