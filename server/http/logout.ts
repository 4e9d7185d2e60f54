import { audit } from "../audit/audit.ts";
import { flowTypes } from "../flow/names.ts";
import { endSession, findSession } from "../sessions/sessions.ts";
import { expiredSessionCookie } from "./cookies.ts";
import type { Handler } from "./exchange.ts";
import { isForeign, provenanceOf } from "./origin.ts";
import { expiredPageCookie } from "./page-cookie.ts";
import { presentedSession } from "./presented-session.ts";
import { plainError } from "./reply.ts";

/** `POST /logout`: ends the session at once, and takes back its cookie and what the hosted page remembers. */
export const logoutHandler: Handler = async (exchange) => {
  const { runtime, tenant, request } = exchange;
  if (isForeign(provenanceOf(request.headers), tenant.config))
    return plainError(403, "Other sites cannot sign people out.");
  const verified = await presentedSession(exchange, { touch: false });
  if (!verified.valid) return plainError(401, "There is no valid session.");
  const { id, userId } = verified.session;
  const found = await findSession(runtime, tenant, id);
  if (found) {
    const noted = audit({ ...exchange, now: found.now }, "user_logged_out", {}, userId);
    await runtime.database.write.transaction(async (tx) => {
      await endSession(tx, tenant.id, id);
      await noted(tx);
    });
  }
  return {
    status: 204,
    cookies: [
      expiredSessionCookie(tenant.config),
      ...flowTypes.map((type) => expiredPageCookie(tenant, type)),
    ],
  };
};
