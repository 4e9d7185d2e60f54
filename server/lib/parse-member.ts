import type { z } from "zod";

export type ParsedValue<Value> = { ok: true; value: Value } | { ok: false; details: string };

/**
 * Parses a value with a schema. Messages of the schema take precedence over those of this function.
 *
 * @param whole name of the value in messages
 * @returns what is wrong with the first invalid member: `response.signature is missing`. It contains no value of the
 *   client.
 */
export function parseMember<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  whole = "the body",
): ParsedValue<Value> {
  const { success, data, error } = schema.safeParse(value, { error: describe });
  if (success) return { ok: true, value: data };
  const [issue] = error.issues;
  const path = (issue?.path ?? []).map((part) =>
    typeof part === "number" ? `[${part}]` : `.${String(part)}`,
  );
  const name = path.join("").replace(/^\./, "") || whole;
  return { ok: false, details: `${name} ${issue?.message ?? "is invalid"}` };
}

const kinds: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const formats: Record<string, string> = {
  guid: "a UUID",
  uuid: "a UUID",
  url: "an absolute URL",
  email: "an email address",
  datetime: "a time such as 2026-01-31T12:00:00Z",
};

/** Characters of a member's name that are repeated. A client may have sent a longer one. */
const MAX_REPORTED_NAME = 100;

function shorten(name: string): string {
  return (name.length > MAX_REPORTED_NAME ? `${name.slice(0, MAX_REPORTED_NAME)}…` : name).toWellFormed();
}

function describe(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${kinds[issue.expected] ?? "of another type"}`;
    case "invalid_value":
      return `must be ${issue.values.join(" or ")}`;
    case "unrecognized_keys":
      return `has the unknown member ${shorten(issue.keys[0] ?? "")}`;
    case "invalid_format":
      return formats[issue.format] ? `must be ${formats[issue.format]}` : "is invalid";
    case "too_small":
      return issue.origin === "string" || issue.origin === "array" ? "is too short" : "is out of range";
    case "too_big":
      return issue.origin === "string" || issue.origin === "array" ? "is too long" : "is out of range";
    default:
      return "is invalid";
  }
}
