import { parseJson, rejectedMember } from "../../lib/strict-json.ts";
import type { ApiRequest, RequestHeaders } from "./api-request.ts";

/** Maximum size of a body. */
export const MAX_BODY_BYTES = 64 * 1024;

/** A body, or the reason why it was not read: `too_large` becomes status 413, `malformed` 400. */
export type Body<Value> = { ok: true; value: Value } | { ok: false; reason: "too_large" | "malformed" };

/** A parsed body, with its text. `details`: why it is none, a sentence without a full stop. */
export type ParsedBody<Value> =
  | { ok: true; value: Value; text: string }
  | { ok: false; reason: "too_large" }
  | { ok: false; reason: "malformed"; details: string };

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const tooLarge = { ok: false, reason: "too_large" } as const;
const malformed = { ok: false, reason: "malformed" } as const;

/**
 * Reads a body as text: UTF-8, not compressed, at most `limit` bytes. The rest is not read.
 *
 * @param mediaType the accepted type, for instance `application/json`; an empty body needs none
 * @returns the empty string for no body
 */
export async function readText(
  request: ApiRequest,
  mediaType: string,
  limit = MAX_BODY_BYTES,
): Promise<Body<string>> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limit) return tooLarge;
  let bytes: Uint8Array | null;
  try {
    bytes = await request.read(limit);
  } catch {
    // The client closed the connection.
    return malformed;
  }
  if (bytes === null) return tooLarge;
  if (bytes.byteLength === 0) return { ok: true, value: "" };
  if (!isMediaType(request.headers.get("content-type"), mediaType)) return malformed;
  if ((request.headers.get("content-encoding") ?? "identity") !== "identity") return malformed;
  try {
    // A byte order mark is kept, so that the JSON parser rejects it (RFC 8259, 8.1).
    return { ok: true, value: utf8.decode(bytes) };
  } catch {
    return malformed;
  }
}

/** Whether a request says that its body is JSON, whatever its charset. */
export function isSaidToBeJson(headers: RequestHeaders): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

function isMediaType(header: string | null, wanted: string): boolean {
  const [type = "", ...parameters] = (header ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  if (type !== wanted) return false;
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  return charset === undefined || /^"?utf-?8"?$/.test(charset);
}

/**
 * Reads a body as a JSON object; an empty body counts as `{}`. The details name the rejected member, if it is a single one.
 */
export async function readObject(request: ApiRequest): Promise<ParsedBody<Record<string, unknown>>> {
  const read = await readJson(request);
  if (!read.ok) return read;
  const { value, text } = read;
  return isObject(value) ? { ok: true, value, text } : notAnObject;
}

const notAnObject = { ok: false, reason: "malformed", details: "the body must be a JSON object" } as const;

/** Reads a body as any JSON value, as `readObject` does an object. */
export async function readJson(request: ApiRequest, limit = MAX_BODY_BYTES): Promise<ParsedBody<unknown>> {
  const read = await readText(request, "application/json", limit);
  if (!read.ok && read.reason === "too_large") return { ok: false, reason: "too_large" };
  const text = read.ok ? read.value : null;
  const value = text === "" ? {} : text === null ? undefined : parseJson(text);
  if (text !== null && value !== undefined) return { ok: true, value, text };
  const details = text && rejectedMember(text);
  return details ? { ok: false, reason: "malformed", details } : notAnObject;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
