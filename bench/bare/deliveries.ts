import { createHmac } from "node:crypto";
import { Agent } from "node:http";
import { signJwt } from "./proofs.ts";
import { request } from "./request.ts";
import type { Bare } from "./settings.ts";
import { others } from "./statements.ts";

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** Delivers an event to its webhooks at once, and writes that they have it. */
export async function deliver(
  bare: Bare,
  deliveries: readonly { id: string; callback: string }[],
  event: { id: string; name: string; data: object },
): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { jti: event.id, iat: now, exp: now + 300, evt: event.name, data: event.data };
  const body = JSON.stringify({ token: signJwt(bare, claims, "webhook+jwt"), event: event.name });
  await Promise.all(
    deliveries.map(({ callback }) => {
      const signature = createHmac("sha256", "bench").update(`${event.id}.${now}.${body}`).digest("base64");
      const headers = {
        "content-type": "application/json",
        "webhook-id": event.id,
        "webhook-timestamp": String(now),
        "webhook-signature": `v1,${signature}`,
      };
      return request(callback, { agent, headers }, body);
    }),
  );
  await bare.query(others.delivered, { tenant: bare.tenantId, deliveries: deliveries.map(({ id }) => id) });
}
