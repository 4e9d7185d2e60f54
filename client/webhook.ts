import type { Connection } from "./connection.ts";
import type { EventData } from "./interface.ts";
import { headerOf, type IncomingRequest } from "./session.ts";

/** A verified event; `name` decides the type of `data`. */
export type WebhookEvent = {
  [Name in keyof EventData]: {
    /** The same for every delivery of the event: what was handled before can be skipped. */
    id: string;
    name: Name;
    data: EventData[Name];
  };
}[keyof EventData];

export type VerifiedWebhook =
  | { ok: true; event: WebhookEvent }
  /** `outdated`: the time of the delivery is more than five minutes away. */
  | { ok: false; reason: "signature" | "outdated" | "token" | "body" };

/** A delivery: a request of the web platform, or headers and the unparsed body. */
export type Delivery = Request | (IncomingRequest & { body: string | Uint8Array });

/** The longest body that is read. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Standard Webhooks 1.0: a delivery that is older may be a repetition. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies a delivery: the signature over its body and the time (Standard Webhooks 1.0), then the token by the published
 * keys, and that both name one event.
 *
 * @param secrets `whsec_…`; during a rotation both. Null for a webhook without a secret, whose token alone is verified
 * @throws StileError if the keys cannot be read
 */
export async function verifyWebhook(
  { verify }: Pick<Connection, "verify">,
  delivery: Delivery,
  secrets: readonly string[] | null,
  now: Date = new Date(),
): Promise<VerifiedWebhook> {
  const body = await bodyOf(delivery);
  if (body === null) return { ok: false, reason: "body" };
  const id = headerOf(delivery, "webhook-id") ?? "";
  const timestamp = headerOf(delivery, "webhook-timestamp") ?? "";
  if (secrets !== null) {
    const signatures = headerOf(delivery, "webhook-signature") ?? "";
    if (!(await isSigned(`${id}.${timestamp}.`, body, signatures, secrets)))
      return { ok: false, reason: "signature" };
    const age = now.getTime() / 1000 - Number(timestamp);
    if (!/^\d{1,12}$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS)
      return { ok: false, reason: "outdated" };
  }
  const { token, event } = parse(body);
  if (typeof token !== "string" || typeof event !== "string") return { ok: false, reason: "body" };
  const verified = await verify(token, {
    typ: "webhook+jwt",
    requiredClaims: ["sub", "jti", "iat", "exp", "evt", "data"],
  });
  if (!verified.ok) return { ok: false, reason: "token" };
  const { evt, data, sub, jti } = verified.claims;
  // A genuine token of one event must not stand for another.
  if (sub !== "hanko webhooks" || evt !== event || jti !== id) return { ok: false, reason: "token" };
  return { ok: true, event: { id: jti, name: event, data } as WebhookEvent };
}

/** The body as received: a parsed and rewritten one has another signature. */
async function bodyOf(delivery: Delivery): Promise<Uint8Array | null> {
  const { body } = delivery;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

async function isSigned(
  prefix: string,
  body: Uint8Array,
  header: string,
  secrets: readonly string[],
): Promise<boolean> {
  const start = new TextEncoder().encode(prefix);
  const signed = new Uint8Array(start.byteLength + body.byteLength);
  signed.set(start);
  signed.set(body, start.byteLength);
  const signatures = header
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .flatMap((signature) => bytesOf(signature.slice("v1,".length)) ?? []);
  for (const secret of secrets) {
    const bytes = bytesOf(secret.replace(/^whsec_/, ""));
    if (bytes === null || bytes.byteLength === 0)
      throw new TypeError("A webhook secret is `whsec_` and base64.");
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [
      "verify",
    ]);
    for (const signature of signatures)
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) return true;
  }
  return false;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function parse(body: Uint8Array): { token?: unknown; event?: unknown } {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) ?? {};
  } catch {
    return {};
  }
}
