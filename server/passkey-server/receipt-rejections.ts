/** Everything that a receipt can be refused for, in the order in which it is looked at. */
export const receiptRejections = {
  malformed: "This is not a receipt, or not a whole one.",
  not_a_receipt: "This is a signed statement of another kind.",
  algorithm_unknown: "The issuer's signature is of a kind that receipts do not have.",
  key_unknown: "The key that signed it is not among the issuer's keys that were given.",
  issuer_signature: "The issuer did not sign this: it was changed, or the key is not the issuer's.",
  data_not_canonical: "The data is not in its canonical form.",
  client_data_malformed: "What the browser said cannot be read.",
  wrong_ceremony: "The passkey was not used to agree to anything.",
  challenge_mismatch: "The passkey signed something else than this transaction.",
  origin_mismatch: "The passkey was used on a page that is not the relying party's.",
  framed: "The passkey was used on a page within another site's page.",
  authenticator_data_malformed: "What the authenticator said cannot be read.",
  relying_party_mismatch: "The passkey was used for another relying party.",
  user_absent: "Nobody was present when the passkey was used.",
  user_mismatch: "The passkey is another user's.",
  public_key_unusable: "The public key in the receipt is none that signatures can be verified with.",
  public_key_mismatch: "The public key in the receipt is not the expected one.",
  authenticator_signature: "The passkey did not sign this.",
} as const;

export type ReceiptRejection = keyof typeof receiptRejections;
