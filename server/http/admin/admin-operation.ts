import type { z } from "zod";
import { type AdminRejection, notFound } from "../../admin/rejections.ts";
import { readUserObject, type UserObject } from "../../objects/user-object.ts";
import type { RequestContext } from "../../runtime.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import type { Address, Operation } from "../table/address.ts";
import { type HandlerContext, requestContextOf } from "../table/handler-context.ts";
import { type Input, type OperationInput, operation } from "../table/operation.ts";

type None = z.ZodObject<Record<never, never>>;

export type AdminRow = Address & { operation: Operation };

/**
 * Makes a row of the administration interface. `addresses.ts` wraps it so that it requires a key; below `/admin/users`
 * an id that is no UUID is a 400.
 */
export function adminOperation<
  Params extends z.ZodObject = None,
  Query extends z.ZodObject = None,
  Body extends z.ZodType = z.ZodUndefined,
>(
  declared: Omit<OperationInput<Params, Query, Body>, "security" | "access" | "errorShape">,
  handler: (context: HandlerContext, input: Input<Params, Query, Body>) => Promise<Reply | Response>,
): AdminRow {
  return operation({ ...declared, security: "admin", errorShape: "admin" }, handler);
}

const statuses: Record<AdminRejection["reason"], number> = { not_found: 404, invalid: 400, conflict: 409 };

/** Converts a rejection to its error. */
export function rejectionReply({ reason, message }: AdminRejection): Reply {
  return plainError(statuses[reason], message);
}

/** Converts a verdict: an error, or what `show` makes of it. */
function replyTo<Found extends { ok: true }>(
  verdict: Found | AdminRejection,
  show: (found: Found) => Reply,
): Reply {
  return verdict.ok ? show(verdict) : rejectionReply(verdict);
}

/** The answer to a change that has nothing to show. */
export const noContent = (): Reply => ({ status: 204 });

/**
 * Makes a row that shows a part of the user that its path names.
 *
 * @param part null or undefined if the user has no such part: the answer is 404 then, as for an unknown user
 */
export function userOperation<Params extends z.ZodObject<{ id: z.ZodType<string> }>>(
  declared: Parameters<typeof adminOperation<Params>>[0],
  part: (user: UserObject, params: z.output<Params>) => object | null | undefined,
): AdminRow {
  return adminOperation(declared, async ({ runtime, tenant }, { params }) => {
    const user = await readUserObject(runtime.database.read, tenant, String(params.id));
    const found = user && part(user, params);
    return found ? json(200, found) : rejectionReply(notFound);
  });
}

/**
 * Makes a row of a change or a look-up.
 *
 * @param perform gets the parsed input of the request
 * @param show makes the answer of what was found; default: 204
 */
export function changeOperation<
  Found extends { ok: true },
  Params extends z.ZodObject = None,
  Query extends z.ZodObject = None,
  Body extends z.ZodType = z.ZodUndefined,
>(
  declared: Parameters<typeof adminOperation<Params, Query, Body>>[0],
  perform: (context: RequestContext, input: Input<Params, Query, Body>) => Promise<Found | AdminRejection>,
  show: (found: Found) => Reply = noContent,
): AdminRow {
  return adminOperation<Params, Query, Body>(declared, async (context, input) =>
    replyTo(await perform(await requestContextOf(context), input), show),
  );
}

/** The description of a 404 in the document. */
export const NOT_FOUND = "The tenant has no such thing.";
