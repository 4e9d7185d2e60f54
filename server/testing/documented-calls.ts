import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { addresses, findRoute } from "../http/addresses.ts";
import { type Example, type Examples, openApiDocument } from "../http/openapi/document.ts";
import type { Runtime } from "../runtime.ts";
import { observe } from "./observed.ts";

/** Calls that were compared with the document of the interface. */
export interface DocumentedCalls {
  /** Ids of the operations that were called, with the statuses of their answers. */
  readonly called: Map<string, Set<number>>;
  /** What differs from the document: the operation, the status and the member. */
  readonly differences: string[];
  /** The first call of each operation and status, with placeholders for what changes from run to run. */
  readonly examples: Examples;
  /** Whether calls become examples. */
  recording: boolean;
}

interface Described {
  parameters?: { name: string; in: string; required?: boolean; schema: { type?: string } }[];
  requestBody?: { required: boolean; content: Record<string, unknown> };
  responses: Record<string, { content?: Record<string, unknown>; headers?: Record<string, unknown> }>;
}

/** Compares every request of a runtime's clients and its answer with the document, by a validator of another author. */
export function documentedCalls(runtime: Pick<Runtime, "database">): DocumentedCalls {
  const document = openApiDocument(addresses, { version: "1", servers: [], examples: {} });
  const paths = document.paths as Record<string, Record<string, Described>>;
  // A request may have what a schema leaves open; an answer may not have what the document does not name.
  const requests = validatorOf(document);
  const answers = validatorOf(closed(document));
  const called = new Map<string, Set<number>>();
  const differences: string[] = [];
  const examples: Examples = {};
  const calls: DocumentedCalls = { called, differences, examples, recording: true };

  observe(runtime, async ({ request, body, response }) => {
    const url = new URL(request.url);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const found = findRoute(url.pathname.replace(/^\/t\/[^/]+/, ""), method);
    if (!found || "unknown" in found) return;
    const id = found.route.methods.get(method)?.operation?.id;
    const described = paths[found.route.path]?.[method.toLowerCase()];
    if (!id || !described) return;
    const { status } = response;
    const at = `#/paths/${pointer(found.route.path)}/${method.toLowerCase()}`;
    const differs = (what: string) => differences.push(`${id} ${status}: ${what}`);
    called.set(id, (called.get(id) ?? new Set()).add(status));

    const answer = described.responses[status] ? String(status) : "default";
    if (answer === "default" && status < 400) differs("the status is not declared");
    const types = Object.keys(described.responses[answer]?.content ?? {});
    const type = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
    const text = await response.text();
    const shown =
      /^application\/(?:[\w.-]+\+)?json$/.test(type) && text !== "" ? JSON.parse(text) : undefined;
    if (text !== "" && !types.includes(type)) differs(`the type ${type} is not declared`);
    else if (types.length > 0 && text === "" && request.method !== "HEAD") differs("has no body");
    else if (shown !== undefined)
      check(answers, `${at}/responses/${answer}/content/${pointer(type)}/schema`, shown, differs);

    const sent = bodyOf(request, body);
    const query = Object.fromEntries(url.searchParams);
    if (status < 400) {
      const declared = new Set(described.parameters?.map((parameter) => parameter.name.toLowerCase()));
      for (const name of url.searchParams.keys())
        if (!declared.has(name.toLowerCase()) && name !== "token") differs(`the query has ${name}`);
      for (const [index, parameter] of (described.parameters ?? []).entries()) {
        const given =
          parameter.in === "path"
            ? found.params[parameter.name]
            : parameter.in === "query"
              ? url.searchParams.get(parameter.name)
              : request.headers.get(parameter.name);
        if (given === null || given === undefined) {
          if (parameter.required) differs(`the parameter ${parameter.name} is missing`);
        } else if (parameter.schema.type === "string" && given !== "")
          check(requests, `${at}/parameters/${index}/schema`, given, differs);
      }
      const [bodyType] = Object.keys(described.requestBody?.content ?? {});
      if (sent !== undefined && bodyType)
        check(requests, `${at}/requestBody/content/${pointer(bodyType)}/schema`, sent, differs);
      else if (described.requestBody?.required && sent === undefined) differs("the body is missing");
    }

    // The document is no example of itself.
    if (id === "getOpenApi" || !calls.recording) return;
    examples[id] ??= { answers: {} };
    const example: Example = examples[id];
    if (status < 400 && sent !== undefined && type === "application/json" && example.body === undefined)
      example.body = withPlaceholders(sent);
    if (status < 400 && Object.keys(query).length > 0) example.query ??= withPlaceholders(query);
    if (shown !== undefined && described.responses[status])
      example.answers[status] ??= withPlaceholders(shortened(shown));
  });

  return calls;
}

