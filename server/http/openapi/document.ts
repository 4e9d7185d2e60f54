import { STATUS_CODES } from "node:http";
import { z } from "zod";
import { events } from "../../events/events.ts";
import {
  type Address,
  type Answer,
  type Operation,
  type Security,
  type Tag,
  tags,
} from "../table/address.ts";
import { isCsv } from "../table/fields.ts";
import { INVALID_INPUT } from "../table/operation.ts";
import { createConverter, errorSchemas, type JsonSchema } from "./schemas.ts";

/** A recorded call of an operation: what was sent, and the answers by status. */
export interface Example {
  query?: Record<string, unknown>;
  body?: unknown;
  answers: Record<string, unknown>;
}

/** Recorded calls by the id of the operation. */
export type Examples = Record<string, Example>;

const bearer = (description: string) => ({ type: "http", scheme: "bearer", description });

const securitySchemes = {
  sessionToken: { ...bearer("A session token."), bearerFormat: "JWT" },
  sessionCookie: {
    type: "apiKey",
    in: "cookie",
    name: "service",
    description: "The session cookie; `session.cookie.name` is its name.",
  },
  adminKey: bearer("An API key of the interface `admin`."),
  passkeysKey: {
    type: "apiKey",
    in: "header",
    name: "apiKey",
    description: "An API key of the interface `passkeys`.",
  },
  authenticatorKey: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "`secret` and an API key of the interface `authenticator`: `Authorization: secret stile_…`.",
  },
  deviceToken: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "`device` and the token of the QR code.",
  },
  viewToken: {
    type: "apiKey",
    in: "query",
    name: "token",
    description: "The read-only token of a page or a picture.",
  },
  jobsSecret: bearer("The secret of `jobs.secret`."),
};

type Scheme = keyof typeof securitySchemes;

/** The schemes of each kind of credential; a request needs one of them, `null` stands for none. */
const schemesOf: Record<Security, readonly (Scheme | null)[]> = {
  none: [],
  session: ["sessionToken", "sessionCookie"],
  "optional-session": [null, "sessionToken", "sessionCookie"],
  admin: ["adminKey"],
  passkeys: ["passkeysKey"],
  "optional-passkeys": [null, "passkeysKey"],
  authenticator: ["authenticatorKey"],
  device: ["authenticatorKey", "deviceToken", "viewToken"],
  jobs: ["jobsSecret"],
};

/**
 * Builds the document of every address with a declaration (OpenAPI 3.1).
 *
 * @param servers base addresses
 */
export function openApiDocument(
  addresses: readonly Address[],
  { version, servers, examples }: { version: string; servers: readonly string[]; examples: Examples },
) {
  const { components, convert } = createConverter();
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  for (const row of addresses) {
    if (!row.operation) continue;
    paths[row.path] = {
      ...paths[row.path],
      [row.method.toLowerCase()]: operationOf(row, row.operation, convert, examples[row.operation.id]),
    };
  }
  const used = new Set<string>([...addresses.flatMap(({ operation }) => operation?.tag ?? []), "events"]);
  const pathItems = deliveriesOf(convert);
  return {
    openapi: "3.1.1",
    info: {
      title: "Stile",
      version,
      summary: "A sign-in service.",
      description:
        "The flow interface (`/login`, `/registration`, `/profile`, `/token_exchange`) is the Flow API, version 3.0.4. The administration interface, the passkey server and the authenticator interface are for servers, with an API key each. A tenant is found by its host name, or by `/t/{tenant}` before every path.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      "x-api-version": "3.0.4",
    },
    servers: servers.map((url) => ({ url })),
    tags: Object.entries(tags)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(
      Object.keys(events).map((name) => [name, { $ref: `#/components/pathItems/${deliveryId(name)}` }]),
    ),
    components: {
      schemas: Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes,
      pathItems,
    },
  };
}

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

export type DescribedOperation = ReturnType<typeof operationOf>;

/**
 * Deliveries to webhooks. The webhooks of the document refer to them: of a webhook that is written in its place,
 * generators make a call of the API, and that of Python is no Python.
 */
function deliveriesOf(convert: Convert) {
  const entries = Object.entries(events).map(
    ([name, { when, data }]) => [deliveryId(name), deliveryOf(name, when, convert(data))] as const,
  );
  return Object.fromEntries(entries);
}

const deliveryOf = (name: string, when: string, data: JsonSchema) => ({
  post: {
    operationId: `on.${name}`,
    summary: `Delivery of ${name}`,
    description: when,
    tags: ["events" satisfies Tag],
    security: [],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: { token: tokenOf(name, data), event: { type: "string", const: name } },
            required: ["token", "event"],
          },
        },
      },
    },
    responses: { "2XX": { description: "Received." }, "4XX": { description: "Delivered again later." } },
  },
});

