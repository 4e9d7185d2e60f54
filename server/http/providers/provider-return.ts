import { ThirdPartyError } from "../../failures/third-party.ts";
import { unknownKeyOf } from "../../keys/unknown-key.ts";
import type { ThirdPartyRequest } from "../../thirdparty/authorization-requests.ts";
import { basePageUrl, withError } from "../../thirdparty/redirect-urls.ts";
import { logSignInFailure, recordSignInFailure } from "../../thirdparty/sign-in-failure.ts";
import { type Reply, redirect } from "../answer/reply.ts";
import { cookieValues, THIRD_PARTY_STATE_COOKIE } from "../request/cookies.ts";
import { clientContext, type HandlerContext } from "../table/handler-context.ts";

/** Errors of users who return from an identity provider, for OAuth and SAML. */

/** Whether the browser that returns with a state is the browser that was sent to the provider. */
export function isSameBrowser({ cookies }: HandlerContext, state: string): boolean {
  return cookieValues(cookies, THIRD_PARTY_STATE_COOKIE).includes(state);
}

/** Error for a state that is unknown, already used or expired. */
export const unknownState = () =>
  new ThirdPartyError(
    "invalid_request",
    "This sign-in was already completed or has expired. Start again.",
    "unknown_state",
  );

export const otherBrowser = () =>
  new ThirdPartyError(
    "invalid_request",
    "This sign-in was started in another browser. Start again.",
    "other_browser",
  );

/**
 * Converts an unexpected error into one whose message reveals nothing of its cause.
 *
 * @throws the error itself if a key is not configured: the request is answered with 503 and can be repeated
 */
export function toThirdPartyError(error: unknown): ThirdPartyError {
  if (unknownKeyOf(error)) throw error;
  if (error instanceof ThirdPartyError) return error;
  return new ThirdPartyError("server_error", "The sign-in failed on our side.", "unexpected", {
    cause: error,
  });
}

/** Redirects with an error when the address that the user wanted to return to is not known. */
export function redirectWithError(context: HandlerContext, error = unknownState()): Reply {
  const { config } = context.tenant;
  const { error_redirect_url } = config.third_party;
  const target = error_redirect_url ? new URL(error_redirect_url) : basePageUrl(config);
  logSignInFailure(context, null, error);
  return redirect(303, withError(target, error.code, error.message));
}

/**
 * Logs the failure of a sign-in that this service requested, and records it in the audit log. Failures without such a
 * request are only logged, so that unauthenticated clients cannot fill the audit log.
 */
export async function reportSignInFailure(
  context: HandlerContext,
  request: ThirdPartyRequest,
  error: ThirdPartyError,
): Promise<void> {
  logSignInFailure(context, request.provider, error);
  try {
    await recordSignInFailure(await clientContext(context), request, error);
  } catch (cause) {
    const { runtime, client } = context;
    runtime.log.error({ err: cause, request_id: client.requestId }, "writing an audit log entry failed");
  }
}
