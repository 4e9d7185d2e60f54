import { z } from "zod";
import { type PasskeyRejection, rejectPasskeyRequest } from "../../passkey-server/errors.ts";
import { MAX_USER_ID_BYTES } from "../../passkey-server/users.ts";
import type { RequestContext } from "../../runtime.ts";
import { readObject } from "../body.ts";
import { clientContext, type HandlerContext } from "../handler-context.ts";
import { json, type Reply } from "../reply.ts";
import { errorReply } from "./error-reply.ts";

/** What a request may use while it is judged. Its moment is read from the database's clock. */
export async function requestContextOf(context: HandlerContext): Promise<RequestContext> {
  return { ...(await clientContext(context)), signal: context.request.signal };
}

/** A refusal in the shape of this interface. */
export function rejectionReply({ error, retryAfterSeconds }: PasskeyRejection): Reply {
  const { status, title, details } = error;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return errorReply(status, title, details, headers);
}

/** A refusal, or 200 with the rest of what was found. */
export function verdictReply<Found extends { ok: true }>(outcome: Found | PasskeyRejection): Reply {
  if (!outcome.ok) return rejectionReply(outcome);
  const { ok: _, ...found } = outcome;
  return json(200, found);
}

/**
 * Reads a body, for whoever judges it as a whole: what is no JSON object is `undefined`, and no body at all is `{}`,
 * whatever its type. Only what is too long is refused here.
 */
export async function readBody({
  request,
}: HandlerContext): Promise<
  { ok: true; body: Record<string, unknown> | undefined } | { ok: false; reply: Reply }
> {
  const read = await readObject(request);
  if (read.ok) return { ok: true, body: read.value };
  if (read.reason !== "too_large") return { ok: true, body: undefined };
  return { ok: false, reply: errorReply(413, undefined, "", { Connection: "close" }) };
}

/**
 * Reads a body and the fields in it. Other fields are ignored, and those that are null are absent.
 *
 * @returns a 400 that names every field that is not as it has to be
 */
export async function readFields<Fields>(
  context: HandlerContext,
  schema: z.ZodType<Fields>,
): Promise<{ ok: true; fields: Fields } | { ok: false; reply: Reply }> {
  const read = await readBody(context);
  if (!read.ok) return read;
  if (read.body === undefined)
    return { ok: false, reply: invalidRequestReply("the body must be a JSON object") };
  const given = Object.entries(read.body).filter(([, value]) => value !== null);
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return { ok: true, fields: parsed.data };
  const errors = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
  return { ok: false, reply: invalidRequestReply([...new Set(errors)].join(" and ")) };
}

/** A 400 for something that was not asked for as it has to be. */
export function invalidRequestReply(details: string): Reply {
  return rejectionReply(rejectPasskeyRequest("invalid_request", { details }));
}

/** A text of the client's that PostgreSQL takes. */
const text = () =>
  z
    .string({ error: ({ input }) => (input === undefined ? "is a required field" : "must be a string") })
    .refine((value) => !value.includes("\0"), "must not contain the character NUL");

const atMost = (most: number) =>
  [(value: string) => [...value].length <= most, `cannot have more than ${most} entries`] as const;

const notEmpty = [(value: string) => value !== "", "is a required field"] as const;

/** A text that has to be there. An empty one is not. */
export const requiredText = (most = Number.POSITIVE_INFINITY) =>
  text()
    .refine(...notEmpty)
    .refine(...atMost(most));

/** A text that may be absent. */
export const optionalText = (most: number) =>
  text()
    .refine(...atMost(most))
    .optional();

/** What an application calls one of its users: as long as fits in what authenticators keep of it. */
export const userIdField = () =>
  text()
    .refine(...notEmpty)
    .refine(
      (value) => Buffer.byteLength(value) <= MAX_USER_ID_BYTES,
      `cannot have more than ${MAX_USER_ID_BYTES} bytes`,
    );

/** An address of a picture, or the picture itself; an empty one is none. */
export const iconField = () => text().refine(isIcon, "must be a valid URL").optional();

function isIcon(value: string): boolean {
  return value === "" || (URL.canParse(value) && /^(https?|data):$/.test(new URL(value).protocol));
}