function validatorOf(document: object) {
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: false }));
  ajv.addSchema({ $id: "document", ...document });
  return (at: string): ValidateFunction => {
    const found = ajv.getSchema(`document${at}`);
    if (!found) throw new Error(`the document has no ${at}`);
    return found as ValidateFunction;
  };
}

function check(
  validate: (at: string) => ValidateFunction,
  at: string,
  value: unknown,
  differs: (what: string) => void,
): void {
  const valid = validate(at);
  if (valid(value)) return;
  for (const { instancePath, message, params } of valid.errors ?? [])
    differs(`${instancePath} ${message} ${JSON.stringify(params)}`);
}

const pointer = (segment: string) => encodeURIComponent(segment.replaceAll("~", "~0").replaceAll("/", "~1"));

function bodyOf(request: Request, body: string): unknown {
  if (body === "") return undefined;
  const type = request.headers.get("content-type") ?? "";
  if (type.startsWith("application/x-www-form-urlencoded"))
    return Object.fromEntries(new URLSearchParams(body));
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The same document with schemas that accept no members but those they name. */
function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, closed(member)]);
  const schema = Object.fromEntries(members);
  return schema.type === "object" && schema.properties && schema.additionalProperties === undefined
    ? { ...schema, additionalProperties: false }
    : schema;
}

/** Members of which an example has the first, since those that follow are of the same kind: steps of flows, and sections of settings. */
function shortened(shown: unknown): unknown {
  if (typeof shown !== "object" || shown === null || !("steps" in shown) || !Array.isArray(shown.steps))
    return shown;
  const { settings = [] } = shown as { settings?: { password?: unknown }[] };
  const password = settings.flatMap((one) => (one.password ? { password: one.password } : []));
  return {
    ...shown,
    steps: shown.steps.slice(0, 2),
    ...(password.length > 0 ? { settings: password } : {}),
  };
}

const TIME = "2026-01-31T12:00:00.000Z";
const UUID = "7f1c9a52-3f0e-4f0e-9d60-0a3f2a1b5c4d";

/** Replaces ids, times and secrets, so that the same call gives the same text in every run. */
function withPlaceholders<Value>(value: Value, name = ""): Value {
  if (Array.isArray(value)) return value.map((item) => withPlaceholders(item, name)) as Value;
  if (typeof value === "string") return placeholder(value, name) as Value;
  if (typeof value === "number" && name === "shown_for_ms") return 900 as Value;
  if (typeof value === "number" && /^(at|at_ms|authenticatedAt)$/.test(name)) return 25 as Value;
  // What a cache holds is read again once it has expired, so a slow run sends a statement more.
  if (typeof value === "number" && name === "statements") return 5 as Value;
  if (typeof value === "number")
    return (
      /^(iat|exp|auth_time|client_id_issued_at|valid_until)$/.test(name) ? 1_769_860_800 : value
    ) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (name === "milliseconds")
    return { total: 2.5, database: 1.5, hash: 0, provider: 0, rest: 1 } as unknown as Value;
  const members = Object.entries(value).map(([key, member]) => [
    placeholder(key, ""),
    withPlaceholders(member, key),
  ]);
  return Object.fromEntries(members) as Value;
}

function placeholder(text: string, name: string): string {
  if (/^(code|otp_code)$/.test(name) && /^[0-9A-Z]{6}$/.test(text)) return "123456";
  if (/^eyJ[\w-]+\.[\w-]*\.[\w-]+$/.test(text))
    return "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI3ZjFjOWE1MiJ9.c2lnbmF0dXJl";
  if (text.startsWith("whsec_")) return "whsec_QSByYW5kb20ga2V5IG9mIHRoaXJ0eS10d28gYnl0ZXM=";
  if (text.startsWith("data:")) return `${text.slice(0, text.indexOf(",") + 1)}…`;
  return text
    .replace(/\bu[0-9a-f]{16}\b/g, "ada")
    .replace(/^\+491511\d{7}$/, "+4915112345678")
    .replace(/[0-9a-f-]{36}@example\.com/g, "ada@example.com")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, UUID)
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, TIME)
    .replace(/^\d{4}-\d\d-\d\d$/, TIME.slice(0, 10))
    .replace(/^([0-9A-Z]{4}-){3}[0-9A-Z]{4}$/, "7QK2-M9XD-4TRB-W0HN")
    .replace(/\b[BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4}\b/, "WDJB-MJHT")
    .replace(/^[BCDFGHJKMNPRTVWX]{4} ?[BCDFGHJKMNPRTVWX]{4}$/, "BCDFGHJK")
    .replace(/[\w-]{20,}/g, (run) => (/[A-Z]/.test(run) ? "R4nd0mT3xtInBase64url" : run));
}
