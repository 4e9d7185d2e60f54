import { z } from "zod";
import { type AdminRejection, notFound } from "../../admin/rejections.ts";
import { readUserObject, type UserObject } from "../../objects/user-object.ts";
import type { RequestContext } from "../../runtime.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import { pageQuery, uuid } from "../table/fields.ts";
import { type HandlerContext, type HandlerResult, requestContextOf } from "../table/handler-context.ts";
import {
  type Input,
  type OperationInput,
  operation,
  type Place,
  type UntaggedRow,
} from "../table/operation.ts";
import { cursorHeaders, type Page, pageHeaders } from "../table/paging.ts";

/** An operation without parameters in the query. */
export type NoQuery = z.ZodObject<Record<never, never>>;

/** The names of the segments in braces. */
type Segments<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Segments<Rest>
  : never;

/** What a row declares of its operation. Where its path has segments in braces, an answer 404 is implied. */
export type Declared<At extends Place, Query extends z.ZodObject, Body extends z.ZodType> = Omit<
  OperationInput<NoQuery, Query, Body>,
  "params" | "security" | "errorShape" | "handler"
> & {
  /** Segments of the path that are no UUIDs. */
  params?: { [Name in Segments<At>]?: z.ZodType<string> };
};

export interface AdminInput<At extends Place, Query extends z.ZodType, Body extends z.ZodType>
  extends Omit<Input<NoQuery, Query, Body>, "params"> {
  params: Record<Segments<At>, string>;
}

/** Makes a row of the administration interface. `addresses.ts` wraps it so that it requires a key. */
export function adminRow<
  At extends Place,
  Query extends z.ZodObject = NoQuery,
  Body extends z.ZodType = z.ZodUndefined,
>(
  place: At,
  {
    params: others = {},
    handler,
    ...declared
  }: Declared<At, Query, Body> & {
    handler(context: HandlerContext, input: AdminInput<At, Query, Body>): HandlerResult;
  },
): UntaggedRow {
  const names = [...place.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as Segments<At>);
  const params = Object.fromEntries(names.map((name) => [name, others[name] ?? uuid()]));
  const isBelow = names.length > 0;
  return operation<z.ZodObject, Query, Body>(place, {
    role: place.startsWith("GET ") || declared.changesNothing ? "auditor" : "administrator",
    ...declared,
    security: "admin",
    errorShape: "admin",
    params: isBelow ? z.object(params) : undefined,
    answers: { ...(isBelow ? { 404: NOT_FOUND } : {}), ...declared.answers },
    handler: (context, input) =>
      declared.fromReplica
        ? readingAtReplica(context, (own) => handler(own, input as AdminInput<At, Query, Body>))
        : handler(context, input as AdminInput<At, Query, Body>),
  });
}

/** Answers with a context whose pool for reads is that of a replica, if one serves the request, else of the primary. */
function readingAtReplica(
  context: HandlerContext,
  answer: (context: HandlerContext) => HandlerResult,
): Promise<Reply | Response> {
  const { runtime, position } = context;
  const { database, replicas } = runtime;
  return replicas.reading(position, (read) =>
    answer(
      read === database.read
        ? context
        : { ...context, runtime: { ...runtime, database: { ...database, read } } },
    ),
  );
}

/** What an operation has found or made. Nothing found is the error 404. */
export type Outcome<Found> = Found | AdminRejection | null | undefined | false;

/** The status of each rejection. */
export const statuses: Record<AdminRejection["reason"], number> = {
  invalid: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limited: 429,
};

/** Converts an outcome: an error, or what `show` makes of it. */
function replyTo<Found>(outcome: Outcome<Found>, show: (found: Found) => Reply | Response): Reply | Response {
  const found = outcome || notFound;
  if (!isRejection(found)) return show(found);
  const { reason, message, details } = found;
  const code = statuses[reason];
  return details ? json(code, { code, message, ...details }) : plainError(code, message);
}

const isRejection = (found: unknown): found is AdminRejection =>
  typeof found === "object" && found !== null && "ok" in found && found.ok === false;

