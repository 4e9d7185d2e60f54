import { describe, expect, test } from "vitest";
import { type AccountDecision, type AccountSituation, decideAccount } from "./account-decision.ts";

const unknownUser: AccountSituation = {
  facts: { emailVerified: true },
  owner: null,
  accountWithSameEmail: null,
  connectToUserId: null,
  allowLinking: true,
  allowSignup: true,
};

const verifiedAccount = { userId: "other", verified: true };
const unverifiedAccount = { userId: "other", verified: false };
const unverifiedFacts = { emailVerified: false };

const conflict: AccountDecision = { ok: false, reason: "user_conflict" };
const link = (userId: string): AccountDecision => ({ ok: true, kind: "link", userId });
const signIn = (userId: string): AccountDecision => ({ ok: true, kind: "sign_in", userId });

describe("decideAccount at a sign-in", () => {
  test.each<[string, Partial<AccountSituation>, AccountDecision]>([
    ["signs up an unknown identity", {}, { ok: true, kind: "sign_up" }],
    [
      "signs up an unknown identity with an unverified address",
      { facts: unverifiedFacts },
      { ok: true, kind: "sign_up" },
    ],
    [
      "rejects an unknown identity where sign-up is disabled",
      { allowSignup: false },
      { ok: false, reason: "signup_disabled" },
    ],
    ["signs in the owner of the identity", { owner: "own" }, signIn("own")],
    ["signs in the owner where sign-up is disabled", { owner: "own", allowSignup: false }, signIn("own")],
    [
      "signs in the owner although another account has the address",
      { owner: "own", accountWithSameEmail: verifiedAccount },
      signIn("own"),
    ],
    [
      "signs in the owner although the address is unverified",
      { owner: "own", accountWithSameEmail: unverifiedAccount, facts: unverifiedFacts },
      signIn("own"),
    ],
    [
      "links an account if both sides verified the address",
      { accountWithSameEmail: verifiedAccount },
      link("other"),
    ],
    [
      "links an account where sign-up is disabled",
      { accountWithSameEmail: verifiedAccount, allowSignup: false },
      link("other"),
    ],
    [
      "A41 does not link an account that did not verify the address",
      { accountWithSameEmail: unverifiedAccount },
      conflict,
    ],
    [
      "A43 does not link by an address that the provider did not verify",
      { accountWithSameEmail: verifiedAccount, facts: unverifiedFacts },
      conflict,
    ],
    [
      "A43 does not link by an address that neither side verified",
      { accountWithSameEmail: unverifiedAccount, facts: unverifiedFacts },
      conflict,
    ],
    [
      "does not link if allow_linking is off",
      { accountWithSameEmail: verifiedAccount, allowLinking: false },
      conflict,
    ],
    [
      "reports a conflict where sign-up is disabled",
      { accountWithSameEmail: unverifiedAccount, allowSignup: false },
      conflict,
    ],
  ])("%s", (_, differences, verdict) => {
    expect(decideAccount({ ...unknownUser, ...differences })).toEqual(verdict);
  });
});

describe("decideAccount for a signed-in user who connects an identity", () => {
  test.each<[string, Partial<AccountSituation>, AccountDecision]>([
    ["links an unknown identity", {}, link("own")],
    ["links an identity without a verified address", { facts: unverifiedFacts }, link("own")],
    ["links an identity if allow_linking is off", { allowLinking: false }, link("own")],
    [
      "links an identity although another account has its address",
      { accountWithSameEmail: verifiedAccount },
      link("own"),
    ],
    ["links an identity where sign-up is disabled", { allowSignup: false }, link("own")],
    ["signs in the owner of the identity", { owner: "own" }, signIn("own")],
    [
      "A44 rejects an identity of another account",
      { owner: "other" },
      { ok: false, reason: "identity_already_linked" },
    ],
  ])("%s", (_, differences, verdict) => {
    expect(decideAccount({ ...unknownUser, connectToUserId: "own", ...differences })).toEqual(verdict);
  });
});
