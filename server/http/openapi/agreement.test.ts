import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createApiKey } from "../../tenants/api-keys.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { type JsonSchema, valuesOf } from "../../testing/schema-arbitrary.ts";
import { visitor } from "../../testing/visitor.ts";
import { addresses } from "../addresses.ts";
import { openApiDocument } from "./document.ts";

/**
 * Document and service agree: requests that are made from the document are sent to the service. What the document allows
 * is not refused for its form, and what it forbids is not taken.
 */

/** The same requests in every run. `STILE_TEST_SEED` makes others. */
const seed = Number(process.env.STILE_TEST_SEED ?? 27);
const RUNS = 5;

const keys: Record<string, string> = {};
const runtime = await runtimeForTests({ STILE_USERNAME_ENABLED: "true" });
for (const name of ["admin", "passkeys", "authenticator"] as const)
  keys[name] = (await createApiKey(runtime, runtime.tenant, { interface: name, name })).key;

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  explode?: boolean;
  schema: JsonSchema;
}

interface Described {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

const document = openApiDocument(addresses, { version: "1", servers: [], examples: {} });
const { schemas } = document.components as { schemas: Record<string, JsonSchema> };
const resolve = (ref: string) => schemas[ref.replace("#/components/schemas/", "")] ?? {};
const ajv = addFormats.default(new Ajv2020({ strict: false }));
ajv.addSchema({ $id: "document", components: document.components });

/** Compiling one costs more than all that it judges. */
const validators = new Map<JsonSchema, ValidateFunction>();

/** Whether a value is one of a schema of the document. */
function accepts(schema: JsonSchema, value: unknown): boolean {
  const compile = () =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')));
  const validator = validators.get(schema) ?? compile();
  validators.set(schema, validator);
  return validator(value) === true;
}

/** Groups whose operations answer to browsers and providers, with forms, pages and redirects. */
const groupsOfPages = new Set(["page", "providers", "openid"]);

const operations = addresses
  .filter(({ operation }) => operation && !groupsOfPages.has(operation.tag) && operation.security !== "jobs")
  .map(({ method, path }) => {
    const paths = document.paths as Record<string, Record<string, Described>>;
    return { method, path, described: paths[path]?.[method.toLowerCase()] as Described };
  });

/** Rules that no schema can say: about several members, about what exists, or about the settings of a tenant. */
const rules: Record<string, RegExp> = {
  bindSession: /^`Secure-Session-Response` must have a proof/,
  renewBinding: /^`Sec-Secure-Session-Id` must have the id/,
  redeemCode: /^The code is invalid/,
  createUser:
    /needs `emails` or `username`|Exactly one of `emails`|^An address must be|^A username has|at most 5 emails/,
  createUserEmail: /^An address must be/,
  updateUser: /^A username has/,
  setUsername: /^A username has/,
  setPhoneNumber: /^`phone_number` must be/,
  createUserPassword: /^The password/,
  updateUserPassword: /^The password/,
  ...Object.fromEntries(
    ["getOverview", "getFunnel", "getFunnelSeries"].map((id) => [
      id,
      /from must be 1 to \d+ (hour|day)s before to|must be between the years/,
    ]),
  ),
  impersonateUser: /reason must (be one line|have a letter)/,
  getStatistics: /must be at most \d+ days before to/,
  replayWebhookDeliveries: /needs flow_id or start_time/,
  // A setting by its name, with what it must be; not its type, and not that it does not exist.
  createTenant: /^(?!.*(?:is not a setting|Invalid input|unknown member))/,
  ...Object.fromEntries(
    ["checkSettings", "dryRunSettings", "exportDryRun"].map((id) => [
      id,
      /^(?!.*(?:is not a setting|Invalid input|unknown member))/,
    ]),
  ),
  changeTenant: /is not a host name/,
  changeOwnTenant: /is not a host name/,
  createAuthenticatorRequest: /must not be blank|goes with the operation|does not go with the operation/,
  renameDevice: /must not be blank/,
  ...Object.fromEntries(
    ["initializePasskeyRegistration", "initializeSecurityKeyRegistration"].map((id) => [
      id,
      /icon must be a valid URL/,
    ]),
  ),
  initializeSecondFactor: /no suitable credentials/,
  initializeTransaction: /not an allowed address|no suitable credentials/,
  redeemTransactionCode: /^the code is not valid/,
  // The body of a start at the address of an action.
  answerApplication: /^The request is not valid/,
  renameCredential: /^name is a required field/,
  // What the browser signed is read after its form was judged.
  ...Object.fromEntries(
    [
      "finalizePasskeyRegistration",
      "finalizeSecurityKeyRegistration",
      "finalizePasskeyLogin",
      "finalizeSecondFactor",
      "finalizeTransaction",
    ].map((id) => [id, /cannot be read|does not|is not/]),
  ),
};

/** Faults of one operation that are tried. */
const MAX_FAULTS = 24;

interface Sent {
  path: Record<string, unknown>;
  query: [string, string][];
  body?: unknown;
}

async function send(method: string, path: string, { security }: Described, sent: Sent) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(sent.path[name])));
  const query = new URLSearchParams(sent.query).toString();
  const schemes = security.flatMap((scheme) => Object.keys(scheme));
  const headers: Record<string, string> = {
    ...(schemes.includes("adminKey") ? { authorization: `Bearer ${keys.admin}` } : {}),
    ...(schemes.includes("passkeysKey") ? { apiKey: keys.passkeys ?? "" } : {}),
    ...(schemes.includes("authenticatorKey") ? { authorization: `secret ${keys.authenticator}` } : {}),
    ...(sent.body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await visitor(runtime).request(query ? `${filled}?${query}` : filled, {
    method,
    headers,
    ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json;");
  const { message, details, title, error } = isJson && text ? JSON.parse(text) : ({} as never);
  return {
    status: response.status,
    message: String(details || title || message || error?.message || text.slice(0, 200)),
  };
}

/** How a parameter is written in a query (OpenAPI 3.1, style `form`). */
const written = ({ name, explode, schema }: Parameter, value: unknown): [string, string][] => {
  if (!Array.isArray(value)) return [[name, String(value)]];
  if (schema.type === "array" && explode) return value.map((item): [string, string] => [name, String(item)]);
  return value.length > 0 ? [[name, value.join(",")]] : [];
};

/** The value that a text in a query stands for. */
function read(schema: JsonSchema, text: string): unknown {
  if (schema.type === "integer") return /^-?\d+$/.test(text) ? Number(text) : text;
  if (schema.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (schema.type === "array") return text.split(",").map((item) => read(schema.items as JsonSchema, item));
  return text;
}

const valid = ({ parameters = [], requestBody }: Described): fc.Arbitrary<Sent> => {
  const [media] = Object.values(requestBody?.content ?? {});
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const pathOf = (parameter: Parameter): fc.Arbitrary<unknown> =>
    parameter.name === "tenant_id"
      ? fc.constant(runtime.tenant.id)
      : parameter.schema.type === "string" && Object.keys(parameter.schema).length === 1
        ? fc.constantFrom("ada", "x-1")
        : valuesOf(parameter.schema, resolve);
  const byName = (list: readonly Parameter[], make: (parameter: Parameter) => fc.Arbitrary<unknown>) =>
    fc.record(Object.fromEntries(list.map((parameter) => [parameter.name, make(parameter)])));
  const queries = fc.subarray(inQuery).chain((chosen) => {
    const sent = inQuery.filter((parameter) => parameter.required || chosen.includes(parameter));
    return byName(sent, ({ schema }) => valuesOf(schema, resolve)).map((values) =>
      sent.flatMap((parameter) => written(parameter, values[parameter.name])),
    );
  });
  return fc.record({
    path: byName(inPath, pathOf),
    query: queries,
    ...(media ? { body: valuesOf(media.schema, resolve) } : {}),
  }) as fc.Arbitrary<Sent>;
};

const strangeTexts = ["", "x", "-1", "1e3", "0x1", "99999999999", "2026-13-01", "True"];
const strangeValues = [null, "", 0, -1, 1.5, true, "x".repeat(5000), [], ["x"], [{}], {}, { x: 1 }];

/** Requests that differ from a valid one in one place, which the document forbids. */
function broken({ parameters = [], requestBody }: Described, request: Sent): Sent[] {
  const found: Sent[] = [];
  for (const parameter of parameters.filter((one) => one.in === "query"))
    for (const text of strangeTexts)
      if (!accepts(parameter.schema, read(parameter.schema, text))) {
        const others = request.query.filter(([name]) => name !== parameter.name);
        found.push({ ...request, query: [...others, [parameter.name, text]] });
      }
  for (const parameter of parameters.filter((one) => one.in === "path"))
    for (const text of ["x", "1"])
      if (!accepts(parameter.schema, text))
        found.push({ ...request, path: { ...request.path, [parameter.name]: text } });
  const [media] = Object.values(requestBody?.content ?? {});
  if (!media) return found;
  const body = (request.body ?? {}) as Record<string, unknown>;
  // A flow that is started ignores the body.
  const isFlow = parameters.some(({ name }) => name === "action");
  const query: Sent["query"] = isFlow ? [["action", `back@${runtime.tenant.id}`]] : request.query;
  const names = Object.keys({ ...body, ...(resolved(media.schema).properties as object | undefined) });
  const bodies = [
    ...names.flatMap((name) => strangeValues.map((value) => ({ ...body, [name]: value }))),
    ...names.map((name) => Object.fromEntries(Object.entries(body).filter(([member]) => member !== name))),
    ...withUnknownMember(body),
  ];
  return [
    ...found,
    ...bodies.filter((one) => !accepts(media.schema, one)).map((one) => ({ ...request, query, body: one })),
  ];
}

/** Copies of a value that have a member more, in each of its objects. */
function withUnknownMember(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const members = Object.entries(value);
  const nested = members.flatMap(([name, member]) =>
    withUnknownMember(member).map((changed) => ({ ...value, [name]: changed })),
  );
  return [{ ...value, unknown_member: 1 }, ...nested];
}

const resolved = (schema: JsonSchema): JsonSchema =>
  typeof schema.$ref === "string" ? resolved(resolve(schema.$ref)) : schema;

describe("a request made from the document", () => {
  test.each(operations.map((operation) => [operation.described.operationId, operation] as const))(
    "of %s is not refused for its form, and with one fault is not taken",
    async (id, { method, path, described }) => {
      const refused: unknown[] = [];
      const taken: unknown[] = [];
      const requests = fc.sample(valid(described), { numRuns: RUNS, seed });
      for (const request of requests) {
        const { status, message } = await send(method, path, described, request);
        if (status >= 500 || (status === 400 && !rules[id]?.test(message)))
          refused.push([message, status, request]);
      }
      const faulty = requests.slice(0, 3).flatMap((request) => broken(described, request));
      const chosen =
        faulty.length > MAX_FAULTS
          ? fc
              .sample(fc.subarray(faulty, { minLength: MAX_FAULTS, maxLength: MAX_FAULTS }), {
                numRuns: 1,
                seed,
              })
              .flat()
          : faulty;
      for (const request of chosen) {
        const { status } = await send(method, path, described, request);
        if (status < 400 || status >= 500) taken.push([status, request]);
      }
      expect({ refused: refused.slice(0, 3), taken: taken.slice(0, 3) }).toEqual({ refused: [], taken: [] });
    },
  );
});