interface Performs<Context, AnyInput, Found> {
  perform(context: Context, input: AnyInput): Promise<Outcome<Found>>;
  /** Makes the body of what was found; default: what was found. Without a body the answer is 204. */
  show?(found: Found): unknown;
}

/** Makes a row whose answer has the first status of `answers` if it succeeds. */
export function adminOperation<
  At extends Place,
  Found,
  Query extends z.ZodObject = NoQuery,
  Body extends z.ZodType = z.ZodUndefined,
>(
  place: At,
  {
    perform,
    show = (found) => found,
    ...declared
  }: Declared<At, Query, Body> & Performs<HandlerContext, AdminInput<At, Query, Body>, Found>,
): UntaggedRow {
  const [status = 204] = Object.keys(declared.answers).map(Number);
  const reply = (found: Found): Reply | Response => {
    // It is streamed.
    if (found instanceof Response) return found;
    const body = status === 204 ? undefined : show(found);
    return body === undefined ? { status: 204 } : json(status, body);
  };
  return adminRow<At, Query, Body>(place, {
    ...declared,
    handler: async (context, input) => replyTo(await perform(context, input), reply),
  });
}

/** Makes a row of a change, or of a look-up that takes the time of the request. */
export function changeOperation<
  At extends Place,
  Found,
  Query extends z.ZodObject = NoQuery,
  Body extends z.ZodType = z.ZodUndefined,
>(
  place: At,
  {
    perform,
    ...declared
  }: Declared<At, Query, Body> & Performs<RequestContext, AdminInput<At, Query, Body>, Found>,
): UntaggedRow {
  return adminOperation<At, Found, Query, Body>(place, {
    ...declared,
    perform: async (context, input) => perform(await requestContextOf(context), input),
  });
}

/** Makes a row that shows a part of the user that its path names; 404 if the user has no such part. */
export function userOperation<At extends `GET /admin/users/{id}${string}`>(
  place: At,
  {
    part,
    ...declared
  }: Declared<At, NoQuery, z.ZodUndefined> & {
    part(user: UserObject, params: Record<Segments<At>, string>): object | null | undefined;
  },
): UntaggedRow {
  return adminOperation(place, {
    ...declared,
    async perform({ runtime, tenant }, { params }) {
      const { id } = params as { id: string };
      const user = await readUserObject(runtime.database.read, tenant, id);
      return user && part(user, params);
    },
  });
}

/** A page of a list. */
interface ListedPage {
  items: unknown[];
  total: number;
  /** If the page is one after a position: the next one, which `after` of the query names; null without one. */
  next?: string | null;
}

/** Makes a row of a list in pages. */
export function listOperation<At extends Place, Query extends z.ZodRawShape = Record<never, never>>(
  place: At,
  {
    item,
    counts,
    query,
    list,
    ...declared
  }: Omit<Declared<At, NoQuery, z.ZodUndefined>, "query" | "answers"> & {
    item: z.ZodType;
    /** What `X-Total-Count` counts. */
    counts: string;
    /** Parameters beside those of the page. */
    query?: Query;
    list(
      context: HandlerContext,
      input: AdminInput<At, z.ZodObject<Query>, z.ZodUndefined> & { page: Page },
    ): Promise<Outcome<ListedPage>>;
  },
): UntaggedRow {
  const headers = { "X-Total-Count": counts, Link: "The other pages (RFC 8288)." };
  return adminRow(place, {
    fromReplica: true,
    ...declared,
    query: z.object({ ...pageQuery, ...query }),
    answers: { 200: { schema: z.array(item), headers } },
    async handler(context, input) {
      const { page: number, per_page: size } = input.query;
      const page = { number, size };
      const query = input.query as typeof input.query & z.output<z.ZodObject<Query>>;
      return replyTo(await list(context, { ...input, query, page }), ({ items, total, next }) => {
        const { config } = context.tenant;
        const headers =
          next === undefined
            ? pageHeaders(config, context.url, page, total)
            : cursorHeaders(config, context.url, next, total);
        return json(200, items, { headers });
      });
    },
  });
}

/** The description of a 404 in the document. */
export const NOT_FOUND = "The tenant has no such thing.";
