import { profileOf } from "../../account/profile.ts";
import type { Handler, HandlerContext } from "../handler-context.ts";
import { json, plainError, type Reply } from "../reply.ts";
import { presentedSession } from "./presented-session.ts";

/** `GET /me`: the account that is signed in. */
export const meHandler: Handler = (context) => showProfile(context, null);

/** `GET /users/{id}`: the same under its own id; nobody else's account is there to be found. */
export const userHandler: Handler = (context) => showProfile(context, context.params.id ?? "");

/** @param id whom the caller asks for; null for themselves */
async function showProfile(context: HandlerContext, id: string | null): Promise<Reply> {
  const verified = await presentedSession(context, { touch: true });
  if (!verified.valid) return plainError(401, "There is no valid session.");
  const { userId } = verified.session;
  const profile =
    id === null || id === userId
      ? await profileOf(context.runtime.database.read, context.tenant, userId)
      : null;
  return profile ? json(200, profile) : plainError(404, "There is no such account.");
}
