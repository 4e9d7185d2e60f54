import canonicalize from "canonicalize";
import { MAX_JSON_DEPTH, parseJson } from "../lib/strict-json.ts";

/** Limit of transaction data in canonical form. */
export const MAX_DATA_BYTES = 16 * 1024;

/** Reasons why a value is not accepted, with messages for developers. */
export const canonicalJsonRejections = {
  not_object: "it must be an object",
  text: "a string or a name in it is not well-formed Unicode",
  number: "a number in it is not finite, or an integer beyond 2^53 - 1: send it as a string",
  value: "it contains a value that is not JSON",
  too_deep: `it has more than ${MAX_JSON_DEPTH} levels`,
  too_large: `it is longer than ${MAX_DATA_BYTES} bytes`,
} as const;

export type CanonicalJsonRejection = keyof typeof canonicalJsonRejections;

export type CanonicalJsonVerdict = { ok: true; text: string } | { ok: false; reason: CanonicalJsonRejection };

/**
 * Serializes an object by the JSON Canonicalization Scheme (RFC 8785). Rejects data outside I-JSON (RFC 7493; RFC 8785,
 * 3.1) and data that is too large.
 */
export function canonicalJson(value: unknown): CanonicalJsonVerdict {
  const reject = (reason: CanonicalJsonRejection): CanonicalJsonVerdict => ({ ok: false, reason });
  if (typeof value !== "object" || value === null || Array.isArray(value)) return reject("not_object");
  const reason = rejectionOf(value, MAX_JSON_DEPTH);
  if (reason) return reject(reason);
  const text = canonicalize(value) ?? "";
  return Buffer.byteLength(text) > MAX_DATA_BYTES ? reject("too_large") : { ok: true, text };
}

/**
 * Parses an object in canonical form.
 *
 * @returns null if the text is not the canonical form of an object
 */
export function readCanonicalJson(text: string): Record<string, unknown> | null {
  if (text.length > MAX_DATA_BYTES) return null;
  const value = parseJson(text);
  const canonical = canonicalJson(value);
  return canonical.ok && canonical.text === text ? (value as Record<string, unknown>) : null;
}

function rejectionOf(value: unknown, levels: number): CanonicalJsonRejection | null {
  if (value === null || typeof value === "boolean") return null;
  if (typeof value === "string") return value.isWellFormed() ? null : "text";
  if (typeof value === "number") {
    // RFC 7493, 2.2: larger integers are read as other numbers by implementations that use doubles.
    const exact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return exact ? null : "number";
  }
  if (typeof value !== "object") return "value";
  if (levels === 0) return "too_deep";
  const names = Array.isArray(value) ? [] : Object.keys(value);
  if (!names.every((name) => name.isWellFormed())) return "text";
  for (const member of Object.values(value)) {
    const reason = rejectionOf(member, levels - 1);
    if (reason) return reason;
  }
  return null;
}
