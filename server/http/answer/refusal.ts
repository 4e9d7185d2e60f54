import type { Config } from "../../config/schema.ts";
import { authenticatorError } from "../authenticator/error.ts";
import { flowError } from "../flow/call-flow.ts";
import { errorReply } from "../passkeys/error-reply.ts";
import type { ErrorShape } from "../table/address.ts";
import { json, plainError, type Reply } from "./reply.ts";
import { RETRY_AFTER_SECONDS } from "./temporary-failure.ts";

/** The statuses of errors that no handler sends. */
export type ErrorStatus = 403 | 404 | 405 | 500 | 503;

const messages: Record<ErrorStatus, string> = {
  403: "Only same-origin requests are allowed.",
  404: "Not found.",
  405: "Method not allowed.",
  500: "Internal server error.",
  503: "The service is temporarily unavailable. Try again in a moment.",
};

/** The codes of RFC 6749, 4.1.2.1, for errors that it does not define too. */
const oauthErrors: Partial<Record<ErrorStatus, string>> = {
  500: "server_error",
  503: "temporarily_unavailable",
};

/** Builds an error that no handler sends, in the shape of the interface. */
export function refusal(
  { errorShape, config }: { errorShape: ErrorShape; config: Config },
  status: ErrorStatus,
  headers: Record<string, string> = {},
): Reply {
  const retry: Record<string, string> = status === 503 ? { "Retry-After": String(RETRY_AFTER_SECONDS) } : {};
  return errorReplies[errorShape](status, { ...headers, ...retry }, config);
}

const errorReplies: Record<
  ErrorShape,
  (status: ErrorStatus, headers: Record<string, string>, config: Config) => Reply
> = {
  plain: (status, headers) => plainError(status, messages[status], headers),
  admin: (status, headers) => plainError(status, messages[status], headers),
  authenticator: (status, headers) => authenticatorError(status, messages[status], headers),
  passkeys: (status, headers) => errorReply(status, undefined, "", headers),
  oauth: (status, headers) =>
    json(
      status,
      { error: oauthErrors[status] ?? "invalid_request", error_description: messages[status] },
      { headers },
    ),
  flow(status, headers, config) {
    const reply =
      status === 503
        ? flowError(config, "temporarily_unavailable")
        : status >= 500
          ? flowError(config, "technical_error")
          : flowError(config, "operation_not_permitted_error", { status });
    return { ...reply, headers: { ...reply.headers, ...headers } };
  },
};
