/** Why a mail or an SMS that could be expected is not made, with what it means for operators. */
export const withheldMessages = {
  rate_limited: "Too many codes were asked for; the page says so.",
  limit_reached: "Too many codes were asked for; the page does not tell.",
  no_account: "The identifier is of no account.",
  no_address: "The account has no address or number.",
} as const;

/** Why a message has no recipient, for the audit log alone. */
export interface Withheld {
  reason: Exclude<keyof typeof withheldMessages, "rate_limited">;
  /** The recipient that it would have, or the identifier that the visitor entered. */
  identifier: string;
}
