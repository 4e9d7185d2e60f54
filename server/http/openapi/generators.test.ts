import { describe, expect, test } from "vitest";
import { addresses } from "../addresses.ts";
import { openApiDocument } from "./document.ts";
import type { JsonSchema } from "./schemas.ts";

/**
 * What generators of clients need of the document, each found with openapi-generator 7.14 for Python or Go. `npm run
 * test:clients` runs the generators themselves.
 */

const document = openApiDocument(addresses, { version: "1", servers: [], examples: {} });
const { schemas } = document.components as { schemas: Record<string, JsonSchema> };

/** Every object of the document that satisfies a condition, by its JSON pointer. */
function found(condition: (schema: JsonSchema) => boolean): string[] {
  const walk = (value: unknown, at: string): string[] => {
    if (typeof value !== "object" || value === null) return [];
    const own = !Array.isArray(value) && condition(value as JsonSchema) ? [at] : [];
    return [...own, ...Object.entries(value).flatMap(([name, member]) => walk(member, `${at}/${name}`))];
  };
  return walk(document, "#");
}

const optionsOf = ({ anyOf, oneOf }: JsonSchema) => (anyOf ?? oneOf ?? []) as JsonSchema[];
const resolved = (schema: JsonSchema) =>
  typeof schema.$ref === "string" ? (schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}) : schema;

describe("for the generators of clients, the document has", () => {
  test("no union with null: a nullable schema has a list of types", () => {
    expect(found((schema) => optionsOf(schema).some(({ type }) => type === "null"))).toEqual([]);
    expect(found(({ type }) => Array.isArray(type) && type.includes("null")).length).toBeGreaterThan(10);
  });

  test("discriminators of strings alone", () => {
    const others = found(({ discriminator, ...schema }) => {
      const { propertyName = "" } = (discriminator ?? {}) as { propertyName?: string };
      const members = optionsOf(schema).map(
        (option) => (resolved(option).properties as Record<string, JsonSchema> | undefined)?.[propertyName],
      );
      return (
        discriminator !== undefined && members.some((member) => resolved(member ?? {}).type !== "string")
      );
    });
    expect(others).toEqual([]);
  });

  test("states whose names are components: generated Go tells constants in their place not apart", () => {
    const { properties } = schemas.PreflightState as { properties: { name: JsonSchema } };
    expect(properties.name).toEqual({ $ref: "#/components/schemas/PreflightStateName" });
    expect(schemas.PreflightStateName).toEqual({ type: "string", const: "preflight" });
  });

  test("no constant that is a boolean: generated Python compares it with a text", () => {
    expect(found((schema) => typeof schema.const === "boolean")).toEqual([]);
  });

  test("no default that is an object: generated Go does not compile", () => {
    const isObject = (value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value) && !("type" in value);
    expect(found((schema) => isObject(schema.default) && "type" in schema)).toEqual([]);
  });

  test("no pattern beside a format that has a type of its own", () => {
    const typed = ["date-time", "date", "uuid", "ipv4", "ipv6"];
    expect(found(({ format, pattern }) => typed.includes(String(format)) && pattern !== undefined)).toEqual(
      [],
    );
  });

  test("webhooks that refer to path items: of one in its place a call of the API is made", () => {
    const { webhooks } = document as { webhooks: Record<string, JsonSchema> };
    for (const webhook of Object.values(webhooks))
      expect(webhook).toEqual({ $ref: expect.stringMatching(/^#\/components\/pathItems\/\w+$/) });
  });

  test("one tag for each operation, and names that differ by more than case and punctuation", () => {
    const paths = document.paths as Record<string, Record<string, { tags: string[] }>>;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations.filter(({ tags }) => tags.length !== 1)).toEqual([]);
    const tags = [...new Set(operations.flatMap((operation) => operation.tags))];
    for (const names of [tags, Object.keys(schemas)])
      expect(new Set(names.map((name) => name.toLowerCase().replaceAll(/\W/g, ""))).size).toBe(names.length);
  });
});
