import { uafStatusCodes as status, type UafStatusCode } from "./uaf-status-codes.ts";

/** Every reason to reject a response, with its UAF status code and a sentence for developers. */
export const uafRejections = {
  message_malformed: [status.BAD_REQUEST, "The answer is not one UAF message."],
  operation_mismatch: [status.REQUEST_INVALID, "The message answers another operation."],
  version_not_offered: [status.REQUEST_INVALID, "The message is of a version that was not offered."],
  app_id_mismatch: [status.REQUEST_INVALID, "The message is for another application."],
  server_data_mismatch: [status.REQUEST_INVALID, "The server data came back changed."],
  extension_unknown: [status.UNACCEPTABLE_CONTENT, "The message needs an extension that is not known."],
  final_challenge_malformed: [status.BAD_REQUEST, "The final challenge parameters cannot be read."],
  challenge_mismatch: [status.REQUEST_INVALID, "The message answers another challenge."],
  final_challenge_app_id_mismatch: [
    status.REQUEST_INVALID,
    "The final challenge is for another application.",
  ],
  facet_not_trusted: [status.REQUEST_INVALID, "The application's facet is not trusted."],
  channel_binding_refused: [status.CHANNEL_BINDING_REFUSED, "The channel binding cannot be checked."],
  channel_binding_mismatch: [
    status.CHANNEL_BINDING_REFUSED,
    "The channel binding is that of another server.",
  ],
  channel_binding_missing: [status.CHANNEL_BINDING_REFUSED, "The channel binding does not name the server."],
  scheme_unknown: [status.UNACCEPTABLE_CONTENT, "The assertion is of a scheme that is not known."],
  assertion_malformed: [status.BAD_REQUEST, "The assertion cannot be read."],
  aaid_unknown: [status.UNKNOWN_AAID, "The authenticator's model is not known."],
  authenticator_disallowed: [status.UNACCEPTABLE_AUTHENTICATOR, "The authenticator is not allowed here."],
  authenticator_revoked: [status.REVOKED_AUTHENTICATOR, "The authenticator's model was revoked."],
  final_challenge_hash_mismatch: [
    status.UNACCEPTABLE_CONTENT,
    "The assertion was made for another final challenge.",
  ],
  mode_unacceptable: [
    status.UNACCEPTABLE_CONTENT,
    "The assertion was made in a mode that does not fit the request.",
  ],
  algorithm_unacceptable: [status.UNACCEPTABLE_ALGORITHM, "The signature algorithm is not accepted."],
  key_format_unacceptable: [status.UNACCEPTABLE_KEY, "The format of the public key is not accepted."],
  key_id_too_short: [status.UNACCEPTABLE_KEY, "The key id is too short."],
  version_too_old: [status.UNACCEPTABLE_AUTHENTICATOR, "The authenticator's version is too old."],
  public_key_unacceptable: [status.UNACCEPTABLE_KEY, "The public key is not accepted."],
  attestation_type_unacceptable: [
    status.UNACCEPTABLE_ATTESTATION,
    "This kind of attestation is not accepted.",
  ],
  attestation_not_verified: [status.UNACCEPTABLE_ATTESTATION, "The attestation does not hold."],
  key_unknown: [status.UNKNOWN_KEYID, "The key is not one that was asked for."],
  sign_counter: [
    status.UNACCEPTABLE_AUTHENTICATOR,
    "The signature counter did not grow: there may be a copy of the key.",
  ],
  transaction_mismatch: [status.UNACCEPTABLE_CONTENT, "Something else was confirmed than what was asked."],
  signature_not_verified: [status.UNACCEPTABLE_CONTENT, "The signature does not hold."],
} as const satisfies Record<string, readonly [UafStatusCode, string]>;

export type UafRejectionReason = keyof typeof uafRejections;

export interface UafRejection {
  ok: false;
  reason: UafRejectionReason;
  code: UafStatusCode;
  /** A fixed sentence, without any text of the client. */
  message: string;
}

/** Builds the rejection for a reason. */
export function rejectUaf(reason: UafRejectionReason): UafRejection {
  const [code, message] = uafRejections[reason];
  return { ok: false, reason, code, message };
}
