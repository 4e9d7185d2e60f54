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
  /**
   * `outdated`: the time of the delivery is more than five minutes away. `body`: it is missing, too long, was read or
   * parsed before, or is no delivery.
   */
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

/**
 * The body as received: a parsed and rewritten one has another signature.
 *
 * @returns null for a body that is too long, cannot be read, or is no text and no bytes. A client decides that with its
 *   `Content-Type`, where a parser of bodies chooses by it.
 */
async function bodyOf(delivery: Delivery): Promise<Uint8Array | null> {
  const { body } = delivery;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (!isStream(body)) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) return null;
      chunks.push(chunk);
    }
  } catch {
    // It was read before, or its sender is gone.
    return null;
  }
  return size > 0 ? joined(chunks) : null;
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((size, { byteLength }) => size + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** Hashes the body once for each secret, however many signatures a client sends. */
async function isSigned(
  prefix: string,
  body: Uint8Array,
  header: string,
  secrets: readonly string[],
): Promise<boolean> {
  const signed = joined([new TextEncoder().encode(prefix), body]);
  const signatures = header
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .flatMap((signature) => bytesOf(signature.slice("v1,".length)) ?? []);
  for (const secret of secrets) {
    const bytes = bytesOf(secret.replace(/^whsec_/, ""));
    if (bytes === null || bytes.byteLength === 0)
      throw new TypeError("A webhook secret is `whsec_` and base64.");
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
    ]);
    const expected = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
    if (signatures.some((signature) => areEqual(signature, expected))) return true;
  }
  return false;
}

/** Compares in a time that does not depend on where the first difference is. */
function areEqual(given: Uint8Array, expected: Uint8Array): boolean {
  if (given.byteLength !== expected.byteLength) return false;
  return expected.reduce((difference, byte, index) => difference | (byte ^ (given[index] ?? 0)), 0) === 0;
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
