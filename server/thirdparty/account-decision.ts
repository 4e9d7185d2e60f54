/** The accounts and settings that a decision depends on. */
export interface AccountSituation {
  facts: { emailVerified: boolean };
  /** The account that the identity is linked to. */
  owner: string | null;
  /** The account with the same address, and whether it has verified the address. */
  accountWithSameEmail: { userId: string; verified: boolean } | null;
  /** The signed-in account that connects the identity; null at a sign-in. */
  connectToUserId: string | null;
  /** The provider's `allow_linking`. */
  allowLinking: boolean;
  /** `account.allow_signup` */
  allowSignup: boolean;
}

export type AccountDecision =
  | { ok: true; kind: "sign_in"; userId: string }
  /** Link the identity to the account. */
  | { ok: true; kind: "link"; userId: string }
  | { ok: true; kind: "sign_up" }
  | { ok: false; reason: "user_conflict" | "signup_disabled" | "identity_already_linked" };

/**
 * Decides which account an identity at a provider signs in to. The identity is the pair of provider and subject. An equal
 * email address links it to an account only if both sides have verified the address (Sudhodanan and Paverd, "Pre-hijacked
 * accounts", 2022).
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
