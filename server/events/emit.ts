import type { Transaction } from "#db/client";
import { collect } from "#db/collected";
import type { Part } from "#db/part";
import type { Write } from "#db/write";
import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { storableUserAgent } from "../lib/storable-text.ts";
import { timeOrderedUuid } from "../lib/uuid.ts";
import { sessionObject } from "../objects/session-object.ts";
import type { UserObject } from "../objects/user-object.ts";
import { traceparent } from "../observability/spans.ts";
import { configWebhooks } from "./config-webhooks.ts";
import { type EventData, type EventName, type MessageEventName, subscriptionsCovering } from "./events.ts";
import { eventDataContext } from "./seal-contexts.ts";
import { subscribedConfigWebhooks } from "./subscriptions.ts";
import {
  eventsPart,
  type PendingEvent,
  usersParts,
  type WrittenEvents,
  writeRecords,
} from "./write-records.ts";

/** What looks for webhooks to deliver events to, after they are committed. */
export interface WakesWebhooks {
  webhooks: { wake(): void };
}

/** Whose act emits an event; without `client` and `flowId` the service's own. */
export interface EventContext {
  tenant: Tenant;
  runtime: OnPlatform & WakesWebhooks;
  client?: Pick<Client, "userAgent"> & { ip: string | null };
  /** The flow whose step it is. */
  flowId?: string;
}

type UserEventName = Exclude<Extract<EventName, `user.${string}`>, "user.delete">;

/** Names of the events of a session. */
export type SessionEventName = Extract<EventName, `session.${string}`>;

/** Names of the events of what users allow applications. */
export type GrantEventName = Extract<EventName, `oauth.grant.${string}`>;

/** Names of the events of tokens. */
export type TokenEventName = Extract<EventName, `oauth.token.${string}`>;

/** A refused token, for an event. */
export type EventToken = EventData<TokenEventName>;

/** What a user has allowed an application, for an event. */
export type EventGrant = Omit<EventData<GrantEventName>, "ip_address" | "user_agent">;

/** The session of an event. */
export type EventSession = Parameters<typeof sessionObject>[0];

/**
 * Returns the write of an event, which belongs into the transaction of the change: a rollback emits nothing, and what is
 * committed is delivered. All events of a transaction are written by one statement at its end, for the webhooks that are
 * subscribed then, and not at all without one. A write that runs in another one is called as `emit(…)(tx)`.
 *
 * @param name see `events.ts` for when it is emitted
 * @param subject `user.*`: the id of the user, whose data are read at the end of the transaction; `user.delete`: the user
 *   as it was before, which `userObject` reads; `session.*`: the session; `oauth.grant.*`: the grant; `oauth.token.*`: the token
 */
export function emit<
  Name extends UserEventName | "user.delete" | SessionEventName | GrantEventName | TokenEventName,
>(context: EventContext, name: Name, subject: SubjectOf<Name>): Write {
  const event = pendingEvent(context, name, contentOf(context, name, subject));
  const write = async (tx: Transaction) => collect(tx, writeRecords, { event });
  return Object.assign(write, { parts: [leftOut(event)] });
}

type SubjectOf<Name extends EventName> = Name extends UserEventName
  ? string
  : Name extends "user.delete"
    ? UserObject
    : Name extends GrantEventName
      ? EventGrant
      : Name extends TokenEventName
        ? EventToken
        : EventSession;

/** A part that is another one, an event, or followed by events, where a webhook may be subscribed to events of the step. */
interface SubscribedPart extends Part {
  subscribed: { part: Part } | { event: PendingEvent } | { ended: PendingEvent[] };
}

/** The part that leaves an event out, because no webhook of the tenant could get one. */
function leftOut(event: PendingEvent): SubscribedPart {
  return {
    // Short, as the joined names of the parts of a statement have at most 63 bytes.
    name: "omitted",
    text: "",
    values: [event.tenantId],
    refuses: "case when exists (select 1 from webhooks where tenant_id = $1 and enabled) then 'webhook' end",
    isIdempotent: true,
    subscribed: { event },
  };
}

/** Makes a part that is another one where a webhook may be subscribed to events of the step. */
export function unlessSubscribed(part: Part, subscribed: Part): Part {
  const either: SubscribedPart = { ...part, subscribed: { part: subscribed } };
  return either;
}

/**
 * Makes a part that ends sessions of a user also emit their events, where a webhook may be subscribed to events of the step.
 *
 * @param part has an expression `session_ended`: the ended rows of `sessions`, and `event`, one of `names`
 */
