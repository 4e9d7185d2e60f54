import { pino } from "pino";
import { subscribableEventNames } from "../../config/event-names.ts";
import { configWebhooks } from "../../events/config-webhooks.ts";
import { createTenantSigningKeys } from "../../keys/tenant-signing-keys.ts";
import { judgeCallback } from "../../lib/callback-address.ts";
import type { ClaimedDelivery } from "../../webhooks/claim.ts";
import {
  type DeliveryFilter,
  listDeliveries,
  MAX_REPLAYED,
  replayDeliveries,
  sendTestEvent,
} from "../../webhooks/delivery-list.ts";
import { createEventTokens } from "../../webhooks/event-token.ts";
import { listen } from "../../webhooks/listener.ts";
import { eventData, prepareDelivery } from "../../webhooks/prepare-delivery.ts";
import { createReceiverClient, type ReceiverAnswer } from "../../webhooks/receiver-client.ts";
import type { Outcome } from "../../webhooks/results.ts";
import { createWebhookSecret } from "../../webhooks/signature.ts";
import {
  createWebhook,
  DEFAULT_OVERLAP_SECONDS,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  MAX_WEBHOOKS,
  rotateWebhookSecret,
} from "../../webhooks/stored-webhooks.ts";
import { type AtTenant, atTenant } from "../at-tenant.ts";
import { CommandError, command, missing, UsageError } from "../command.ts";
import { idOf, jsonOption, limitOption, nameOf, pageOf, tenantOption, uuidOf } from "../options.ts";
import { printTable } from "../table.ts";

const event = {
  description: "Name of an event, which covers those below it; may be repeated.",
  value: "name",
  multiple: true,
} as const;

export const webhooksList = command({
  name: "webhooks list",
  summary: "List webhooks, without their secrets.",
  options: { tenant: tenantOption, json: jsonOption },
  async run(cli, values) {
    const all = await atTenant(cli, values.tenant, async ({ runtime, tenant }) => [
      ...configWebhooks(tenant.config).map(({ id, callback, events }) => ({
        id,
        callback,
        events: [...events],
        enabled: true,
        failures: 0,
      })),
      ...(await listWebhooks(runtime, tenant)).map(({ id, callback, events, enabled, failures }) => ({
        id,
        callback,
        events: events.map((subscribed) => subscribed.event),
        enabled,
        failures,
      })),
    ]);
    if (values.json) return cli.print(JSON.stringify(all));
    await printTable(cli, all, {
      id: "id",
      state: ({ enabled }) => (enabled ? "enabled" : "disabled"),
      failures: "failures",
      callback: "callback",
      events: ({ events }) => events.join(","),
    });
  },
});

export const webhooksCreate = command({
  name: "webhooks create",
  summary: "Create a webhook and print its id and its secret.",
  details: "The secret is stored sealed and cannot be printed again.",
  options: {
    callback: { description: "The https address of the receiver.", value: "address", required: true },
    event,
    tenant: tenantOption,
    json: { description: "Id and secret, as JSON." },
  },
  async run(cli, values) {
    const events = eventsOf(values.event);
    const { callback } = values;
    const created = await atTenant(cli, values.tenant, ({ runtime, tenant }) =>
      createWebhook(runtime, tenant, { callback, events }),
    );
    if (!created.ok)
      throw new CommandError(
        created.reason === "too_many"
          ? `a tenant has at most ${MAX_WEBHOOKS} webhooks`
          : `the callback ${created.reason}`,
      );
    const { webhook, secret } = created;
    await cli.print(values.json ? JSON.stringify({ id: webhook.id, secret }) : `${webhook.id}  ${secret}`);
  },
});

export const webhooksDelete = command({
  name: "webhooks delete",
  summary: "Delete a webhook and its deliveries.",
  options: { tenant: tenantOption },
  takes: ["id"],
  async run(cli, values, [id = ""]) {
    await atTenant(cli, values.tenant, async ({ runtime, tenant }) => {
      const webhook = idOf(id);
      if (!webhook || !(await deleteWebhook(runtime, tenant, webhook))) throw missing("webhook", id);
    });
  },
});

