import type { z } from "zod";
import type { AdminRejection } from "../../admin/rejections.ts";
import { plainError, type Reply } from "../answer/reply.ts";
import type { Address, Operation } from "../table/address.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { type Input, type OperationInput, operation } from "../table/operation.ts";

type None = z.ZodObject<Record<never, never>>;

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
): Address & { operation: Operation } {
  return operation({ ...declared, security: "admin", errorShape: "admin" }, handler);
}

const statuses: Record<AdminRejection["reason"], number> = { not_found: 404, invalid: 400, conflict: 409 };

/** Converts a rejection to its error. */
export function rejectionReply({ reason, message }: AdminRejection): Reply {
  return plainError(statuses[reason], message);
}

/** Converts a verdict: an error, or what `show` makes of it. */
export function replyTo<Found extends { ok: true }>(
  verdict: Found | AdminRejection,
  show: (found: Found) => Reply,
): Reply {
  return verdict.ok ? show(verdict) : rejectionReply(verdict);
}

/** The answer to a change that has nothing to show. */
export const noContent = (): Reply => ({ status: 204 });

/** The description of a 404 in the document. */
export const NOT_FOUND = "The tenant has no such thing.";
