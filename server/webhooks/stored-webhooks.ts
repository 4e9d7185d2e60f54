import { and, asc, eq, getTableColumns } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { type AuditedTenant, audit, commandLine } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { Configured } from "../config/schema.ts";
import type { Actor } from "../context/client.ts";
import { currentTime } from "../database/current-time.ts";
import { previousSecretContext, webhookSecretContext } from "../events/seal-contexts.ts";
import type { Sealing } from "../keys/vault.ts";
import { type CallbackRejection, judgeCallback } from "../lib/callback-address.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { deleteDeliveries } from "./abandoned-deliveries.ts";
import { WEBHOOK_LIFETIME_DAYS } from "./results.ts";
import { createWebhookSecret } from "./signature.ts";

const { tenants, webhooks } = schema;

/** A stored webhook without its secret. */
export type StoredWebhook = Omit<
  typeof webhooks.$inferSelect,
  "sealedSecret" | "sealedPreviousSecret" | "isListener"
>;

/** What an operator decides about a webhook. */
export interface WebhookDescription {
  callback: string;
  /** Names of `subscribableNames`; repeated ones count once. */
  events: readonly string[];
}

type Rejected = { ok: false; reason: CallbackRejection };
type TooMany = { ok: false; reason: "too_many" };

/** Webhooks that a tenant may store: each of them gets every event, and may be at one address. */
export const MAX_WEBHOOKS = 100;

type StoreContext = Configured & Databases & OnPlatform & Sealing & AuditOutputs;

/** How long the secret before a rotation signs beside the new one, unless the operator says otherwise. */
export const DEFAULT_OVERLAP_SECONDS = 86_400;

const { sealedSecret, sealedPreviousSecret, isListener, ...columns } = getTableColumns(webhooks);

/** The rows of the webhooks of a tenant. Running listeners are not among them. */
const areWebhooks = (tenant: Pick<AuditedTenant, "id">) =>
  and(eq(webhooks.tenantId, tenant.id), eq(webhooks.isListener, false));

const isWebhook = (tenant: Pick<AuditedTenant, "id">, id: string) =>
  and(areWebhooks(tenant), eq(webhooks.id, id));

const DAY_MS = 86_400_000;

const expiryAfter = (now: Date) => new Date(now.getTime() + WEBHOOK_LIFETIME_DAYS * DAY_MS);

/** Lists the stored webhooks of a tenant, oldest first. */
export async function listWebhooks(
  { database }: Databases,
  tenant: Pick<AuditedTenant, "id">,
): Promise<StoredWebhook[]> {
  return database.read
    .select(columns)
    .from(webhooks)
    .where(areWebhooks(tenant))
    .orderBy(asc(webhooks.createdAt), asc(webhooks.id));
}

/** @returns null if the tenant has no such webhook */
export async function findWebhook(
  { database }: Databases,
  tenant: Pick<AuditedTenant, "id">,
  id: string,
): Promise<StoredWebhook | null> {
  const [found] = await database.read.select(columns).from(webhooks).where(isWebhook(tenant, id));
  return found ?? null;
}

/**
 * Stores a webhook.
 *
 * @param by default: the command line
 * @returns its secret, which cannot be shown again
 */
export async function createWebhook(
  runtime: StoreContext,
  tenant: AuditedTenant,
  { callback, events }: WebhookDescription,
  by: Actor = commandLine,
): Promise<{ ok: true; webhook: StoredWebhook; secret: string } | Rejected | TooMany> {
  const { database, platform, vault } = runtime;
  const judged = judgeIn(runtime, callback);
  if (!judged.ok) return judged;
  const id = platform.uuid();
  const secret = createWebhookSecret(platform);
  const now = await currentTime(runtime);
  const webhook = await database.write.transaction(async (tx) => {
    // Requests at once are counted one after the other.
    await tx.select().from(tenants).where(eq(tenants.id, tenant.id)).for("no key update");
    if ((await tx.$count(webhooks, areWebhooks(tenant))) >= MAX_WEBHOOKS) return null;
    const [inserted] = await tx
      .insert(webhooks)
      .values({
        tenantId: tenant.id,
        id,
        callback,
        events: subscriptions(runtime, events),
        expiresAt: expiryAfter(now),
        sealedSecret: vault.seal(Buffer.from(secret), webhookSecretContext(tenant.id, id)),
      })
      .returning(columns);
    await audit({ runtime, tenant, client: by, now }, "webhook_created", { webhook: id })(tx);
    return inserted as StoredWebhook;
  });
  return webhook ? { ok: true, webhook, secret } : { ok: false, reason: "too_many" };
}

