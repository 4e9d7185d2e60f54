import { type VerifiedSession, verifySession } from "../../sessions/verify-session.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import { readObject } from "../request/body.ts";
import type { Handler } from "../table/handler-context.ts";
import { presentedSession } from "./presented-session.ts";
import { tokenToValidate } from "./schemas.ts";

/** `GET /sessions/validate`: whether the caller's session is valid, and its claims. Does not count as use. */
export const validateHandler: Handler = async (context) =>
  show(await presentedSession(context, { touch: false }));

/** `POST /sessions/validate`: the same for the token in `session_token`. Counts as use of the session. */
export const validateTokenHandler: Handler = async ({ runtime, tenant, request }) => {
  const body = await readObject(request);
  if (!body.ok && body.reason === "too_large")
    return plainError(413, "The body is too large.", { Connection: "close" });
  const parsed = tokenToValidate.safeParse(body.ok ? body.value : undefined);
  if (!parsed.success) return plainError(400, "`session_token` is required.");
  const presented = { bearer: parsed.data.session_token, cookies: [] };
  return show(await verifySession(runtime, tenant, presented, { touch: true }));
};

function show(verified: VerifiedSession): Reply {
  if (!verified.ok) return json(200, { is_valid: false });
  const { claims, session, idleExpiresAt } = verified;
  return json(200, {
    is_valid: true,
    claims,
    // Published clients also read the next two members.
    expiration_time: claims.expiration,
    user_id: session.userId,
    ...(idleExpiresAt ? { idle_expires_at: idleExpiresAt.toISOString() } : {}),
  });
}
