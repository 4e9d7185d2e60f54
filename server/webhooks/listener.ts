import { setTimeout as wait } from "node:timers/promises";
import { and, eq, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { databaseNow } from "#db/clock";
import type { Configured } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { webhookSecretContext } from "../events/seal-contexts.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { deleteDeliveries } from "./abandoned-deliveries.ts";
import { type ClaimedDelivery, claimOf } from "./claim.ts";
import { type Outcome, writeOutcomes } from "./results.ts";

const { webhooks } = schema;

/** The runtime of a process that listens. */
type ListenerRuntime = Configured & Databases & Sealing & OnPlatform;

interface ListenerOptions {
  events: readonly string[];
  /** Signs what is forwarded. */
  secret: string;
  /** Where it is forwarded; null if it is only shown. */
  forward: string | null;
  /** Ends the listening. */
  signal: AbortSignal;
  /** Handles one event. Events of one user come one after the other, in order. */
  take(delivery: ClaimedDelivery): Promise<Outcome>;
}

/** A listener that was killed gets no more events after this time. */
const LIFETIME_SECONDS = 30;

const RENEWAL_INTERVAL_MS = 10_000;

const POLL_INTERVAL_MS = 250;

const MAX_CLAIMED = 20;

/**
 * Listens to the events of a tenant until the signal aborts: through a webhook that expires, is listed nowhere, and whose
 * deliveries this process takes from the database. It needs no address. Nothing of it stays when it ends; what a killed
 * one leaves, servers delete.
 */
export async function listen(
  runtime: ListenerRuntime,
  tenant: Tenant,
  { events, secret, forward, signal, take }: ListenerOptions,
): Promise<void> {
  const { database, platform, vault } = runtime;
  const id = platform.uuid();
  const expiresAt = sql`${databaseNow(platform.clockShift())} + ${LIFETIME_SECONDS}::int * interval '1 second'`;
  const isListener = and(eq(webhooks.tenantId, tenant.id), eq(webhooks.id, id));
  const own = { tenantId: tenant.id, webhook: id };
  const row = {
    tenantId: tenant.id,
    id,
    callback: forward ?? "",
    isListener: true,
    events: events.map((event) => ({ id: platform.uuid(), event })),
    expiresAt,
    sealedSecret: vault.seal(Buffer.from(secret), webhookSecretContext(tenant.id, id)),
  };
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** Servers have deleted the webhook if the machine of the listener slept. */
  async function renew(): Promise<void> {
    if (performance.now() - renewedAt <= RENEWAL_INTERVAL_MS) return;
    const target = [webhooks.tenantId, webhooks.id];
    await database.write
      .insert(webhooks)
      .values(row)
      .onConflictDoUpdate({ target, set: { expiresAt: sql`excluded.expires_at` } });
    renewedAt = performance.now();
  }
  await renew();
  try {
    while (!signal.aborted) {
      await renew();
      const claimed = await claimOf(database, { ...own, limit: MAX_CLAIMED }, platform.clockShift());
      const outcomes = [];
      for (const delivery of claimed) {
        outcomes.push({ delivery, outcome: await take(delivery) });
        // A receiver that does not answer takes seconds for each of them.
        await renew();
      }
      if (outcomes.length > 0) await writeOutcomes(runtime, outcomes);
      else await wait(POLL_INTERVAL_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    await database.write.delete(webhooks).where(isListener);
    await deleteDeliveries(database, own);
  }
}