/**
 * Changes a webhook. Its failures and its expiry begin anew.
 *
 * @returns null if the tenant has no such webhook
 */
export async function updateWebhook(
  runtime: StoreContext,
  tenant: AuditedTenant,
  id: string,
  { callback, events, enabled }: WebhookDescription & { enabled: boolean },
  by: Actor = commandLine,
): Promise<{ ok: true; webhook: StoredWebhook } | Rejected | null> {
  const judged = judgeIn(runtime, callback);
  if (!judged.ok) return judged;
  const now = await currentTime(runtime);
  return runtime.database.write.transaction(async (tx) => {
    const [before] = await tx.select(columns).from(webhooks).where(isWebhook(tenant, id)).for("update");
    if (!before) return null;
    // A subscription that stays keeps its id.
    const kept = before.events.filter(({ event }) => events.includes(event));
    const added = events.filter((event) => !kept.some((each) => each.event === event));
    const [updated] = await tx
      .update(webhooks)
      .set({
        callback,
        enabled,
        events: [...kept, ...subscriptions(runtime, added)],
        failures: 0,
        expiresAt: expiryAfter(now),
        updatedAt: now,
      })
      .where(isWebhook(tenant, id))
      .returning(columns);
    await audit({ runtime, tenant, client: by, now }, "webhook_changed", { webhook: id, enabled })(tx);
    return { ok: true, webhook: updated as StoredWebhook } as const;
  });
}

/** Deliveries that the deletion of a webhook deletes itself; the purge deletes the others. */
const MAX_DELETED_AT_ONCE = 20_000;

/** Deletes a webhook with its deliveries. @returns false if the tenant has no such webhook */
export async function deleteWebhook(
  runtime: StoreContext,
  tenant: AuditedTenant,
  id: string,
  by: Actor = commandLine,
): Promise<boolean> {
  const now = await currentTime(runtime);
  const isDeleted = await runtime.database.write.transaction(async (tx) => {
    const deleted = await tx.delete(webhooks).where(isWebhook(tenant, id)).returning({ id: webhooks.id });
    if (deleted.length === 0) return false;
    await audit({ runtime, tenant, client: by, now }, "webhook_deleted", { webhook: id })(tx);
    return true;
  });
  if (isDeleted)
    await deleteDeliveries(
      runtime.database,
      { tenantId: tenant.id, webhook: id },
      { limit: MAX_DELETED_AT_ONCE },
    );
  return isDeleted;
}

/**
 * Replaces the secret. The one before it signs too until the overlap ends; the one before that no more.
 *
 * @returns the new secret, which cannot be shown again; null if the tenant has no such webhook
 */
export async function rotateWebhookSecret(
  runtime: StoreContext,
  tenant: AuditedTenant,
  id: string,
  overlapSeconds: number,
  by: Actor = commandLine,
): Promise<{ webhook: StoredWebhook; secret: string } | null> {
  const { database, platform, vault } = runtime;
  const now = await currentTime(runtime);
  const secret = createWebhookSecret(platform);
  return database.write.transaction(async (tx) => {
    const [row] = await tx
      .select({ sealedSecret: webhooks.sealedSecret })
      .from(webhooks)
      .where(isWebhook(tenant, id))
      .for("update");
    if (!row) return null;
    const overlaps = overlapSeconds > 0;
    const before = vault.unseal(row.sealedSecret, webhookSecretContext(tenant.id, id));
    const [updated] = await tx
      .update(webhooks)
      .set({
        sealedSecret: vault.seal(Buffer.from(secret), webhookSecretContext(tenant.id, id)),
        sealedPreviousSecret: overlaps ? vault.seal(before, previousSecretContext(tenant.id, id)) : null,
        previousSecretExpiresAt: overlaps ? new Date(now.getTime() + overlapSeconds * 1_000) : null,
        updatedAt: now,
      })
      .where(isWebhook(tenant, id))
      .returning(columns);
    await audit({ runtime, tenant, client: by, now }, "webhook_secret_rotated", { webhook: id })(tx);
    return { webhook: updated as StoredWebhook, secret };
  });
}

function judgeIn({ config }: Configured, callback: string): { ok: true } | Rejected {
  return judgeCallback(callback, { allowPrivate: config.webhooks.allow_private_targets });
}

function subscriptions({ platform }: OnPlatform, events: readonly string[]) {
  return [...new Set(events)].map((event) => ({ id: platform.uuid(), event }));
}
