import { profileOf } from "../../account/profile.ts";
import { findingPosition } from "../../sessions/sessions.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { presentedSession } from "./presented-session.ts";

/** `GET /me`: the account of the session. */
export const meHandler: Handler = (context) => showProfile(context, null);

/** `GET /users/{id}`: the same account by its id. Other accounts are not found. */
export const userHandler: Handler = (context) => showProfile(context, context.params.id ?? "");

/** @param id of the requested account; null for the caller's own */
async function showProfile(context: HandlerContext, id: string | null): Promise<Reply> {
  const { replicas } = context.runtime;
  // Whether the session has ended is read at the primary, its account at a replica that shows all changes of until then.
  const finding = replicas.areConfigured ? findingPosition() : undefined;
  const verified = await presentedSession(context, {
    touch: true,
    ...(finding ? { find: finding.find } : {}),
  });
  if (!verified.ok) return plainError(401, "No valid session.");
  const { userId } = verified.session;
  const profile =
    id === null || id === userId
      ? await replicas.reading(finding?.position, (read) => profileOf(read, context.tenant, userId))
      : null;
  return profile ? json(200, profile) : plainError(404, "Not found.");
}