export const webhooksRotate = command({
  name: "webhooks rotate",
  summary: "Replace the secret of a webhook and print the new one.",
  options: {
    overlap: {
      description: `Seconds for which the previous secret signs too; by default ${DEFAULT_OVERLAP_SECONDS}.`,
      value: "seconds",
    },
    tenant: tenantOption,
  },
  takes: ["id"],
  async run(cli, values, [id = ""]) {
    const { overlap = String(DEFAULT_OVERLAP_SECONDS) } = values;
    if (!/^\d{1,7}$/.test(overlap)) throw new UsageError(`${overlap} is not a number of seconds`);
    await atTenant(cli, values.tenant, async ({ runtime, tenant }) => {
      const webhook = idOf(id);
      const rotated = webhook && (await rotateWebhookSecret(runtime, tenant, webhook, Number(overlap)));
      if (!rotated) throw missing("webhook", id);
      await cli.print(rotated.secret);
    });
  },
});

export const webhooksTest = command({
  name: "webhooks test",
  summary: "Deliver an event named test to a webhook, and print the id of the delivery.",
  details: "A running server makes the delivery. `stile webhooks deliveries` shows what became of it.",
  options: { tenant: tenantOption },
  takes: ["id"],
  async run(cli, values, [id = ""]) {
    const delivery = await atTenant(cli, values.tenant, async (at) =>
      sendTestEvent(at.runtime, await requireReceiver(at, id)),
    );
    await cli.print(delivery);
  },
});

const states = ["waiting", "delivered", "failed"] as const;

export const webhooksDeliveries = command({
  name: "webhooks deliveries",
  summary: "List deliveries of a webhook with their last attempt, newest first.",
  options: {
    state: { description: `Only those in this state: ${states.join(", ")}.`, value: "state" },
    limit: limitOption,
    tenant: tenantOption,
    json: { description: "As JSON, with every attempt." },
  },
  takes: ["id"],
  async run(cli, values, [id = ""]) {
    const page = pageOf({ limit: values.limit });
    const state = values.state === undefined ? undefined : nameOf(values.state, states, "a state");
    const { deliveries } = await atTenant(cli, values.tenant, async (at) =>
      listDeliveries(at.runtime, await requireReceiver(at, id), { state }, page),
    );
    if (values.json) {
      return cli.print(
        JSON.stringify(
          deliveries.map((delivery) => ({
            id: delivery.id,
            event_id: delivery.eventId,
            event: delivery.event,
            state: delivery.state,
            created_at: delivery.createdAt,
            attempts: delivery.made.map(({ at, durationMs, status, error, answer }) => ({
              at,
              duration_ms: durationMs,
              status,
              error,
              answer,
            })),
          })),
        ),
      );
    }
    await printTable(cli, deliveries, {
      id: "id",
      event: ({ event }) => event ?? "(purged)",
      state: "state",
      created: "createdAt",
      attempts: ({ made }) => String(made.length),
      "last answer": ({ made }) => describeAnswer(made.at(-1)),
    });
  },
});

export const webhooksReplay = command({
  name: "webhooks replay",
  summary: "Deliver events again: of one delivery, of a time range, or of a flow.",
  details:
    "The new deliveries have the same webhook-id; a running server makes them. Left out are events of which a delivery\nwaits, or whose data were erased.",
  options: {
    delivery: { description: "Id of the delivery.", value: "id" },
    flow: { description: "Id of the flow that caused the events.", value: "id" },
    since: {
      description: "Only deliveries created at or after this time, as 2026-01-31T12:00:00Z.",
      value: "time",
    },
    until: { description: "Only deliveries created before it.", value: "time" },
    failed: { description: "Only those that were given up." },
    tenant: tenantOption,
    json: { description: "The number of new deliveries, as JSON." },
  },
  takes: ["id"],
  async run(cli, values, [id = ""]) {
    const filter: DeliveryFilter & { id?: string } = {
      from: timeOf(values.since),
      until: timeOf(values.until),
      flowId: values.flow === undefined ? undefined : uuidOf(values.flow),
      ...(values.delivery === undefined ? {} : { id: uuidOf(values.delivery) }),
      ...(values.failed ? { state: "failed" as const } : {}),
    };
    if (values.delivery === undefined && values.flow === undefined && values.since === undefined)
      throw new UsageError("webhooks replay needs --delivery, --flow or --since");
    const { length } = await atTenant(cli, values.tenant, async (at) =>
      replayDeliveries(at.runtime, await requireReceiver(at, id), filter),
    );
    if (values.json) return cli.print(JSON.stringify({ deliveries: length }));
    const most = length === MAX_REPLAYED ? " That is the most at once: repeat with a later --since." : "";
    await cli.print(`${length} ${length === 1 ? "event is" : "events are"} delivered again.${most}`);
  },
});

