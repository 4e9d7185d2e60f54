import { redeemAuthorizationCode } from "../../sessions/authorization-codes.ts";
import { reissueSession } from "../../sessions/sessions.ts";
import { json, plainError } from "../answer/reply.ts";
import { readObject } from "../request/body.ts";
import type { Handler } from "../table/handler-context.ts";
import { codeRedemption } from "./schemas.ts";

/**
 * `POST /token`: an application's server exchanges the authorization code and its `code_verifier` (RFC 7636, 4.5) for the
 * user's session.
 */
export const tokenHandler: Handler = async ({ runtime, tenant, request }) => {
  const body = await readObject(request);
  if (!body.ok && body.reason === "too_large")
    return plainError(413, "The body is too large.", { Connection: "close" });
  const parsed = codeRedemption.safeParse(body.ok ? body.value : undefined);
  if (!parsed.success) {
    return plainError(
      400,
      "The body must be a JSON object with `code`, `code_verifier` and optionally `redirect_to`.",
    );
  }
  const { code, code_verifier: codeVerifier, redirect_to: redirectTo } = parsed.data;
  const redeemed = await redeemAuthorizationCode(runtime, tenant, { code, codeVerifier });
  // RFC 6749, 4.1.3: a given address must be the one that the code was sent to.
  const isOtherAddress = redirectTo !== undefined && normalize(redirectTo) !== redeemed?.redirectTo;
  const issued =
    redeemed &&
    !isOtherAddress &&
    (await reissueSession({ runtime, tenant }, redeemed.session.id, {
      rememberMe: true,
      carrier: "header",
    }));
  if (!issued) return plainError(400, "The code is invalid or was already used.");
  return json(200, {
    session_token: issued.token,
    user_id: redeemed.session.userId,
    expiration_time: issued.expiresAt.toISOString(),
  });
};

/** The form in which addresses are stored. */
function normalize(address: string): string {
  return URL.canParse(address) ? new URL(address).href : address;
}