/** The token of a delivery: header and claims in a list (JSON Schema Validation 2020-12, 8.6). */
const tokenOf = (event: string, data: JsonSchema) => ({
  type: "string",
  description: "A JWT with `evt` and `data`, verified by `/.well-known/jwks.json`.",
  contentMediaType: "application/jwt",
  contentSchema: {
    type: "array",
    prefixItems: [
      { type: "object", properties: { typ: { const: "webhook+jwt" } }, required: ["typ"] },
      { type: "object", properties: { evt: { const: event }, data }, required: ["evt", "data"] },
    ] as const,
  },
});

const deliveryId = (event: string) => event.replaceAll(".", "_");

/** The schemas of the data of events, by the name of the event. */
export function eventSchemas({ components }: OpenApiDocument): Record<string, JsonSchema> {
  const found = Object.keys(events).map((name) => {
    const content = components.pathItems[deliveryId(name)]?.post.requestBody.content;
    const token = content?.["application/json"].schema.properties.token;
    return [name, token?.contentSchema.prefixItems[1].properties.data ?? {}];
  });
  return Object.fromEntries(found);
}

type Convert = (schema: z.ZodType) => JsonSchema;

/** Describes an operation. Members that are undefined are not in the document, which is JSON. */
function operationOf(row: Address, operation: Operation, convert: Convert, example?: Example) {
  const { id, summary, description, tag, security, body, bodyType, bodyOptional } = operation;
  return {
    operationId: id,
    summary,
    description,
    tags: [tag],
    security: schemesOf[security].map((scheme) => (scheme ? { [scheme]: [] } : {})),
    parameters: parametersOf(row.path, operation, convert),
    requestBody: body && {
      // An empty body counts as an empty object.
      required: !bodyOptional && !body.safeParse({}).success,
      content: { [bodyType ?? "application/json"]: { schema: convert(body), example: example?.body } },
    },
    responses: responsesOf(row, operation, convert, example),
  };
}

function parametersOf(path: string, { params, query, headers }: Operation, convert: Convert) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: undefined,
    schema: convert((params?.shape[name] as z.ZodType | undefined) ?? z.string()),
  }));
  const found = [...inPath, ...named("query", query, convert), ...named("header", headers, convert)];
  return found.length > 0 ? found : undefined;
}

function named(place: "query" | "header", object: z.ZodObject | undefined, convert: Convert) {
  return Object.entries(object?.shape ?? {}).map(([name, schema]) => {
    const field = schema as z.ZodType;
    const { description, ...converted } = convert(field);
    const list = unwrapped(field);
    return {
      name,
      in: place,
      required: field.safeParse(undefined).success ? undefined : true,
      description,
      ...(list instanceof z.ZodArray ? { style: "form", explode: !isCsv(list) } : {}),
      schema: converted,
    };
  });
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? unwrapped(schema.unwrap())
    : schema;
}

/** Errors that an operation has by what it declares. The others of the interfaces are declared in their rows. */
function impliedAnswers({ errorShape }: Address, { security, params, query, body }: Operation) {
  if (errorShape === "flow") return {};
  const unknownTenant = { 404: "There is no such tenant." };
  if (security !== "admin") return unknownTenant;
  return {
    ...unknownTenant,
    ...(params || query || body ? { 400: INVALID_INPUT } : {}),
    401: "The API key is missing or wrong.",
    ...(body ? { 413: "The body is too large." } : {}),
  };
}

function responsesOf(row: Address, operation: Operation, convert: Convert, example?: Example) {
  const answers: Record<string, Answer | string> = {
    ...impliedAnswers(row, operation),
    ...operation.answers,
  };
  const error = convert(errorSchemas[row.errorShape]);
  const responses = Object.entries(answers).map(([status, declared]) => {
    const answer: Answer = typeof declared === "string" ? { description: declared } : declared;
    const schema = answer.schema ? convert(answer.schema) : Number(status) >= 400 ? error : undefined;
    const described = {
      description: answer.description ?? STATUS_CODES[status] ?? "",
      headers: answer.headers && headersOf(answer.headers),
      content: schema && {
        [answer.mediaType ?? "application/json"]: { schema, example: example?.answers[status] },
      },
    };
    return [status, described] as const;
  });
  const other = {
    description: "Another error.",
    headers: undefined,
    content: { "application/json": { schema: error, example: undefined } },
  };
  return Object.fromEntries([...responses, ["default", other] as const]);
}

function headersOf(headers: Record<string, string>) {
  const described = Object.entries(headers).map(
    ([name, description]) => [name, { description, schema: { type: "string" } }] as const,
  );
  return Object.fromEntries(described);
}
