import canonicalize from "canonicalize";
import { jsonEntries } from "../lib/json-entries.ts";
import { MAX_JSON_DEPTH, parseJson } from "../lib/strict-json.ts";

/** Limit of transaction data in canonical form. */
export const MAX_DATA_BYTES = 16 * 1024;

/** Reasons why a value is not accepted, with messages for developers. */
export const canonicalJsonRejections = {
  not_object: "it must be an object",
  text: "a string or a name in it is not well-formed Unicode",
  number: "a number in it is not finite",
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

/** Digits that distinguish every double from all others. */
const DOUBLE_DIGITS = 17;

/** Why the nearest double is not accepted for a number (RFC 8785, 3.2.2.3 and appendix B), with messages. */
const numberRejections = {
  infinite: "is out of range",
  underflow: "is too small and would become 0",
  integer: "is an integer that a double cannot hold: send it as a string",
  digits: "has more digits than a double can hold: send it as a string",
} as const;

/**
 * Finds a number of a JSON text that must not be replaced by the nearest double, because the user would confirm another
 * amount than the application sent. All others are signed in the canonical form of that double.
 *
 * @param text valid JSON
 * @param member name of the outermost member to examine
 * @returns a sentence that names the number; null if there is none
 */
export function rejectedNumber(text: string, member: string): string | null {
  for (const entry of jsonEntries(text)) {
    if (entry.kind !== "number" || entry.path.split(/[.[]/)[0] !== member) continue;
    const reason = numberRejection(entry.source);
    if (reason) return `${entry.path} ${numberRejections[reason]}`;
  }
  return null;
}

/** @param source a number of JSON (RFC 8259, 6) */
function numberRejection(source: string): keyof typeof numberRejections | null {
  const value = Number(source);
  if (!Number.isFinite(value)) return "infinite";
  const [mantissa = ""] = source.replace("-", "").toLowerCase().split("e");
  const digits = mantissa.replace(".", "").replace(/^0+/, "");
  if (value === 0) return digits === "" ? null : "underflow";
  if (/^-?\d+$/.test(source)) return BigInt(source) === BigInt(value) ? null : "integer";
  const significant = digits.replace(/0+$/, "");
  return significant.length <= DOUBLE_DIGITS || isExactly(value, significant) ? null : "digits";
}

/** Whether a double has these significant digits; never of more than 100, the limit of `toPrecision`. */
function isExactly(value: number, significant: string): boolean {
  if (significant.length > 100) return false;
  const [mantissa = ""] = Math.abs(value).toPrecision(significant.length).split("e");
  return mantissa.replace(".", "").replace(/^0+/, "").padEnd(significant.length, "0") === significant;
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
  if (typeof value === "number") return Number.isFinite(value) ? null : "number";
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
