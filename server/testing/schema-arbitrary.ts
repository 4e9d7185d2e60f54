import fc from "fast-check";

/** Values by schemas of JSON Schema 2020-12, as far as the document of the interface uses it. */

export type JsonSchema = Record<string, unknown>;

/** Characters that PostgreSQL stores, of one line and of several scripts. */
const characters = fc.constantFrom(..."abcXYZ019 _-.é€字🜁'\"\\<%&");

/**
 * Makes an arbitrary of the values that a schema allows. Of members and items there are few, so that one request stays
 * small.
 *
 * @param resolve returns the schema that a `$ref` names
 * @param depth further levels of optional members; below it there are required ones alone
 */
export function valuesOf(
  schema: JsonSchema,
  resolve: (ref: string) => JsonSchema,
  depth = 3,
): fc.Arbitrary<unknown> {
  const of = (inner: unknown) => valuesOf(inner as JsonSchema, resolve, depth - 1);
  if (typeof schema.$ref === "string") return valuesOf(resolve(schema.$ref), resolve, depth);
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (options) return fc.oneof(...options.map((option) => valuesOf(option, resolve, depth)));
  const { type } = schema;
  if (Array.isArray(type))
    return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one }, resolve, depth)));
  const most = (name: string, fallback: number) => Math.min(Number(schema[name] ?? fallback), fallback);
  switch (type) {
    case "string":
      return textsOf(schema);
    case "integer":
    case "number":
      return fc.integer({ min: Number(schema.minimum ?? -1000), max: Number(schema.maximum ?? 1000) });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const least = Number(schema.minItems ?? 0);
      return fc.array(of(schema.items ?? {}), { minLength: least, maxLength: most("maxItems", least + 2) });
    }
    case "object":
      return objectsOf(schema, of, depth);
    default:
      return fc.constantFrom<unknown>("any", 1, true, [], {});
  }
}

function objectsOf(
  schema: JsonSchema,
  of: (schema: unknown) => fc.Arbitrary<unknown>,
  depth: number,
): fc.Arbitrary<unknown> {
  const members = Object.entries((schema.properties ?? {}) as Record<string, unknown>);
  const required = (schema.required ?? []) as string[];
  const record = (names: readonly string[]) =>
    fc.record(
      Object.fromEntries(
        members.filter(([name]) => names.includes(name)).map(([name, one]) => [name, of(one)]),
      ),
    );
  if (members.length > 0) {
    const optional = members.map(([name]) => name).filter((name) => !required.includes(name));
    return fc
      .subarray(optional, { maxLength: Math.min(optional.length, depth > 0 ? 3 : 0) })
      .chain((chosen) => record([...required, ...chosen]));
  }
  const each = schema.additionalProperties;
  if (typeof each !== "object") return fc.constant({});
  const names = textsOf((schema.propertyNames ?? {}) as JsonSchema);
  return fc.dictionary(names, of(each), { maxKeys: depth > 0 ? 2 : 0 });
}

const formats: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid(),
  "date-time": fc
    .date({ min: new Date("2001-01-01"), max: new Date("2020-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  date: fc.constantFrom("2026-01-31", "2026-02-01"),
  uri: fc.constantFrom("https://shop.example/hooks", "https://shop.example/a?b=c"),
  email: fc.constantFrom("ada@example.com", "grace@shop.example"),
  ipv4: fc.ipV4(),
  ipv6: fc.constant("2001:db8::7"),
};

function textsOf({ format, pattern, minLength, maxLength, enum: choice }: JsonSchema): fc.Arbitrary<string> {
  if (Array.isArray(choice)) return fc.constantFrom(...(choice as string[]));
  const known = formats[String(format)];
  if (known) return known;
  const least = Number(minLength ?? 0);
  const most = Math.min(Number(maxLength ?? 40), least + 40);
  if (typeof pattern === "string")
    return (
      fc
        // Texts are made without what looks ahead, and then judged by all of it.
        .stringMatching(new RegExp(pattern.replaceAll(/\(\?[=!][^()]*\)/g, ""), "u"))
        .map((text) => text.slice(0, 200))
        .filter(
          (text) =>
            new RegExp(pattern, "u").test(text) &&
            text.length >= least &&
            text.length <= Number(maxLength ?? 200),
        )
    );
  return fc
    .string({ unit: characters, minLength: least, maxLength: most })
    .filter((text) => text.length <= Number(maxLength ?? 1e6));
}
