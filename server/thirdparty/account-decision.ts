/** What is known of the people whom a provider's facts may be about. */
export interface AccountSituation {
  facts: { emailVerified: boolean };
  /** The account that this identity belongs to. */
  owner: string | null;
  /** The account that has the address, and whether it has proved it. */
  accountWithSameEmail: { userId: string; verified: boolean } | null;
  /** The account that is signed in already, and wants the identity beside its other ways in. */
  connectToUserId: string | null;
  /** The provider's `allow_linking`. */
  allowLinking: boolean;
  /** `account.allow_signup` */
  allowSignup: boolean;
}

export type AccountDecision =
  | { ok: true; kind: "sign_in"; userId: string }
  /** The identity becomes one of the account's. */
  | { ok: true; kind: "link"; userId: string }
  | { ok: true; kind: "sign_up" }
  | { ok: false; reason: "user_conflict" | "signup_disabled" | "identity_already_linked" };

/**
 * Whom a provider's facts let in. An identity is its provider and subject; an address alone is never enough. Whoever
 * holds the address at the provider and whoever holds it here are the same person only when both have shown it
 * (Sudhodanan and Paverd, "Pre-hijacked accounts", 2022).
 */
export function decideAccount(situation: AccountSituation): AccountDecision {
  const { facts, owner, accountWithSameEmail, connectToUserId, allowLinking, allowSignup } = situation;
  if (connectToUserId !== null) {
    if (owner === null) return { ok: true, kind: "link", userId: connectToUserId };
    return owner === connectToUserId
      ? { ok: true, kind: "sign_in", userId: owner }
      : { ok: false, reason: "identity_already_linked" };
  }
  if (owner !== null) return { ok: true, kind: "sign_in", userId: owner };
  if (accountWithSameEmail !== null) {
    return facts.emailVerified && accountWithSameEmail.verified && allowLinking
      ? { ok: true, kind: "link", userId: accountWithSameEmail.userId }
      : { ok: false, reason: "user_conflict" };
  }
  return allowSignup ? { ok: true, kind: "sign_up" } : { ok: false, reason: "signup_disabled" };
}
