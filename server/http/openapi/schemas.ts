import { z } from "zod";
import type { ErrorShape } from "../address.ts";
import { anyFlowState } from "../flow/schemas.ts";

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Record<string, unknown>;

/** An error outside flows. */
export const plainErrorSchema = z
  .object({ code: z.int().describe("The status."), message: z.string() })
  .meta({ id: "Error" });

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
};

/** Keywords that only our own code reads, and those that say what `format` says. */
const internal = ["id", "hidden", "input", "announcedRequired", "preserve", "labels", "charset"];

/** Converts schemas of zod, and collects those with an id as components. */
export function createConverter() {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    /** @returns the schema, or a reference to its component */
    convert(schema: z.ZodType): JsonSchema {
      const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), {
        io: "input",
        unrepresentable: "any",
        override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema as JsonSchema),
      }) as unknown as { properties: { schema: JsonSchema }; $defs?: Record<string, JsonSchema> };
      for (const [id, found] of Object.entries($defs)) components[id] = withComponentRefs(found);
      return withComponentRefs(properties.schema);
    },
  };
}

function simplify(source: z.core.$ZodType, schema: JsonSchema): void {
  for (const keyword of internal) delete schema[keyword];
  if (schema.format === "date-time" || schema.format === "uuid") delete schema.pattern;
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
  if (source instanceof z.ZodDiscriminatedUnion) schema.discriminator = discriminatorOf(source);
}

/** The property that distinguishes the schemas of a union, and the component of each value. */
function discriminatorOf(union: z.ZodDiscriminatedUnion): JsonSchema {
  const propertyName = union.def.discriminator;
  const mapping = union.options.flatMap((option) => {
    const { id } = z.globalRegistry.get(option) ?? {};
    const value = option instanceof z.ZodObject ? option.shape[propertyName] : undefined;
    const names = value instanceof z.ZodLiteral || value instanceof z.ZodEnum ? [...namesOf(value)] : [];
    return id ? names.map((name) => [name, `#/components/schemas/${id}`]) : [];
  });
  return { propertyName, mapping: Object.fromEntries(mapping) };
}

const namesOf = (schema: z.ZodLiteral | z.ZodEnum) =>
  (schema instanceof z.ZodEnum ? schema.options : [...schema.values]).map(String);

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
