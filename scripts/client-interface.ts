import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { addresses } from "../server/http/addresses.ts";
import {
  type DescribedOperation,
  eventSchemas,
  type OpenApiDocument,
  openApiDocument,
} from "../server/http/openapi/document.ts";
import type { JsonSchema } from "../server/http/openapi/schemas.ts";

/** Writes the types of the client for servers from the document of the interface. */

/** @returns the module `packages/server/src/interface.ts` */
export function clientInterface(): string {
  const document = openApiDocument(addresses, { version: "", servers: [], examples: {} });
  const linter = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
  return execFileSync(
    process.execPath,
    [linter, "format", "--stdin-file-path=packages/server/src/interface.ts"],
    {
      input: moduleOf(document),
      encoding: "utf8",
    },
  );
}

function moduleOf(document: OpenApiDocument): string {
  const { schemas } = document.components;
  const used = new Set<string>();
  const admin = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.some((scheme) => "adminKey" in scheme))
      .map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  );
  const types = admin.map(({ described }) => {
    const { operationId, summary, description } = described;
    const text = [summary, ...(description ? [description] : [])].join(". ").replace(/([^.])$/, "$1.");
    return [
      `  /** ${text} */`,
      `  ${operationId}: {`,
      `    input: ${inputOf(described, used)};`,
      `    answer: ${answerOf(described, used)};`,
      "  };",
    ].join("\n");
  });
  const table = admin.map(({ path, method, described }) => {
    const paged = isPaged(described) ? ", true" : "";
    return `  ${described.operationId}: ["${method}", "${path}"${paged}],`;
  });
  const events = Object.entries(eventSchemas(document)).map(
    ([name, schema]) => `  "${name}": ${typeOf(schema, used)};`,
  );
  const named: string[] = [];
  for (const name of used) {
    const schema = schemas[name] ?? {};
    const type = typeOf(schema, used);
    named.push(
      type.startsWith("{") && !type.includes("} |")
        ? `export interface ${name} ${type}`
        : `export type ${name} = ${type};`,
    );
  }
  return `${[
    "// Made by `npm run docs` from the document of the interface (`/openapi.json`). Change the declarations there.",
    "",
    ...named.toSorted(),
    "",
    "/** The data of each event. */",
    "export interface EventData {",
    ...events,
    "}",
    "",
    "/** Input and answer of each operation of the administration interface. */",
    "export interface AdminOperations {",
    ...types,
    "}",
    "",
    "/** Method and path of each operation, and whether it answers with a page of a list. */",
    "export const operations = {",
    ...table,
    "} as const satisfies Record<keyof AdminOperations, readonly [method: string, path: string, paged?: true]>;",
  ].join("\n")}\n`;
}

function inputOf({ parameters = [], requestBody }: DescribedOperation, used: Set<string>): string {
  const params = parameters
    .filter((parameter) => parameter.in === "path")
    .map(({ name }) => `${name}: string`);
  const query = parameters
    .filter((parameter) => parameter.in === "query")
    .map(({ name, required, schema, description }) => {
      return `${commentOf(description)}${quoted(name)}${required ? "" : "?"}: ${typeOf(schema, used)}${required ? "" : " | undefined"}`;
    });
  const needed = parameters.some((parameter) => parameter.in === "query" && parameter.required);
  const [content] = Object.values(requestBody?.content ?? {});
  const members = [
    ...params,
    ...(query.length > 0 ? [`query${needed ? "" : "?"}: {\n${query.join(";\n")}\n}`] : []),
    ...(content ? [`body${requestBody?.required ? "" : "?"}: ${typeOf(content.schema, used)}`] : []),
  ];
  return members.length > 0 ? `{ ${members.join("; ")} }` : "Record<never, never>";
}

function isPaged({ responses }: DescribedOperation): boolean {
  return "X-Total-Count" in (responses[200]?.headers ?? {});
}

/** The body of every success. */
function answerOf(described: DescribedOperation, used: Set<string>): string {
  const bodies = Object.entries(described.responses)
    .filter(([status]) => /^2/.test(status))
    .map(([, { content }]) => {
      const [[type, { schema }] = ["", { schema: undefined }]] = Object.entries(content ?? {});
      if (!schema) return "undefined";
      return type === "application/json" ? typeOf(schema, used) : "string";
    });
  const whole = [...new Set(bodies)].join(" | ");
  return isPaged(described) ? `{ items: ${whole}; total: number }` : whole;
}

const quoted = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function typeOf(schema: JsonSchema | boolean | undefined, used: Set<string>): string {
  if (schema === undefined || typeof schema === "boolean") return "unknown";
  const { $ref, type, properties, additionalProperties } = schema;
  if (typeof $ref === "string") {
    const name = $ref.replace("#/components/schemas/", "");
    used.add(name);
    return name;
  }
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const options = (schema.oneOf ?? schema.anyOf) as JsonSchema[] | undefined;
  if (options) return options.map((option) => typeOf(option, used)).join(" | ");
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, used)).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array": {
      const item = typeOf(schema.items as JsonSchema, used);
      return item.includes(" ") ? `(${item})[]` : `${item}[]`;
    }
    case "object":
      return objectType(properties as Record<string, JsonSchema> | undefined, schema, used);
    default:
      return additionalProperties === undefined ? "unknown" : objectType(undefined, schema, used);
  }
}

function objectType(
  properties: Record<string, JsonSchema> | undefined,
  { required = [], additionalProperties }: JsonSchema,
  used: Set<string>,
): string {
  const needed = required as string[];
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    const optional = !needed.includes(name);
    return `${commentOf(member.description)}${quoted(name)}${optional ? "?" : ""}: ${typeOf(member, used)}${optional ? " | undefined" : ""}`;
  });
  if (members.length === 0)
    return additionalProperties === false
      ? "Record<string, never>"
      : `Record<string, ${typeOf(additionalProperties as JsonSchema, used)}>`;
  return `{\n${members.join(";\n")}\n}`;
}

const commentOf = (description: unknown) =>
  typeof description === "string" ? `/** ${description} */\n` : "";