export const webhooksListen = command({
  name: "webhooks listen",
  summary: "Print the events of a running server, and forward them to a local address.",
  details:
    "For development: it needs no public address, and leaves nothing behind. Ends with Ctrl-C.\nWhat is forwarded is signed as a delivery is, with --secret or a new one, which is printed.",
  options: {
    event: { ...event, description: "Name of an event, which covers those below it; by default all." },
    forward: {
      description: "Address that each event is posted to, for instance http://localhost:3001/events.",
      value: "address",
    },
    secret: { description: "Secret of the signatures: whsec_ and base64.", value: "secret" },
    tenant: tenantOption,
    json: { description: "Each event with its data, as a line of JSON." },
  },
  async run(cli, values) {
    const events =
      values.event.length > 0
        ? eventsOf(values.event)
        : ["user", "session", "oauth", "email.send", "sms.send"];
    const { forward = null } = values;
    const judged = forward === null ? { ok: true as const } : judgeCallback(forward, { allowPrivate: true });
    if (!judged.ok) throw new UsageError(`--forward ${judged.reason}`);
    if (values.secret !== undefined && !/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(values.secret))
      throw new UsageError("--secret must be whsec_ and 24 to 64 bytes in base64");
    const signal = cli.interruption();
    await atTenant(cli, values.tenant, async (at) => {
      const { runtime, tenant } = at;
      const secret = values.secret ?? createWebhookSecret(runtime.platform);
      const forwarding = forward === null ? null : forwarder(at);
      if (forwarding && values.secret === undefined) cli.printError(`the secret is ${secret}`);
      try {
        await listen(runtime, tenant, {
          events,
          secret,
          forward,
          signal,
          async take(delivery) {
            const answer = forwarding ? await forwarding.send(delivery, signal) : null;
            await cli.print(lineOf(delivery, answer, at, values.json));
            return {
              kind: "attempted",
              answer: answer ?? { durationMs: 0 },
              pauseSeconds: null,
            } satisfies Outcome;
          },
        });
      } finally {
        forwarding?.close();
      }
    });
  },
});

/** Posts deliveries as a server does, to any address. */
function forwarder({ runtime, tenant }: AtTenant) {
  const client = createReceiverClient({ allowPrivate: true });
  const signingKeys = createTenantSigningKeys({ ...runtime, log: pino({ level: "silent" }) });
  const tokens = createEventTokens(signingKeys);
  const tenants = { byId: async () => tenant };
  return {
    async send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<ReceiverAnswer> {
      const prepared = await prepareDelivery({ tenants, vault: runtime.vault, tokens }, delivery);
      return prepared.kind === "request"
        ? client.post({ ...prepared.request, signal })
        : { error: "aborted", durationMs: 0 };
    },
    close: () => client.close(),
  };
}

function lineOf(
  { tenantId, event: emitted }: ClaimedDelivery,
  answer: ReceiverAnswer | null,
  { runtime }: AtTenant,
  asJson: boolean,
): string {
  if (!emitted) return "(purged)";
  const forwarded = answer === null ? {} : { forwarded: answer.error ?? answer.status };
  const { id, name, createdAt } = emitted;
  if (!asJson) return [createdAt.toISOString(), name, id, ...Object.values(forwarded).map(String)].join("  ");
  const data = eventData(runtime.vault, tenantId, emitted);
  return JSON.stringify({ id, event: name, created_at: createdAt, data, ...forwarded });
}

function eventsOf(names: readonly string[]): string[] {
  const unknown = names.find((name) => !(subscribableEventNames as readonly string[]).includes(name));
  if (unknown !== undefined || names.length === 0)
    throw new UsageError(
      `${unknown === undefined ? "--event is missing" : `${unknown} is not an event`}: ${subscribableEventNames.join(", ")}`,
    );
  return [...names];
}

/** Finds a webhook, of the configuration or a stored one. */
async function requireReceiver({ runtime, tenant }: AtTenant, id: string) {
  const configured = configWebhooks(tenant.config).find((hook) => hook.id === id);
  const storedId = idOf(id);
  const found = configured ?? (storedId && (await findWebhook(runtime, tenant, storedId)));
  if (!found) throw missing("webhook", id);
  return { tenantId: tenant.id, webhook: found.id };
}

function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new UsageError(`${text} is not a time such as 2026-01-31T12:00:00Z`);
  return time;
}

function describeAnswer(attempt: { status: number | null; error: string | null } | undefined): string {
  if (!attempt) return "";
  return attempt.status === null ? (attempt.error ?? "") : String(attempt.status);
}
