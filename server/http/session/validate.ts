import { type VerifiedSession, verifySession } from "../../sessions/verify-session.ts";
import { json, plainError, type Reply } from "../answer/reply.ts";
import { readObject } from "../request/body.ts";
import type { Handler } from "../table/handler-context.ts";
import { presentedSession } from "./presented-session.ts";
import { tokenToValidate } from "./schemas.ts";

/**
 * `GET /sessions/validate`: whether the caller's session is valid, and its claims. Does not count as use. 401 if the cookie
 * of a bound session comes from another device.
 */
export const validateHandler: Handler = async (context) => {
  const verified = await presentedSession(context, { touch: false });
  const isElsewhere = !verified.ok && verified.reason === "binding_required";
  return { ...show(verified), ...(isElsewhere ? { status: 401 } : {}) };
};

/**
 * `POST /sessions/validate`: the same for the token in `session_token`. Counts as use of the session. Published servers send
 * the token alone, so its device is judged only if `bound_token` is there, or bindings are required.
 */
export const validateTokenHandler: Handler = async ({ runtime, tenant, request }) => {
  const body = await readObject(request);
  if (!body.ok && body.reason === "too_large")
    return plainError(413, "The body is too large.", { Connection: "close" });
  const parsed = tokenToValidate.safeParse(body.ok ? body.value : undefined);
  if (!parsed.success) return plainError(400, "`session_token` is required.");
  const { session_token: bearer, bound_token: bound } = parsed.data;
  const shown = bound === undefined ? "not_passed_on" : [bound ?? ""];
  return show(await verifySession(runtime, tenant, { bearer, cookies: [], bound: shown }, { touch: true }));
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
