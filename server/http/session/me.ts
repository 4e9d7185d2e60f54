import { profileOf } from "../../account/profile.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { presentedSession } from "./presented-session.ts";

/** `GET /me`: the account of the session. */
export const meHandler: Handler = (context) => showProfile(context, null);

/** `GET /users/{id}`: the same account by its id. Other accounts are not found. */
export const userHandler: Handler = (context) => showProfile(context, context.params.id ?? "");

/** @param id of the requested account; null for the caller's own */
async function showProfile(context: HandlerContext, id: string | null): Promise<Reply> {
  const verified = await presentedSession(context, { touch: true });
  if (!verified.ok) return plainError(401, "No valid session.");
  const { userId } = verified.session;
  const profile =
    id === null || id === userId
      ? await profileOf(context.runtime.database.read, context.tenant, userId)
      : null;
  return profile ? json(200, profile) : plainError(404, "Not found.");
}
