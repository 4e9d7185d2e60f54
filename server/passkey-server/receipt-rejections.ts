/** Reasons why a receipt is rejected, in the order of the checks, with messages. */
export const receiptRejections = {
  malformed: "The receipt is malformed or incomplete.",
  not_a_receipt: "The signed statement is not a transaction receipt.",
  algorithm_unknown: "The signature algorithm of the issuer is not supported.",
  key_unknown: "The signing key is not among the given keys of the issuer.",
  issuer_signature:
    "The issuer's signature is invalid: the receipt was changed, or the key is not the issuer's.",
  data_not_canonical: "The data is not in canonical form (RFC 8785).",
  client_data_malformed: "The client data is malformed.",
  wrong_ceremony: "The passkey was not used for an authentication ceremony.",
  challenge_mismatch: "The signed challenge does not match this transaction.",
  origin_mismatch: "The passkey was used on an origin that is not accepted.",
  framed: "The passkey was used on a page that was framed by another site.",
  authenticator_data_malformed: "The authenticator data is malformed.",
  relying_party_mismatch: "The passkey was used for another relying party.",
  user_absent: "The user was not present when the passkey was used.",
  user_mismatch: "The passkey belongs to another user.",
  public_key_unusable: "The public key in the receipt cannot be used.",
  public_key_mismatch: "The public key in the receipt is not the expected one.",
  authenticator_signature: "The passkey's signature is invalid.",
} as const;

export type ReceiptRejection = keyof typeof receiptRejections;
