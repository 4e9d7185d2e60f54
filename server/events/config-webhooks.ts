import { createHash } from "node:crypto";
import type { Config } from "../config/schema.ts";

/** A webhook of `webhooks.hooks`. */
export type ConfigWebhook = Config["webhooks"]["hooks"][number];

/** Begins the ids of receivers of the configuration. Those of stored webhooks are UUIDs. */
const PREFIX = "config:";

/** Returns the id that deliveries name a client of the OpenID provider by, which is told of the end of its sessions. */
export const clientReceiverId = (clientId: string): string => `${PREFIX}client:${clientId}`;

/** The client that an id of `clientReceiverId` names; null for another receiver. */
export function receivingClient(id: string): string | null {
  const prefix = clientReceiverId("");
  return id.startsWith(prefix) ? id.slice(prefix.length) : null;
}

/** Returns the id that deliveries name a webhook of the configuration by. Another callback is another webhook. */
export function configWebhookId({ callback }: Pick<ConfigWebhook, "callback">): string {
  return PREFIX + createHash("sha256").update(callback).digest("base64url").slice(0, 22);
}

/** The webhooks of a tenant's configuration with their ids; none unless `webhooks.enabled`. */
export function configWebhooks({ webhooks }: Pick<Config, "webhooks">): (ConfigWebhook & { id: string })[] {
  return webhooks.enabled ? webhooks.hooks.map((hook) => ({ ...hook, id: configWebhookId(hook) })) : [];
}
