/** What is known of the people whom a provider's facts may be about. */
export interface Situation {
  facts: { emailVerified: boolean };
  /** The account that this identity belongs to. */
  owner: string | null;
  /** The account that has the address, and whether it has proved it. */
  accountWithSameEmail: { userId: string; verified: boolean } | null;
  /** The account that is signed in already, and wants the identity beside its other ways in. */
  connects: string | null;
  /** The provider's `allow_linking`. */
  allowLinking: boolean;
  /** `account.allow_signup` */
  allowSignup: boolean;
}

export type Verdict =
  | { kind: "sign_in"; userId: string }
  /** The identity becomes one of the account's. */
  | { kind: "link"; userId: string }
  | { kind: "sign_up" }
  | { kind: "refuse"; code: "user_conflict" | "signup_disabled" | "identity_already_linked" };

/**
 * Whom a provider's facts let in. An identity is its provider and subject; an address alone is never enough. Whoever
 * holds the address at the provider and whoever holds it here are the same person only when both have shown it
 * (Sudhodanan and Paverd, "Pre-hijacked accounts", 2022).
 */
export function judgeFacts(situation: Situation): Verdict {
  const { facts, owner, accountWithSameEmail, connects, allowLinking, allowSignup } = situation;
  if (connects !== null) {
    if (owner === null) return { kind: "link", userId: connects };
    return owner === connects
      ? { kind: "sign_in", userId: owner }
      : { kind: "refuse", code: "identity_already_linked" };
  }
  if (owner !== null) return { kind: "sign_in", userId: owner };
  if (accountWithSameEmail !== null) {
    return facts.emailVerified && accountWithSameEmail.verified && allowLinking
      ? { kind: "link", userId: accountWithSameEmail.userId }
      : { kind: "refuse", code: "user_conflict" };
  }
  return allowSignup ? { kind: "sign_up" } : { kind: "refuse", code: "signup_disabled" };
}
