import { uafStatusCodes as status, type UafStatusCode } from "./uaf/status-codes.ts";

/** Why a request failed or lost its validity: a status code of UAF, and a fixed sentence for people. */
export interface RequestError {
  code: UafStatusCode;
  reason: string;
}

/** What becomes of requests beside what `uaf/faults.ts` finds wrong with an answer. */
export const requestErrors = {
  expired: { code: status.REQUEST_TIMEOUT, reason: "The request was not answered in time." },
  superseded: { code: status.REQUEST_INVALID, reason: "A newer request took the place of this one." },
  cancelled: { code: status.FORBIDDEN, reason: "The request was cancelled." },
  no_authenticator: { code: status.NOT_FOUND, reason: "The user has no such authenticator." },
  key_taken: { code: status.UNACCEPTABLE_KEY, reason: "The key is registered already." },
  key_gone: { code: status.UNKNOWN_KEYID, reason: "The key is not registered any more." },
} as const satisfies Record<string, RequestError>;
