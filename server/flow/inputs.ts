import { z } from "zod";
import type { Config } from "../config/schema.ts";
import { onceFor } from "../lib/once-for.ts";
import type { InputSchema, View } from "./define.ts";
import { errors, type InputErrorCode } from "./errors.ts";
import type { ObservedInput } from "./observed-step.ts";
import type { IdentifierKind, InputDescriptor } from "./wire.ts";

declare module "zod" {
  interface GlobalMeta {
    /** Not filled in by the user. */
    hidden?: boolean;
    /** Field type, if it differs from the schema's own type. */
    input?: InputDescriptor["type"];
    /** Announced as required where the schema cannot say it: it refuses a missing one by a check of its own. */
    announcedRequired?: boolean;
    /** A value to announce that clients send unless they know another; it is not filled in for them. */
    preset?: boolean | string;
    /** Bounds to announce instead of the schema's own, where other code checks them. */
    minLength?: number;
    maxLength?: number;
    /** Kinds of identifier to announce. */
    accepts?: readonly IdentifierKind[];
    /** The sent value is shown again with an error. Never set for secrets. */
    preserve?: boolean;
    XX?: Record<string, string>;
  }
}

/** Builds a schema once for each configuration, for inputs that configuration shapes. */
export function byConfig<Input extends InputSchema>(build: (config: Config) => Input): (view: View) => Input {
  const schemaOf = onceFor(build);
  return ({ config }) => schemaOf(config);
}

interface JsonSchema {
  type?: string;
  enum?: (string | number | boolean)[];
  minLength?: number;
  maxLength?: number;
  default?: unknown;
  hidden?: boolean;
  input?: InputDescriptor["type"];
  announcedRequired?: boolean;
  preset?: boolean | string;
  preserve?: boolean;
  labels?: Record<string, string>;
  charset?: InputDescriptor["charset"];
  accepts?: IdentifierKind[];
}

interface Described {
  inputs: Record<string, InputDescriptor>;
  preserved: string[];
}

/** Returns the input descriptors of a schema, and the names of its preserved inputs. */
export const describeInputs = onceFor((schema: InputSchema): Described => {
  const json = z.toJSONSchema(schema, { io: "input" }) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const properties = Object.entries(json.properties ?? {});
  return {
    inputs: Object.fromEntries(
      properties.map(([name, property]) => [
        name,
        describeInput(name, property, json.required?.includes(name) ?? false),
      ]),
    ),
    preserved: properties.filter(([, property]) => property.preserve).map(([name]) => name),
  };
});

function describeInput(name: string, property: JsonSchema, required: boolean): InputDescriptor {
  const value = property.default ?? property.preset;
  return {
    name,
    type: property.input ?? fieldType(property.type),
    required: property.announcedRequired ?? required,
    hidden: property.hidden ?? false,
    ...(property.minLength === undefined ? {} : { min_length: property.minLength }),
    ...(property.maxLength === undefined ? {} : { max_length: property.maxLength }),
    ...(property.charset === undefined ? {} : { charset: property.charset }),
    ...(property.accepts === undefined ? {} : { accepts: property.accepts }),
    ...(value === undefined ? {} : { value }),
    ...(property.enum
      ? {
          allowed_values: property.enum.map((value) => ({
            name: property.labels?.[String(value)] ?? String(value),
            value,
          })),
        }
      : {}),
  };
}

function fieldType(type: string | undefined): InputDescriptor["type"] {
  if (type === "boolean" || type === "string") return type;
  return type === "number" || type === "integer" ? "number" : "json";
}

export type ParsedInput =
  | { ok: true; value: unknown }
  | { ok: false; inputs: Record<string, { code: InputErrorCode }> };

/**
 * Validates a request body against a schema and reports every invalid input, not only the first.
 *
 * A member that is null or an empty string counts as absent, declared or not: clients send back every input they were
 * shown. An undeclared member with a value is rejected without naming an input.
 */
export function parseInput(schema: InputSchema, raw: Record<string, unknown>): ParsedInput {
  const present = Object.fromEntries(
    Object.entries(raw).filter(([, value]) => value !== null && value !== ""),
  );
  const result = schema.safeParse(present);
  if (result.success) return { ok: true, value: result.data };
  const inputs: Record<string, { code: InputErrorCode }> = {};
  for (const issue of result.error.issues) {
    const name = issue.path[0];
    if (typeof name !== "string" || Object.hasOwn(inputs, name)) continue;
    inputs[name] = { code: codeOf(issue, Object.hasOwn(present, name)) };
  }
  return { ok: false, inputs };
}

/** Returns the sent values of preserved inputs, without NUL and lone surrogates, which PostgreSQL rejects. */
export function preservedValues(schema: InputSchema, raw: Record<string, unknown>): Record<string, string> {
  const { preserved } = describeInputs(schema);
  const kept = preserved.flatMap((name): [string, string][] => {
    const value = raw[name];
    return typeof value === "string" && value.length <= MAX_PRESERVED_LENGTH
      ? [[name, value.toWellFormed().replaceAll("\0", "")]]
      : [];
  });
  return Object.fromEntries(kept);
}

/** Describes the inputs of a schema that a client has sent, without their values. Others could have any name. */
export function sentInputs(schema: InputSchema, raw: Record<string, unknown>): ObservedInput[] {
  return Object.keys(describeInputs(schema).inputs).flatMap((name) => {
    const value = raw[name];
    return value === undefined || value === null ? [] : [{ name, ...kindOf(value) }];
  });
}

function kindOf(value: unknown): Omit<ObservedInput, "name"> {
  if (typeof value === "string") return { kind: "string", length: value.length };
  if (Array.isArray(value)) return { kind: "array", length: value.length };
  if (typeof value === "object" && value !== null)
    return { kind: "object", length: Object.keys(value).length };
  return { kind: typeof value === "number" ? "number" : "boolean", length: null };
}

const MAX_PRESERVED_LENGTH = 512;

function codeOf(issue: z.core.$ZodIssue, present: boolean): InputErrorCode {
  if (!present) return "value_missing_error";
  // A schema may use an error code of the protocol as its message.
  if (Object.hasOwn(errors, issue.message)) return issue.message as InputErrorCode;
  if (issue.code === "too_small" && issue.origin === "string") return "value_too_short_error";
  if (issue.code === "too_big" && issue.origin === "string") return "value_too_long_error";
  return "value_invalid_error";
}
