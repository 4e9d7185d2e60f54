import { z } from "zod";
import { rejectAdmin } from "../../admin/rejections.ts";
import { subscribableEventNames } from "../../config/event-names.ts";
import { logoutAddress } from "../../config/logout-channels.ts";
import type { Tenant } from "../../config/tenant.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { configWebhookId, configWebhooks, receivingClient } from "../../events/config-webhooks.ts";
import {
  findDelivery,
  type ListedDelivery,
  listDeliveries,
  MAX_LISTED,
  MAX_REPLAYED,
  replayDeliveries,
  sendTestEvent,
} from "../../webhooks/delivery-list.ts";
import {
  createWebhook,
  DEFAULT_OVERLAP_SECONDS,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  MAX_WEBHOOKS,
  rotateWebhookSecret,
  type StoredWebhook,
  updateWebhook,
} from "../../webhooks/stored-webhooks.ts";
import { instant, uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { adminOperation, listOperation } from "./admin-operation.ts";

const time = z.iso.datetime({ precision: 3 });

const subscription = z.enum(subscribableEventNames).meta({
  id: "EventSubscription",
  description: "An event, or a part of the name: `user.update` covers `user.update.email.create`.",
});

const webhookObject = z
  .strictObject({
    id: z.guid(),
    callback: z.string(),
    enabled: z.boolean(),
    failures: z
      .int()
      .min(0)
      .describe("Deliveries in a row that were given up. Above 5 the webhook is disabled."),
    expires_at: time.describe(
      "30 days after the last delivery. Effective with `webhooks.allow_time_expiration`.",
    ),
    expires: z.boolean().describe("Whether it expires: `webhooks.allow_time_expiration`."),
    events: z.array(z.strictObject({ id: z.guid(), event: subscription })),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Webhook" });

const webhookWithSecret = webhookObject
  .extend({
    secret: z.string().describe("Signs deliveries (Standard Webhooks). In this answer alone."),
  })
  .meta({ id: "WebhookWithSecret" });

const objectOf = (webhook: StoredWebhook, { config }: Pick<Tenant, "config">) => ({
  id: webhook.id,
  callback: webhook.callback,
  enabled: webhook.enabled,
  failures: webhook.failures,
  expires_at: webhook.expiresAt.toISOString(),
  expires: config.webhooks.allow_time_expiration,
  events: webhook.events as { id: string; event: (typeof subscribableEventNames)[number] }[],
  created_at: webhook.createdAt.toISOString(),
  updated_at: webhook.updatedAt.toISOString(),
});

const described = {
  callback: z
    .string()
    .meta({ format: "uri" })
    .describe("An https address on the public internet, without user or fragment."),
  events: z.array(subscription).min(1).max(100),
};

const states = ["waiting", "delivered", "failed"] as const;

const deliveryObject = z
  .strictObject({
    id: z.guid(),
    webhook_id: z.string(),
    event_id: z.guid().describe("The `webhook-id` header."),
    event: z.string().nullable().describe("Null if the event is older than `webhooks.retention`."),
    subject_id: z.string().nullable().describe("The user whose events are delivered in order."),
    flow_id: z.guid().nullable().describe("The flow that caused the event."),
    state: z.enum(states),
    attempts: z.array(
      z.strictObject({
        number: z.int().min(1),
        at: time,
        duration_ms: z.int().min(0),
        status: z.int().nullable().describe("Status of the answer; null without one."),
        error: z
          .string()
          .nullable()
          .describe(
            "`status`, `redirect`, `timeout`, `address`, `name`, `certificate` or `connection`; null if it succeeded.",
          ),
        answer: z
          .string()
          .nullable()
          .describe("First KiB of the answer; null for an empty or a compressed one."),
      }),
    ),
    next_attempt_at: time.nullable(),
    replay_of: z.guid().nullable(),
    created_at: time,
    finished_at: time.nullable(),
  })
  .meta({ id: "WebhookDelivery" });

/** A delivery alone, which tells what it carries. */
const deliveryWithData = deliveryObject
  .extend({
    data: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        "Data of the event as they are stored; the user is added when it is sent. Null where they are sealed, because they hold a code, or are erased.",
      ),
  })
  .meta({ id: "WebhookDeliveryWithData" });

const deliveryOf = (delivery: ListedDelivery) => ({
  id: delivery.id,
  webhook_id: delivery.webhook,
  event_id: delivery.eventId,
  event: delivery.event,
  subject_id: delivery.subjectId,
  flow_id: delivery.flowId,
  state: delivery.state,
  attempts: delivery.made.map(({ number, at, durationMs, status, error, answer }) => ({
    number,
    at: at.toISOString(),
    duration_ms: durationMs,
    status,
    error,
    answer,
  })),
  next_attempt_at: delivery.state === "waiting" ? delivery.dueAt.toISOString() : null,
  replay_of: delivery.replayOf,
  created_at: delivery.createdAt.toISOString(),
  finished_at: delivery.finishedAt?.toISOString() ?? null,
});

/** Webhooks of the configuration have deliveries too. */
const ofReceiver = {
  id: z
    .union([uuid(), z.string().regex(/^config:(?:[\w-]{22}|client:[\w.~-]{1,64})$/)])
    .describe(
      "Id of a stored webhook, or of one of the configuration: `config:` and a hash of its callback; `config:client:` and the id of a client of the OpenID provider, which is told of the end of its sessions.",
    ),
};

const invalidCallback = (reason: string) =>
  rejectAdmin("invalid", `The body is invalid: callback ${reason}.`);

/** Names a webhook of the tenant for its deliveries; null if there is none. */
async function receiverOf({ runtime, tenant }: HandlerContext, id: string) {
  const client = receivingClient(id);
  const isConfigured = (): boolean =>
    client === null
      ? configWebhooks(tenant.config).some((hook) => hook.id === id)
      : logoutAddress(tenant.config, client, "backchannel_logout_uri") !== null;
  const exists = id.startsWith("config:")
    ? isConfigured()
    : (await findWebhook(runtime, tenant, id)) !== null;
  return exists ? { tenantId: tenant.id, webhook: id } : null;
}

/** Webhooks of the tenant (docs/webhooks.md). */
export const webhookAddresses = [
  adminOperation("GET /admin/webhooks", {
    id: "listWebhooks",
    summary: "List the webhooks, stored and configured ones",
    answers: {
      200: {
        schema: z.strictObject({
          database: z.array(webhookObject),
          config: z.array(
            z.strictObject({
              id: z
                .string()
                .describe("Names the webhook for its deliveries; another callback is another webhook."),
              callback: z.string(),
              events: z.array(subscription),
            }),
          ),
        }),
      },
    },
    perform: async ({ runtime, tenant }) => ({
      database: (await listWebhooks(runtime, tenant)).map((webhook) => objectOf(webhook, tenant)),
      config: tenant.config.webhooks.hooks.map((hook) => ({
        id: configWebhookId(hook),
        callback: hook.callback,
        events: hook.events,
      })),
    }),
  }),
  adminOperation("POST /admin/webhooks", {
    id: "createWebhook",
    // Deliveries hold the codes of mails and SMS.
    roleAtDefaultTenant: "operator",
    summary: "Create a webhook",
    description: "The answer has its secret, which is stored sealed and cannot be shown again.",
    body: z.object(described),
    answers: {
      201: { schema: webhookWithSecret },
      409: `The tenant has ${MAX_WEBHOOKS} webhooks, the most it may have.`,
    },
    async perform({ runtime, tenant, client }, { body }) {
      const created = await createWebhook(runtime, tenant, body, client);
      if (created.ok) return { ...objectOf(created.webhook, tenant), secret: created.secret };
      return created.reason === "too_many"
        ? rejectAdmin("conflict", `A tenant has at most ${MAX_WEBHOOKS} webhooks.`)
        : invalidCallback(created.reason);
    },
  }),
  adminOperation("GET /admin/webhooks/{id}", {
    id: "getWebhook",
    summary: "Get a webhook",
    answers: { 200: { schema: webhookObject } },
    async perform({ runtime, tenant }, { params }) {
      const found = await findWebhook(runtime, tenant, params.id);
      return found && objectOf(found, tenant);
    },
  }),
  adminOperation("PUT /admin/webhooks/{id}", {
    id: "updateWebhook",
    roleAtDefaultTenant: "operator",
    summary: "Change a webhook",
    description: "Sets `failures` to 0, and `expires_at` to 30 days from now.",
    body: z.object({ ...described, enabled: z.boolean() }),
    answers: { 200: { schema: webhookObject } },
    async perform({ runtime, tenant, client }, { params, body }) {
      const updated = await updateWebhook(runtime, tenant, params.id, body, client);
      if (!updated) return null;
      return updated.ok ? objectOf(updated.webhook, tenant) : invalidCallback(updated.reason);
    },
  }),
  adminOperation("DELETE /admin/webhooks/{id}", {
    id: "deleteWebhook",
    roleAtDefaultTenant: "operator",
    summary: "Delete a webhook and its deliveries",
    answers: { 204: "The webhook is deleted." },
    perform: ({ runtime, tenant, client }, { params }) => deleteWebhook(runtime, tenant, params.id, client),
  }),
  adminOperation("POST /admin/webhooks/{id}/rotate_secret", {
    id: "rotateWebhookSecret",
    roleAtDefaultTenant: "operator",
    summary: "Replace the secret of a webhook",
    description: "Until the overlap ends, deliveries are signed with the previous secret too.",
    body: z.object({
      overlap_seconds: z
        .int()
        .min(0)
        .max(30 * 86_400)
        .default(DEFAULT_OVERLAP_SECONDS),
    }),
    answers: { 200: { schema: webhookWithSecret } },
    async perform({ runtime, tenant, client }, { params, body }) {
      const rotated = await rotateWebhookSecret(runtime, tenant, params.id, body.overlap_seconds, client);
      return rotated && { ...objectOf(rotated.webhook, tenant), secret: rotated.secret };
    },
  }),
  adminOperation("POST /admin/webhooks/{id}/test", {
    id: "testWebhook",
    roleAtDefaultTenant: "operator",
    summary: "Deliver an event named test to a webhook",
    description: "Its `data` is empty. The delivery is repeated like any other if it fails.",
    params: ofReceiver,
    answers: { 202: { schema: deliveryObject }, 409: "The webhook is disabled." },
    async perform(context, { params }) {
      const { runtime, tenant } = context;
      const receiver = await receiverOf(context, params.id);
      if (!receiver) return null;
      const stored = params.id.startsWith("config:") ? null : await findWebhook(runtime, tenant, params.id);
      if (stored && !stored.enabled) return rejectAdmin("conflict", "The webhook is disabled.");
      const made = await findDelivery(runtime, receiver, await sendTestEvent(runtime, receiver));
      runtime.webhooks.wake();
      return made;
    },
    show: deliveryOf,
  }),
  listOperation("GET /admin/webhooks/{id}/deliveries", {
    id: "listWebhookDeliveries",
    summary: "List deliveries of a webhook with every attempt, newest first",
    description: `The newest ${MAX_LISTED.toLocaleString("en")} that match; \`start_time\` and \`end_time\` lead to others.`,
    params: ofReceiver,
    query: {
      state: z.enum(states).optional(),
      event: z.string().max(64).optional(),
      flow_id: uuid().optional(),
      start_time: instant().optional(),
      end_time: instant().optional(),
    },
    item: deliveryObject,
    counts: "Number of matching deliveries that are listed.",
    async list(context, { params, query, page }) {
      const { runtime } = context;
      const receiver = await receiverOf(context, params.id);
      if (!receiver) return null;
      const { state, event, flow_id: flowId, start_time: from, end_time: until } = query;
      const filter = { state, event, flowId, from, until };
      const { deliveries, total } = await heavyRead(runtime.database.read, () =>
        listDeliveries(runtime, receiver, filter, page),
      );
      return { items: deliveries.map(deliveryOf), total };
    },
  }),
  adminOperation("GET /admin/webhooks/{id}/deliveries/{delivery_id}", {
    id: "getWebhookDelivery",
    summary: "Get a delivery with every attempt and its data",
    params: ofReceiver,
    answers: { 200: { schema: deliveryWithData } },
    async perform(context, { params }) {
      const receiver = await receiverOf(context, params.id);
      const found = receiver && (await findDelivery(context.runtime, receiver, params.delivery_id));
      return found;
    },
    show: (delivery) => ({ ...deliveryOf(delivery), data: delivery.data }),
  }),
  adminOperation("POST /admin/webhooks/{id}/deliveries/{delivery_id}/replay", {
    id: "replayWebhookDelivery",
    roleAtDefaultTenant: "operator",
    summary: "Deliver an event again",
    description: "Under a new id of the delivery, and with the same `webhook-id`.",
    params: ofReceiver,
    answers: {
      202: { schema: deliveryObject },
      409: "A delivery of the event waits, or its data were erased.",
    },
    async perform(context, { params }) {
      const { runtime } = context;
      const receiver = await receiverOf(context, params.id);
      const found = receiver && (await findDelivery(runtime, receiver, params.delivery_id));
      if (!found) return null;
      const [id] = await replayDeliveries(runtime, receiver, { id: found.id });
      const made = id && (await findDelivery(runtime, receiver, id));
      if (!made) return rejectAdmin("conflict", "A delivery of this event waits, or its data were erased.");
      runtime.webhooks.wake();
      return made;
    },
    show: deliveryOf,
  }),
  adminOperation("POST /admin/webhooks/{id}/replay", {
    id: "replayWebhookDeliveries",
    roleAtDefaultTenant: "operator",
    summary: "Deliver the events of a time range or of a flow again",
    description: `Each event once, the oldest ${MAX_REPLAYED} at most. Events are left out while a delivery of them waits.`,
    params: ofReceiver,
    body: z
      .strictObject({
        flow_id: uuid().optional(),
        start_time: instant().optional().describe("Deliveries created at or after it."),
        end_time: instant().optional().describe("Deliveries created before it."),
        state: z.enum(["delivered", "failed"]).optional().describe("Default: both."),
      })
      .refine(
        ({ flow_id, start_time }) => flow_id !== undefined || start_time !== undefined,
        "needs flow_id or start_time",
      ),
    answers: { 202: { schema: z.strictObject({ deliveries: z.int().min(0) }) } },
    async perform(context, { params, body }) {
      const { runtime } = context;
      const receiver = await receiverOf(context, params.id);
      if (!receiver) return null;
      const { state, flow_id: flowId, start_time: from, end_time: until } = body;
      const made = await replayDeliveries(runtime, receiver, { state, flowId, from, until });
      runtime.webhooks.wake();
      return { deliveries: made.length };
    },
  }),
];
