import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import { ThirdPartyError } from "../failures/third-party.ts";

/** Syntax of error codes (RFC 6749, 4.1.2.1); other values are not passed on. */
const errorCode = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Converts an error of a provider. Text from the provider is dropped, because an attacker may control it.
 */
export function toThirdPartyError(error: unknown): ThirdPartyError {
  if (error instanceof ThirdPartyError) return error;
  const cause = innermost(error);
  if (cause instanceof ThirdPartyError) return cause;
  if (error instanceof AuthorizationResponseError) return authorizationError(error.error);
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError)
    return new ThirdPartyError(
      "invalid_request",
      "The provider did not accept the sign-in. Start again.",
      "provider_refused",
      { detail: error instanceof ResponseBodyError && errorCode.test(error.error) ? error.error : undefined },
    );
  if (isTimeout(error) || isTimeout(cause))
    return new ThirdPartyError("invalid_request", "The provider did not answer in time.", "timeout");
  if (error instanceof TypeError)
    // The library rejected a URL of the provider's metadata, or `fetch` could not connect.
    return new ThirdPartyError(
      "invalid_request",
      "The provider could not be reached.",
      "code" in error ? "unusable_metadata" : "unreachable",
    );
  const code = libraryCode(error);
  if (code !== null)
    return new ThirdPartyError(
      "invalid_request",
      "The provider's answer could not be verified.",
      "answer_not_verified",
      { detail: code },
    );
  return new ThirdPartyError("server_error", "The sign-in failed on our side.", "unexpected", {
    cause: error,
  });
}

/** Converts an error response of the authorization endpoint, for instance when the user cancelled. */
function authorizationError(code: string): ThirdPartyError {
  if (!errorCode.test(code))
    return new ThirdPartyError("invalid_request", "The provider's answer could not be read.", "error_code");
  return code === "access_denied"
    ? new ThirdPartyError(code, "The provider did not let you in, or you turned back.", code)
    : new ThirdPartyError(code, "The provider refused the sign-in.", "provider_refused", { detail: code });
}

/** Returns the library's error code, which is from a closed list. */
function libraryCode(error: unknown): string | null {
  if (error instanceof Error && "code" in error && String(error.code).startsWith("OAUTH_"))
    return String(error.code).toLowerCase();
  return error instanceof ClientError ? "oauth_failure" : null;
}

function innermost(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause;
}

function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    ["TimeoutError", "OAUTH_TIMEOUT"].some(
      (name) => name === error.name || ("code" in error && error.code === name),
    )
  );
}
