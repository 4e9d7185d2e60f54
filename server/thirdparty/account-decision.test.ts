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

const proved = { userId: "them", verified: true };
const unproved = { userId: "them", verified: false };
const unverified = { emailVerified: false };

const conflict: AccountDecision = { ok: false, reason: "user_conflict" };
const link = (userId: string): AccountDecision => ({ ok: true, kind: "link", userId });
const signIn = (userId: string): AccountDecision => ({ ok: true, kind: "sign_in", userId });

describe("decideAccount", () => {
  test.each<[string, Partial<AccountSituation>, AccountDecision]>([
    ["is signed up when nobody knows them", {}, { ok: true, kind: "sign_up" }],
    [
      "is signed up with an address that nobody vouches for",
      { facts: unverified },
      { ok: true, kind: "sign_up" },
    ],
    [
      "is sent away where nobody may sign up",
      { allowSignup: false },
      { ok: false, reason: "signup_disabled" },
    ],
    ["is signed in by their identity", { owner: "me" }, signIn("me")],
    ["is signed in where nobody may sign up", { owner: "me", allowSignup: false }, signIn("me")],
    [
      "is signed in by their identity, whoever has the address",
      { owner: "me", accountWithSameEmail: proved },
      signIn("me"),
    ],
    [
      "is signed in by their identity, whatever the address is worth",
      { owner: "me", accountWithSameEmail: unproved, facts: unverified },
      signIn("me"),
    ],
    ["is linked when both sides have verified the address", { accountWithSameEmail: proved }, link("them")],
    [
      "is linked where nobody may sign up",
      { accountWithSameEmail: proved, allowSignup: false },
      link("them"),
    ],
    [
      "A41 is not linked to an account that never proved the address",
      { accountWithSameEmail: unproved },
      conflict,
    ],
    [
      "A43 is not linked by an address that the provider did not verify",
      { accountWithSameEmail: proved, facts: unverified },
      conflict,
    ],
    [
      "A43 is not linked by an address that nobody verified",
      { accountWithSameEmail: unproved, facts: unverified },
      conflict,
    ],
    [
      "is not linked where the provider may not link",
      { accountWithSameEmail: proved, allowLinking: false },
      conflict,
    ],
    [
      "is not told apart by whether anybody may sign up",
      { accountWithSameEmail: unproved, allowSignup: false },
      conflict,
    ],
  ])("%s", (_, differences, verdict) => {
    expect(decideAccount({ ...unknownUser, ...differences })).toEqual(verdict);
  });
});

describe("whoever is signed in and connects an identity", () => {
  test.each<[string, Partial<AccountSituation>, AccountDecision]>([
    ["gets it", {}, link("me")],
    ["gets it without an address", { facts: unverified }, link("me")],
    ["gets it where the provider may not link by address", { allowLinking: false }, link("me")],
    ["gets it although another account has its address", { accountWithSameEmail: proved }, link("me")],
    ["gets it where nobody may sign up", { allowSignup: false }, link("me")],
    ["has it already", { owner: "me" }, signIn("me")],
    ["A44 does not get somebody else's", { owner: "them" }, { ok: false, reason: "identity_already_linked" }],
  ])("%s", (_, differences, verdict) => {
    expect(decideAccount({ ...unknownUser, connectToUserId: "me", ...differences })).toEqual(verdict);
  });
});