export function emitEnded(
  context: EventContext,
  part: Part,
  userId: string,
  names: readonly SessionEventName[],
): Part {
  const content = { subjectId: userId, data: null, sealedData: null, addsUser: false };
  const ended = names.map((name) => ({ ...pendingEvent(context, name, content), ofEnded: true }));
  const telling: SubscribedPart = { ...part, subscribed: { ended } };
  return telling;
}

/** Whether a part ends sessions whose events `emitEnded` adds. */
export function emitsEnded(part: Part): boolean {
  const { subscribed } = part as Partial<SubscribedPart>;
  return subscribed !== undefined && "ended" in subscribed;
}

/** Whether a webhook may be subscribed to events of a step: the tenant has stored ones, as `hasStored` says, or configured ones. */
export function mayHaveSubscriber({ config }: Pick<Tenant, "config">, hasStored: boolean): boolean {
  return hasStored || configWebhooks(config).length > 0;
}

/**
 * Returns the parts of a step to whose events a webhook may be subscribed, and its events, with what to call after the commit.
 *
 * @returns `delivered` is called with what the parts return
 */
export function subscribedParts(parts: readonly Part[]): {
  parts: Part[];
  delivered(returned: Partial<WrittenEvents>): void;
} {
  const changes: Part[] = [];
  const events: PendingEvent[] = [];
  let endsSessions = -1;
  for (const part of parts) {
    const { subscribed } = part as Partial<SubscribedPart>;
    if (subscribed && "event" in subscribed) events.push(subscribed.event);
    else if (subscribed && "part" in subscribed) changes.push(subscribed.part);
    else if (subscribed) {
      endsSessions = changes.push(part);
      events.push(...subscribed.ended);
    } else changes.push(part);
  }
  // Events of ended sessions are made of rows that only the statement that ends them sees.
  const place = endsSessions < 0 ? changes.length : endsSessions;
  const written = events.length > 0 ? [eventsPart(events)] : [];
  return {
    parts: [...changes.slice(0, place), ...written, ...changes.slice(place), ...usersParts(events)],
    delivered({ events: ids = [], events_with_ended: withEnded = [] }) {
      if (ids.length + withEnded.length > 0)
        for (const wake of new Set(events.map((event) => event.wake))) wake();
    },
  };
}

/**
 * Returns the write of the event of a mail or an SMS. Its data may hold a code, so they are stored sealed.
 *
 * @param id of the event; a second event with this id is not written
 */
export function emitMessage<Name extends MessageEventName>(
  context: Pick<EventContext, "tenant"> & { runtime: EventContext["runtime"] & Sealing },
  name: Name,
  id: string,
  data: EventData<Name>,
): Write {
  const { runtime, tenant } = context;
  const sealedData = runtime.vault.seal(Buffer.from(JSON.stringify(data)), eventDataContext(tenant.id, id));
  const content = { subjectId: null, data: null, sealedData, addsUser: false };
  const event = { ...pendingEvent(context, name, content), id };
  return async (tx) => collect(tx, writeRecords, { event });
}

type Content = Pick<PendingEvent, "subjectId" | "data" | "sealedData" | "addsUser">;

function contentOf(
  context: EventContext,
  name: EventName,
  subject: string | UserObject | EventSession | EventGrant | EventToken,
): Content {
  const sealedData = null;
  if (typeof subject === "string")
    return { subjectId: subject, data: clientFacts(context, name), sealedData, addsUser: true };
  if ("client_id" in subject) {
    const data = { ...subject, ...clientFacts(context, name) };
    return { subjectId: subject.user_id, data, sealedData, addsUser: false };
  }
  if ("userId" in subject)
    return { subjectId: subject.userId, data: sessionObject(subject), sealedData, addsUser: false };
  const data = { ...subject, ...clientFacts(context, name) };
  return { subjectId: subject.id, data, sealedData, addsUser: false };
}

/** Address and user agent of the client: of the user, or of the operator for changes of emails. */
function clientFacts({ client, flowId }: EventContext, name: EventName): object {
  if (!client || (flowId === undefined && !name.startsWith("user.update.email."))) return {};
  const address = client.ip === null ? {} : { ip_address: client.ip };
  return { ...address, user_agent: storableUserAgent(client.userAgent) };
}

function pendingEvent(
  { runtime, tenant, flowId }: EventContext,
  name: EventName,
  content: Content,
): PendingEvent {
  return {
    ...content,
    tenantId: tenant.id,
    id: timeOrderedUuid(runtime.platform),
    name,
    coveredBy: subscriptionsCovering(name),
    configWebhooks: subscribedConfigWebhooks(tenant, name),
    webhooksExpire: tenant.config.webhooks.allow_time_expiration,
    flowId: flowId ?? null,
    traceparent: traceparent() ?? null,
    baseUrl: tenant.config.base_url,
    wake: runtime.webhooks.wake,
  };
}
