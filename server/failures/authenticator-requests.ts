import { uafStatusCodes as status, type UafStatusCode } from "./uaf-status-codes.ts";

/** Why a request failed or was invalidated: a UAF status code, and a fixed sentence. */
export interface RequestError {
  code: UafStatusCode;
  reason: string;
}

/** Errors of requests, beside the rejections of responses in `uaf/rejections.ts`. */
export const requestErrors = {
  expired: { code: status.REQUEST_TIMEOUT, reason: "The request was not answered in time." },
  superseded: { code: status.REQUEST_INVALID, reason: "A newer request took the place of this one." },
  cancelled: { code: status.FORBIDDEN, reason: "The request was cancelled." },
  no_authenticator: { code: status.NOT_FOUND, reason: "The user has no such authenticator." },
  key_taken: { code: status.UNACCEPTABLE_KEY, reason: "The key is registered already." },
  key_unregistered: { code: status.UNKNOWN_KEYID, reason: "The key is not registered any more." },
} as const satisfies Record<string, RequestError>;
