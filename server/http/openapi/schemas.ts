import { z } from "zod";
import { anyFlowState } from "../flow/schemas.ts";
import type { ErrorShape } from "../table/address.ts";
import { shownSchema } from "../table/fields.ts";

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Record<string, unknown>;

/** An error outside flows. */
export const plainErrorSchema = z
  .object({ code: z.int().describe("The status."), message: z.string() })
  .meta({ id: "Error" });

/** An error of the OpenID provider (RFC 6749, 5.2). */
export const oauthErrorSchema = z
  .looseObject({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: "OauthError" });

/** The error of each shape. */
export const errorSchemas: Record<ErrorShape, z.ZodType> = {
  plain: plainErrorSchema,
  admin: plainErrorSchema,
  authenticator: z
    .object({
      code: z.int().describe("The status."),
      message: z.string(),
      messsage: z.string().optional().describe("The same at a 404, for published clients."),
    })
    .meta({ id: "AuthenticatorError" }),
  passkeys: z
    .looseObject({
      title: z.string(),
      details: z.string().optional().describe("The cause, for developers."),
      status: z.int(),
    })
    .meta({ id: "PasskeyError" }),
  flow: anyFlowState,
  oauth: oauthErrorSchema,
};

/** Keywords that only our own code reads, and those that say what `format` says. */
const internal = [
  "id",
  "secret",
  "impersonal",
  "hidden",
  "input",
  "announcedRequired",
  "preset",
  "preserve",
  "labels",
  "charset",
  "unit",
  "wildcards",
  "maxJsonCharacters",
  "maxJsonLevels",
];

/** Formats whose pattern says the same: generators give them types of their own, to which no pattern applies. */
const selfSufficientFormats = new Set<unknown>(["date-time", "date", "uuid", "ipv4", "ipv6"]);

/** Converts schemas of zod, and collects those with an id as components. */
export function createConverter() {
  const components: Record<string, JsonSchema> = {};
  /** @returns the schema, or a reference to its component */
  function convert(schema: z.ZodType): JsonSchema {
    const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), {
      io: "input",
      unrepresentable: "any",
      override({ zodSchema, jsonSchema }) {
        const target = jsonSchema as JsonSchema;
        const shown = shownSchema(zodSchema);
        if (shown) {
          for (const keyword of Object.keys(target)) delete target[keyword];
          Object.assign(target, convert(shown));
        } else simplify(zodSchema, target);
      },
    }) as unknown as { properties: { schema: JsonSchema }; $defs?: Record<string, JsonSchema> };
    for (const [id, found] of Object.entries($defs)) components[id] = withComponentRefs(found);
    return withComponentRefs(properties.schema);
  }
  return { components, convert };
}

function simplify(source: z.core.$ZodType, schema: JsonSchema): void {
  for (const keyword of internal) delete schema[keyword];
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // The choices depend on the account.
  if (Array.isArray(schema.enum) && schema.enum.length === 0) delete schema.enum;
  const names = schema.propertyNames as JsonSchema | undefined;
  if (names?.type === "string" && Object.keys(names).length === 1) delete schema.propertyNames;
  if (Array.isArray(schema.anyOf))
    schema.anyOf = schema.anyOf.flatMap((option: JsonSchema) =>
      Array.isArray(option.anyOf) && Object.keys(option).length === 1 ? option.anyOf : [option],
    );
  withTypesAsList(schema);
  // Generated Python compares the value with the text `true`.
  if (typeof schema.const === "boolean") delete schema.const;
  if (selfSufficientFormats.has(schema.format)) delete schema.pattern;
  // Generators of Go write a default of an object as code that does not compile.
  if (typeof schema.default === "object" && !Array.isArray(schema.default)) delete schema.default;
  if (source instanceof z.ZodDiscriminatedUnion) {
    const discriminator = discriminatorOf(source);
    if (discriminator) schema.discriminator = discriminator;
  }
}

/**
 * Writes a union of simple types as a list of types, if each keyword then still applies to one of them alone: generators
 * make a type of their own of an `anyOf`, and those of Python reject null in it.
 */
function withTypesAsList(schema: JsonSchema): void {
  const options = (schema.anyOf ?? []) as JsonSchema[];
  // A union with any value is any value.
  if (options.some((option) => Object.keys(option).length === 0)) delete schema.anyOf;
  const types = options.flatMap(({ type }) => type ?? []) as string[];
  const areSimple = options.every(({ type }) => type !== undefined) && new Set(types).size === types.length;
  const keywords = options.flatMap((option) => Object.keys(option).filter((name) => !annotations.has(name)));
  const areApart = new Set(keywords).size === keywords.length;
  if (options.length < 2 || !areSimple || !areApart || options.some((option) => "const" in option)) return;
  const [choice] = options.flatMap((option) => (Array.isArray(option.enum) ? [option.enum] : []));
  const isNullable = types.includes("null");
  if (choice && types.length > (isNullable ? 2 : 1)) return;
  delete schema.anyOf;
  const { description, ...merged } = Object.assign({}, ...options) as JsonSchema;
  if (isNullable) delete merged.default;
  Object.assign(schema, merged, {
    type: types,
    ...(choice ? { enum: isNullable ? [...choice, null] : choice } : {}),
  });
  if (description !== undefined) schema.description ??= description;
}

/** Keywords that say nothing about validity, or what is merged anyway. */
const annotations = new Set(["type", "description", "default"]);

/**
 * The property that distinguishes the schemas of a union, and the component of each value. Null if its values are not
 * strings (OpenAPI 3.1.1, 4.8.25): generators accept no other.
 */
function discriminatorOf(union: z.ZodDiscriminatedUnion): JsonSchema | null {
  const propertyName = union.def.discriminator;
  const options = union.options.map((option) => {
    const { id } = z.globalRegistry.get(option) ?? {};
    const value = option instanceof z.ZodObject ? option.shape[propertyName] : undefined;
    return { id, values: value instanceof z.ZodLiteral || value instanceof z.ZodEnum ? valuesOf(value) : [] };
  });
  if (options.some(({ values }) => values.some((value) => typeof value !== "string"))) return null;
  const mapping = options.flatMap(({ id, values }) =>
    id ? values.map((value) => [value, `#/components/schemas/${id}`]) : [],
  );
  return { propertyName, mapping: Object.fromEntries(mapping) };
}

const valuesOf = (schema: z.ZodLiteral | z.ZodEnum): unknown[] =>
  schema instanceof z.ZodEnum ? schema.options : [...schema.values];

function withComponentRefs<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withComponentRefs) as Value;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === "$ref" && typeof member === "string"
      ? member.replace("#/$defs/", "#/components/schemas/")
      : withComponentRefs(member),
  ]);
  return Object.fromEntries(members);
}
