import { requestErrors } from "../failures/authenticator-requests.ts";
import { bindingRejections } from "../failures/device-binding.ts";
import { withheldMessages } from "../failures/messages.ts";
import { type PasskeyErrorCode, passkeyErrors } from "../failures/passkey-server.ts";
import { thirdPartyFailures } from "../failures/third-party.ts";
import { type UafRejectionReason, uafRejections } from "../failures/uaf.ts";
import { type FailureType, type PasskeyServerFailureType, passkeyServerAuditTypes } from "./audit-types.ts";

/** What a reason means, for operators. */
type Meanings<Reason extends string = string> = Readonly<Record<Reason, string>>;

const signIn = {
  unknown_identifier: "No account has the identifier; the entry shows it masked.",
  wrong: "The password or code is wrong.",
  no_password: "The account has no password.",
  locked: "After 100 failures in a row every password is rejected as a wrong one.",
  rate_limited: "Too many attempts; this one was not made.",
  exhausted: "The third wrong try of a mailed code.",
  already_used: "The code of an authenticator app was used before.",
  account_blocked: "An operator has blocked the account.",
  not_confirmed: "The phone did not confirm.",
  credential_unknown: "No account has the passkey.",
  malformed: "The passkey's response cannot be read.",
  challenge_unknown: "The passkey's response answers no challenge of this sign-in.",
  credential_not_allowed: "The passkey is not one that was asked for.",
  user_mismatch: "The passkey is that of another account.",
  user_handle_missing: "The passkey's response names no account.",
  user_handle_mismatch: "The passkey's response names another account than the passkey's.",
  cross_origin: "The page is in a frame of a page that is not listed.",
  not_verified: "The verification of the passkey's response failed.",
  public_key_refused: "The stored public key is of a kind that is not accepted.",
  backup_eligibility_changed: "The passkey's backup eligibility has changed.",
  sign_count: "The signature counter did not increase: there may be a copy of the key.",
  mfa_only: "A security key is no first factor.",
} as const satisfies Meanings;

const passkeyServer = Object.fromEntries(
  Object.entries(passkeyErrors).map(([code, [, title]]) => [code, `“${title}”`]),
) as Meanings<PasskeyErrorCode>;

const uaf = Object.fromEntries(
  Object.entries(uafRejections).map(([reason, [, sentence]]) => [reason, sentence]),
) as Meanings<UafRejectionReason>;

const isFailure = (type: string): type is PasskeyServerFailureType => type.endsWith("_failed");

/** The closed list of the reasons of each failure in the audit log, with what they mean. */
export const failureReasons = {
  login_failure: signIn,
  thirdparty_signin_signup_failed: thirdPartyFailures,
  otp_creation_failed: {
    wrong: "The code that should confirm the app is wrong.",
    rate_limited: "Too many wrong codes of this account; this one was not verified.",
  },
  session_binding_rejected: bindingRejections,
  mail_withheld: withheldMessages,
  mail_failed: {
    expired: "The code or notice was no longer valid.",
    rejected: "It cannot be sent; `detail` says why, for instance by the answer of the mail server.",
    too_many_notices: "The recipient has received too many notices.",
  },
  sms_withheld: withheldMessages,
  sms_failed: {
    expired: "The code was no longer valid.",
    rejected: "It cannot be sent; `detail` says why, for instance by the error number of the service.",
  },
  authenticator_request_failed: {
    cancelled: requestErrors.cancelled.reason,
    key_taken: requestErrors.key_taken.reason,
    key_unregistered: requestErrors.key_unregistered.reason,
    ...uaf,
  },
  api_key_rejected: {
    unknown_key: "No such key exists: it was deleted, or never made.",
    other_interface: "The key is for another interface.",
    other_tenant: "The key is that of another tenant.",
  },
  console_entry_rejected: {
    no_role: "The account has no role of the console.",
    weak_sign_in: "The sign-in does not meet `console.require`.",
    invitation_used: "The link for the first operator was used before, has expired, or was never made.",
    operator_exists: "There is an operator, so the link for the first one is worth nothing.",
  },
  ...(Object.fromEntries(
    passkeyServerAuditTypes.filter(isFailure).map((type) => [type, passkeyServer]),
  ) as Record<PasskeyServerFailureType, typeof passkeyServer>),
} as const satisfies Record<FailureType, Meanings>;

/** The reasons that a failure of this type may have. */
export type FailureReason<Type extends FailureType> = Type extends FailureType
  ? keyof (typeof failureReasons)[Type]
  : never;

const meanings: ReadonlyMap<string, string> = new Map(
  // The first list that has a reason is that of sign-ins.
  Object.values<Meanings>(failureReasons)
    .toReversed()
    .flatMap((list) => Object.entries(list)),
);

/** What a reason means; of one that another version has written, the reason itself. */
export const meaningOf = (reason: string): string => meanings.get(reason) ?? reason;
