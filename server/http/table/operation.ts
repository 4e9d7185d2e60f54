import { z } from "zod";
import { parseMember } from "../../lib/parse-member.ts";
import { plainError, type Reply } from "../answer/reply.ts";
import { readJson } from "../request/body.ts";
import type { Address, Operation, Security, Tag } from "./address.ts";
import { isCsv } from "./fields.ts";
import type { HandlerContext, HandlerResult } from "./handler-context.ts";

type None = z.ZodObject<Record<never, never>>;

/** The description of a 400 in the document, where the operation declares no other. */
export const INVALID_INPUT = "A parameter or the body is invalid; the message names the member.";

/** Method and path of an operation. */
export type Place = `${Address["method"]} /${string}`;

/** Declares an operation whose handler receives parsed input. Its group in the document is given by `tagged`. */
export type OperationInput<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> = UntaggedOperation<"params" | "query" | "body" | "bodyType" | "headers" | "security"> & {
  /** Default: `plain`. */
  errorShape?: "plain" | "admin";
  /** Default: `none`. The handler, or what wraps it, checks the credential. */
  security?: Security;
  /** Path segments in braces. Without it they are strings. */
  params?: Params | undefined;
  /** Its lists take repeated parameters, or `csv` ones. */
  query?: Query | undefined;
  /** An object here is strict; objects within it are if they are declared with `z.strictObject`. */
  body?: Body | undefined;
  /** The longest body in bytes. Default: that of every body. */
  maxBodyBytes?: number;
  handler(context: HandlerContext, input: Input<Params, Query, Body>): HandlerResult;
};

type UntaggedOperation<Left extends keyof Operation = never> = Omit<Operation, "tag" | Left>;

/** A row before its group in the document is known. */
export type UntaggedRow = Omit<Address, "operation"> & { operation: UntaggedOperation };

/** Puts a row into its group of the document. */
export function tagged(tag: Tag, { operation, ...row }: UntaggedRow): Address & { operation: Operation } {
  return { ...row, operation: { ...operation, tag } };
}

/** What the handler of an operation receives beside the context. */
export interface Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
}

/**
 * Makes the row of an address whose handler receives parsed parameters, query and body. What does not fit is a 400 that
 * names the member at fault, a body above the limit a 413; the handler does not run then.
 *
 * @example
 *   operation("GET /admin/things/{id}", {
 *     id: "getThing",
 *     summary: "Get a thing",
 *     params: z.object({ id: uuid() }),
 *     answers: { 200: { schema: thing }, 404: "There is no such thing." },
 *     handler: async ({ runtime }, { params }) => json(200, await findThing(runtime, params.id)),
 *   })
 */
export function operation<
  Params extends z.ZodObject = None,
  Query extends z.ZodObject = None,
  Body extends z.ZodType = z.ZodUndefined,
>(place: Place, declared: OperationInput<Params, Query, Body>): UntaggedRow {
  const { handler, errorShape = "plain", security = "none", params, maxBodyBytes, ...rest } = declared;
  const [method, path] = place.split(" ") as [Address["method"], string];
  const query = rest.query?.strict();
  const body = rest.body instanceof z.ZodObject ? rest.body.strict() : rest.body;

  return {
    method,
    path,
    errorShape,
    access: "public",
    operation: {
      ...rest,
      security,
      ...(params ? { params } : {}),
      ...(query ? { query } : {}),
      ...(body ? { body } : {}),
    } as UntaggedOperation,
    handler: (context) =>
      answer(context, {
        params: context.params,
        query: () => (query ? queryValues(query, context.url.searchParams) : none),
        async body() {
          const read = await readJson(context.request, maxBodyBytes);
          return !read.ok && read.reason === "too_large"
            ? { ok: false, reply: plainError(413, "The body is too large.", { Connection: "close" }) }
            : read;
        },
      }),
    call: (context, given) =>
      answer(context, {
        params: given.params,
        query: () => ({ ok: true, value: query ? given.query : {} }),
        body: async () => ({ ok: true, value: given.body }),
      }),
  };

  async function answer(context: HandlerContext, given: Given): Promise<Reply | Response> {
    const invalid = (whole: string, details: string) =>
      plainError(400, `The ${whole} is invalid: ${details}.`);
    const readParams = parse(params, given.params);
    if (!readParams.ok) return invalid("path", readParams.details);
    const values = given.query();
    const readQuery = values.ok ? parse(query, values.value) : values;
    if (!readQuery.ok) return invalid("query", readQuery.details);
    let readBody: Parsed = { ok: true, value: undefined };
    if (body) {
      const read = await given.body();
      if ("reply" in read) return read.reply;
      readBody = read.ok ? parse(body, read.value) : read;
      if (!readBody.ok) return invalid("body", readBody.details);
    }
    const input = { params: readParams.value, query: readQuery.value, body: readBody.value };
    return handler(context, input as Input<Params, Query, Body>);
  }
}

/** The input of an operation before it is judged, wherever it was read from. */
interface Given {
  params: unknown;
  query(): Parsed;
  body(): Promise<Parsed | { ok: false; reply: Reply }>;
}

/**
 * Adds a declaration to an address whose handler reads the request itself.
 *
 * @param declared default of `security`: `none`
 */
export function described(
  row: Address,
  { security = "none", ...declared }: Omit<Operation, "security"> & { security?: Security },
): Address & { operation: Operation } {
  return { ...row, operation: { ...declared, security } };
}

type Parsed = { ok: true; value: unknown } | { ok: false; details: string };

const none: Parsed = { ok: true, value: {} };

/** Parses with a schema; without one the value stays. PostgreSQL stores no text with the character NUL. */
function parse(schema: z.ZodType | undefined, value: unknown): Parsed {
  if (hasNul(value)) return { ok: false, details: "it must not contain the character NUL" };
  return schema ? parseMember(schema, value, "it") : { ok: true, value };
}

function hasNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes("\0") || hasNul(member));
}

/** Reads the parameters of a query by the kinds that the schema declares. What cannot be read stays a text, for the schema to reject. */
function queryValues(schema: z.ZodObject, query: URLSearchParams): Parsed {
  const found = new Map<string, unknown>();
  for (const name of new Set(query.keys())) {
    // The schema rejects an unknown name.
    const kind = Object.hasOwn(schema.shape, name)
      ? innermost(schema.shape[name] as z.core.$ZodType)
      : undefined;
    const texts = query.getAll(name);
    if (kind instanceof z.ZodArray) {
      const items = isCsv(kind) ? texts.flatMap((text) => text.split(",")).map((item) => item.trim()) : texts;
      const item = innermost(kind.element);
      found.set(
        name,
        items.map((text) => readValue(item, text)),
      );
    } else if (texts.length > 1) {
      return { ok: false, details: `${name} must be given once` };
    } else found.set(name, readValue(kind, texts[0] ?? ""));
  }
  // Defines own members, `__proto__` as well, which the schema then rejects.
  return { ok: true, value: Object.fromEntries(found) };
}

function readValue(kind: z.core.$ZodType | undefined, text: string): unknown {
  if (kind instanceof z.ZodNumber) return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (kind instanceof z.ZodBoolean) return text === "true" ? true : text === "false" ? false : text;
  // The plus sign of an offset that was not encoded arrives as a space.
  if (kind instanceof z.ZodISODateTime) return text.replace(/ (?=\d\d:\d\d$)/, "+");
  return text;
}

/** The schema that a text is first parsed by, without what makes it optional or transforms it. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return innermost(schema.unwrap());
  return schema instanceof z.ZodPipe ? innermost(schema.in) : schema;
}
