/** Why a mail that could be expected is not made, with what it means for operators. */
export const withheldMails = {
  rate_limited: "Too many codes were asked for; the page says so.",
  limit_reached: "Too many codes were asked for; the page does not tell.",
  no_account: "The identifier is of no account.",
  no_address: "The account has no address.",
} as const;

export type WithheldMailReason = keyof typeof withheldMails;
