import { z } from "zod";
import { subscribableEventNames } from "../../config/event-names.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { configWebhooks } from "../../events/config-webhooks.ts";
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
import { json, plainError } from "../answer/reply.ts";
import { instant, pageQuery, uuid } from "../table/fields.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { pageHeaders } from "../table/paging.ts";
import { adminOperation, NOT_FOUND } from "./admin-operation.ts";

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

const objectOf = (webhook: StoredWebhook) => ({
  id: webhook.id,
  callback: webhook.callback,
  enabled: webhook.enabled,
  failures: webhook.failures,
  expires_at: webhook.expiresAt.toISOString(),
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

const tag = "admin: webhooks";
const ofWebhook = z.object({ id: uuid() });
/** Webhooks of the configuration have deliveries too. */
const ofReceiver = z.object({
  id: z
    .union([uuid(), z.string().regex(/^config:[\w-]{22}$/)])
    .describe(
      "Id of a stored webhook, or of one of the configuration: `config:` and a hash of its callback.",
    ),
});
const ofDelivery = ofReceiver.extend({ delivery_id: uuid() });

const notFound = () => plainError(404, "Not found.");
const invalidCallback = (reason: string) => plainError(400, `The body is invalid: callback ${reason}.`);

/** Names a webhook of the tenant for its deliveries; null if there is none. */
async function receiverOf({ runtime, tenant }: HandlerContext, id: string) {
  const exists = id.startsWith("config:")
    ? configWebhooks(tenant.config).some((hook) => hook.id === id)
    : (await findWebhook(runtime, tenant, id)) !== null;
  return exists ? { tenantId: tenant.id, webhook: id } : null;
}

/** Webhooks of the tenant (docs/webhooks.md). */
export const webhookAddresses = [
  adminOperation(
    {
      method: "GET",
      path: "/admin/webhooks",
      id: "listWebhooks",
      summary: "List the webhooks, stored and configured ones",
      tag,
      answers: {
        200: {
          schema: z.strictObject({
            database: z.array(webhookObject),
            config: z.array(z.strictObject({ callback: z.string(), events: z.array(subscription) })),
          }),
        },
      },
    },
    async ({ runtime, tenant }) =>
      json(200, {
        database: (await listWebhooks(runtime, tenant)).map(objectOf),
        config: tenant.config.webhooks.hooks.map(({ callback, events }) => ({ callback, events })),
      }),
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/webhooks",
      id: "createWebhook",
      summary: "Create a webhook",
      description: "The answer has its secret, which is stored sealed and cannot be shown again.",
      tag,
      body: z.object(described),
      answers: {
        201: { schema: webhookWithSecret },
        409: `The tenant has ${MAX_WEBHOOKS} webhooks, the most it may have.`,
      },
    },
    async ({ runtime, tenant, client }, { body }) => {
      const created = await createWebhook(runtime, tenant, body, client);
      if (created.ok) return json(201, { ...objectOf(created.webhook), secret: created.secret });
      return created.reason === "too_many"
        ? plainError(409, `A tenant has at most ${MAX_WEBHOOKS} webhooks.`)
        : invalidCallback(created.reason);
    },
  ),
  adminOperation(
    {
      method: "GET",
      path: "/admin/webhooks/{id}",
      id: "getWebhook",
      summary: "Get a webhook",
      tag,
      params: ofWebhook,
      answers: { 200: { schema: webhookObject }, 404: NOT_FOUND },
    },
    async ({ runtime, tenant }, { params }) => {
      const found = await findWebhook(runtime, tenant, params.id);
      return found ? json(200, objectOf(found)) : notFound();
    },
  ),
  adminOperation(
    {
      method: "PUT",
      path: "/admin/webhooks/{id}",
      id: "updateWebhook",
      summary: "Change a webhook",
      description: "Sets `failures` to 0, and `expires_at` to 30 days from now.",
      tag,
      params: ofWebhook,
      body: z.object({ ...described, enabled: z.boolean() }),
      answers: { 200: { schema: webhookObject }, 404: NOT_FOUND },
    },
    async ({ runtime, tenant, client }, { params, body }) => {
      const updated = await updateWebhook(runtime, tenant, params.id, body, client);
      if (!updated) return notFound();
      return updated.ok ? json(200, objectOf(updated.webhook)) : invalidCallback(updated.reason);
    },
  ),
  adminOperation(
    {
      method: "DELETE",
      path: "/admin/webhooks/{id}",
      id: "deleteWebhook",
      summary: "Delete a webhook and its deliveries",
      tag,
      params: ofWebhook,
      answers: { 204: "The webhook is deleted.", 404: NOT_FOUND },
    },
    async ({ runtime, tenant, client }, { params }) =>
      (await deleteWebhook(runtime, tenant, params.id, client)) ? { status: 204 } : notFound(),
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/webhooks/{id}/rotate_secret",
      id: "rotateWebhookSecret",
      summary: "Replace the secret of a webhook",
      description: "Until the overlap ends, deliveries are signed with the previous secret too.",
      tag,
      params: ofWebhook,
      body: z.object({
        overlap_seconds: z
          .int()
          .min(0)
          .max(30 * 86_400)
          .default(DEFAULT_OVERLAP_SECONDS),
      }),
      answers: { 200: { schema: webhookWithSecret }, 404: NOT_FOUND },
    },
    async ({ runtime, tenant, client }, { params, body }) => {
      const rotated = await rotateWebhookSecret(runtime, tenant, params.id, body.overlap_seconds, client);
      return rotated ? json(200, { ...objectOf(rotated.webhook), secret: rotated.secret }) : notFound();
    },
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/webhooks/{id}/test",
      id: "testWebhook",
      summary: "Deliver an event named test to a webhook",
      description: "Its `data` is empty. The delivery is repeated like any other if it fails.",
      tag,
      params: ofReceiver,
      answers: { 202: { schema: deliveryObject }, 404: NOT_FOUND, 409: "The webhook is disabled." },
    },
    async (context, { params }) => {
      const { runtime, tenant } = context;
      const receiver = await receiverOf(context, params.id);
      if (!receiver) return notFound();
      const stored = params.id.startsWith("config:") ? null : await findWebhook(runtime, tenant, params.id);
      if (stored && !stored.enabled) return plainError(409, "The webhook is disabled.");
      const made = await findDelivery(runtime, receiver, await sendTestEvent(runtime, receiver));
      runtime.webhooks.wake();
      return made ? json(202, deliveryOf(made)) : notFound();
    },
  ),
  adminOperation(
    {
      method: "GET",
      path: "/admin/webhooks/{id}/deliveries",
      id: "listWebhookDeliveries",
      summary: "List deliveries of a webhook with every attempt, newest first",
      description: `The newest ${MAX_LISTED.toLocaleString("en")} that match; \`start_time\` and \`end_time\` lead to others.`,
      tag,
      params: ofReceiver,
      query: z.object({
        ...pageQuery,
        state: z.enum(states).optional(),
        event: z.string().max(64).optional(),
        flow_id: uuid().optional(),
        start_time: instant().optional(),
        end_time: instant().optional(),
      }),
      answers: {
        200: {
          schema: z.array(deliveryObject),
          headers: {
            "X-Total-Count": "Number of matching deliveries that are listed.",
            Link: "The other pages (RFC 8288).",
          },
        },
        404: NOT_FOUND,
      },
    },
    async (context, { params, query }) => {
      const { runtime, tenant, url } = context;
      const receiver = await receiverOf(context, params.id);
      if (!receiver) return notFound();
      const page = { number: query.page, size: query.per_page };
      const { state, event, flow_id: flowId, start_time: from, end_time: until } = query;
      const filter = { state, event, flowId, from, until };
      const { deliveries, total } = await heavyRead(runtime.database.read, () =>
        listDeliveries(runtime, receiver, filter, page),
      );
      return json(200, deliveries.map(deliveryOf), { headers: pageHeaders(tenant.config, url, page, total) });
    },
  ),
  adminOperation(
    {
      method: "GET",
      path: "/admin/webhooks/{id}/deliveries/{delivery_id}",
      id: "getWebhookDelivery",
      summary: "Get a delivery with every attempt",
      tag,
      params: ofDelivery,
      answers: { 200: { schema: deliveryObject }, 404: NOT_FOUND },
    },
    async (context, { params }) => {
      const receiver = await receiverOf(context, params.id);
      const found = receiver && (await findDelivery(context.runtime, receiver, params.delivery_id));
      return found ? json(200, deliveryOf(found)) : notFound();
    },
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/webhooks/{id}/deliveries/{delivery_id}/replay",
      id: "replayWebhookDelivery",
      summary: "Deliver an event again",
      description: "Under a new id of the delivery, and with the same `webhook-id`.",
      tag,
      params: ofDelivery,
      answers: {
        202: { schema: deliveryObject },
        404: NOT_FOUND,
        409: "A delivery of the event waits, or its data were erased.",
      },
    },
    async (context, { params }) => {
      const { runtime } = context;
      const receiver = await receiverOf(context, params.id);
      const found = receiver && (await findDelivery(runtime, receiver, params.delivery_id));
      if (!found) return notFound();
      const [id] = await replayDeliveries(runtime, receiver, { id: found.id });
      const made = id && (await findDelivery(runtime, receiver, id));
      if (!made) return plainError(409, "A delivery of this event waits, or its data were erased.");
      runtime.webhooks.wake();
      return json(202, deliveryOf(made));
    },
  ),
  adminOperation(
    {
      method: "POST",
      path: "/admin/webhooks/{id}/replay",
      id: "replayWebhookDeliveries",
      summary: "Deliver the events of a time range or of a flow again",
      description: `Each event once, the oldest ${MAX_REPLAYED} at most. Events are left out while a delivery of them waits.`,
      tag,
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
      answers: { 202: { schema: z.strictObject({ deliveries: z.int().min(0) }) }, 404: NOT_FOUND },
    },
    async (context, { params, body }) => {
      const { runtime } = context;
      const receiver = await receiverOf(context, params.id);
      if (!receiver) return notFound();
      const { state, flow_id: flowId, start_time: from, end_time: until } = body;
      const made = await replayDeliveries(runtime, receiver, { state, flowId, from, until });
      runtime.webhooks.wake();
      return json(202, { deliveries: made.length });
    },
  ),
];
