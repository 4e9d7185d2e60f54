import type { Tenant } from "../config/tenant.ts";
import { configWebhooks, receivingClient } from "../events/config-webhooks.ts";
import { isOutdated } from "../events/events.ts";
import { eventDataContext, previousSecretContext, webhookSecretContext } from "../events/seal-contexts.ts";
import type { Vault } from "../keys/vault.ts";
import type { Tenants } from "../tenants/tenants.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { EventTokens } from "./event-token.ts";
import type { ReceiverClient, ReceiverRequest } from "./receiver-client.ts";
import type { Outcome } from "./results.ts";
import { signatureHeaders } from "./signature.ts";

interface PreparationContext {
  tenants: Pick<Tenants, "byId">;
  vault: Vault;
  tokens: EventTokens;
  /** Absent where nothing is delivered to clients. */
  logouts?: Pick<Logouts, "request">;
}

/** How clients of the OpenID provider are told that sessions have ended. */
export interface Logouts {
  /** Makes deliveries of the sessions that have ended. */
  deliver(): Promise<unknown>;
  /** Makes the request of such a delivery; null if its client is not told any more. */
  request(
    tenant: Tenant,
    data: unknown,
    now: Date,
  ): Promise<Pick<ReceiverRequest, "callback" | "headers" | "body"> | null>;
  /** Sends it. */
  client: Pick<ReceiverClient, "post" | "close">;
}

/** The request of a delivery, or why there is none. */
type PreparedDelivery =
  | { kind: "request"; name: string; ofClient: boolean; request: ReceiverRequest }
  | Extract<Outcome, { kind: "refused" | "obsolete" | "postponed" }>;

/** How long a client that is not known here may be known elsewhere, while a server is updated. */
const UNKNOWN_CLIENT_MS = 3_600_000;

/**
 * Makes the request of a claimed delivery: the token, signed by the tenant's keys, and the headers of Standard Webhooks.
 *
 * @throws UnknownKeyError if this process lacks the key of a secret, of the data, or of the signing key
 */
export async function prepareDelivery(
  { tenants, vault, tokens, logouts }: PreparationContext,
  delivery: ClaimedDelivery,
): Promise<PreparedDelivery> {
  const { tenantId, event, now } = delivery;
  const tenant = await tenants.byId(tenantId);
  if (!tenant || !event) return { kind: "obsolete" };
  if (receivingClient(delivery.webhook) !== null) {
    const request = await logouts?.request(tenant, event.data, now);
    if (request)
      return { kind: "request", name: event.name, ofClient: true, request: { tenantId, ...request } };
    // Another process may have a configuration in which the client is told.
    const isYoung = now.getTime() - event.createdAt.getTime() < UNKNOWN_CLIENT_MS;
    return isYoung ? { kind: "postponed", pauseSeconds: 60 } : { kind: "refused" };
  }
  const receiver = receiverOf(tenant, vault, delivery);
  if (typeof receiver === "string") return { kind: receiver };
  const data = eventData(vault, tenantId, event);
  // The code was erased with the last delivery that waited for it, or is of no use any more.
  if (!data || isOutdated(event.name, data, now)) return { kind: "refused" };
  const { id, name } = event;
  const body = JSON.stringify({ token: await tokens.of(tenant, { id, name, data }, now), event: name });
  const headers = {
    "content-type": "application/json",
    "user-agent": "Stile",
    ...signatureHeaders(receiver.secrets, { id, at: now, body }),
  };
  return {
    kind: "request",
    name,
    ofClient: false,
    request: { tenantId, callback: receiver.callback, headers, body },
  };
}

function receiverOf(
  { config }: Tenant,
  vault: Vault,
  { tenantId, webhook, stored }: ClaimedDelivery,
): { callback: string; secrets: string[] } | "refused" | "obsolete" {
  if (stored) {
    if (!stored.enabled) return "refused";
    const { callback, sealedSecret, sealedPreviousSecret } = stored;
    const secrets = [vault.unseal(sealedSecret, webhookSecretContext(tenantId, webhook)).toString()];
    if (sealedPreviousSecret)
      secrets.push(vault.unseal(sealedPreviousSecret, previousSecretContext(tenantId, webhook)).toString());
    return { callback, secrets };
  }
  if (!webhook.startsWith("config:")) return "obsolete";
  const hook = configWebhooks(config).find(({ id }) => id === webhook);
  return hook ? { callback: hook.callback, secrets: hook.secret ? [hook.secret] : [] } : "refused";
}

/**
 * Returns the data of an event.
 *
 * @returns null if they were erased
 * @throws UnknownKeyError if this process lacks the key that they were sealed by
 */
export function eventData(
  vault: Vault,
  tenantId: string,
  { id, data, sealedData }: NonNullable<ClaimedDelivery["event"]>,
): Record<string, unknown> | null {
  if (!sealedData) return data;
  return JSON.parse(vault.unseal(sealedData, eventDataContext(tenantId, id)).toString());
}
