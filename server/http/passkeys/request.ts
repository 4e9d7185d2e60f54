import { z } from "zod";
import {
  type PasskeyErrorCode,
  type PasskeyRejection,
  rejectPasskeyRequest,
} from "../../failures/passkey-server.ts";
import { MAX_USER_ID_BYTES } from "../../passkey-server/users.ts";
import type { RequestContext } from "../../runtime.ts";
import { json, type Reply } from "../answer/reply.ts";
import { readObject } from "../request/body.ts";
import { acceptingNull } from "../table/fields.ts";
import { type Handler, type HandlerContext, requestContextOf } from "../table/handler-context.ts";
import { errorReply } from "./error-reply.ts";

/** Converts a rejection to an error reply. */
export function rejectionReply({ error, retryAfterSeconds }: PasskeyRejection): Reply {
  const { status, title, details } = error;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return errorReply(status, title, details, headers);
}

type Verdict = { ok: true } | PasskeyRejection;

/** Converts a verdict: an error reply, 200 with the properties beside `ok`, or 204 without any. */
export function verdictReply(verdict: Verdict): Reply {
  if (!verdict.ok) return rejectionReply(verdict);
  const { ok: _, ...found } = verdict;
  return Object.keys(found).length > 0 ? json(200, found) : { status: 204 };
}

/** How an address is answered, and the schema of the body that it takes. */
export interface Endpoint {
  handler: Handler;
  body?: z.ZodType;
}

/**
 * Makes an endpoint that reads fields from its body. Unknown fields are ignored, and null counts as absent. Every invalid
 * field is named in a 400.
 *
 * @param answer returns a reply, or the verdict of a feature
 * @param examine returns what is wrong with the text of a body with valid fields; null if nothing is
 */
export function fieldsEndpoint<Fields>(
  schema: z.ZodType<Fields>,
  answer: (context: HandlerContext, fields: Fields) => Promise<Reply | Verdict>,
  examine: (text: string) => string | null = () => null,
): Endpoint {
  return {
    body: acceptingNull(schema),
    async handler(context) {
      const read = await readBody(context);
      if (!read.ok) return read.reply;
      const given = Object.entries(read.body).filter(([, value]) => value !== null);
      const parsed = schema.safeParse(Object.fromEntries(given));
      if (!parsed.success) {
        const errors = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
        return invalidRequestReply([...new Set(errors)].join(" and "));
      }
      const fault = examine(read.text);
      if (fault !== null) return invalidRequestReply(fault);
      const answered = await answer(context, parsed.data);
      return "ok" in answered ? verdictReply(answered) : answered;
    },
  };
}

/**
 * Makes an endpoint for the response of a browser, which the feature reads itself.
 *
 * @param body the schema for the document
 * @param malformed the error of a body that is not a JSON object
 */
export function responseEndpoint(
  body: z.ZodType,
  malformed: PasskeyErrorCode,
  judge: (context: RequestContext, body: Record<string, unknown>) => Promise<Verdict>,
): Endpoint {
  return {
    body,
    async handler(context) {
      const read = await readBody(context, malformed);
      return read.ok ? verdictReply(await judge(await requestContextOf(context), read.body)) : read.reply;
    },
  };
}

/** Reads a body without validating its fields; an empty body of any content type is `{}`. */
async function readBody(
  { request }: HandlerContext,
  malformed: PasskeyErrorCode = "invalid_request",
): Promise<{ ok: true; body: Record<string, unknown>; text: string } | { ok: false; reply: Reply }> {
  const read = await readObject(request);
  if (read.ok) return { ok: true, body: read.value, text: read.text };
  if (read.reason === "too_large")
    return { ok: false, reply: errorReply(413, undefined, "", { Connection: "close" }) };
  return { ok: false, reply: rejectionReply(rejectPasskeyRequest(malformed, { details: read.details })) };
}

/** Returns a 400 for an invalid request. */
export function invalidRequestReply(details: string): Reply {
  return rejectionReply(rejectPasskeyRequest("invalid_request", { details }));
}

/** A string that PostgreSQL can store. */
const text = () =>
  z
    .string({ error: ({ input }) => (input === undefined ? "is a required field" : "must be a string") })
    .refine((value) => !value.includes("\0"), "must not contain the character NUL");

/** Characters, as JSON Schema counts them, not the code units that zod counts. */
const maxLength = (max: number) =>
  [(value: string) => [...value].length <= max, `cannot have more than ${max} entries`] as const;

/** Not a check of zod's own, which would also judge the length of a list that is no text. */
const notEmpty = [(value: string) => value !== "", "is a required field"] as const;

/** A required, non-empty string. */
export const requiredText = (max = Number.POSITIVE_INFINITY) =>
  text()
    .refine(...notEmpty)
    .refine(...maxLength(max))
    .meta({ minLength: 1, ...(Number.isFinite(max) ? { maxLength: max } : {}) });

/** An optional string. */
export const optionalText = (max: number) =>
  text()
    .refine(...maxLength(max))
    .meta({ maxLength: max })
    .optional();

/** The application's id of a user, limited by the size of a user handle. */
export const userIdField = () =>
  text()
    .refine(...notEmpty)
    .refine(
      (value) => Buffer.byteLength(value) <= MAX_USER_ID_BYTES,
      `cannot have more than ${MAX_USER_ID_BYTES} bytes`,
    )
    .meta({ minLength: 1 });

/** An http(s) or data URL of a picture; an empty string counts as absent. */
export const iconField = () => text().refine(isIcon, "must be a valid URL").optional();

function isIcon(value: string): boolean {
  return value === "" || (URL.canParse(value) && /^(https?|data):$/.test(new URL(value).protocol));
}
