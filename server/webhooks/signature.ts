import { createHmac, createSecretKey } from "node:crypto";
import type { Platform } from "../lib/platform.ts";

/** Secrets and signatures of the Standard Webhooks specification, version 1.0. */

const PREFIX = "whsec_";

const SECRET_BYTES = 32;

/** Makes a secret. */
export function createWebhookSecret({ randomBytes }: Platform): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/**
 * Signs a delivery: the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.
 *
 * @param secrets the current one first; during a rotation, both sign. Without any, there is no signature
 * @param at time of the attempt
 */
export function signatureHeaders(
  secrets: readonly string[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = createSecretKey(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    ...(signatures.length > 0 ? { "webhook-signature": signatures.join(" ") } : {}),
  };
}
