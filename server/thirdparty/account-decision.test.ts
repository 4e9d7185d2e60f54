import { describe, expect, test } from "vitest";
import { judgeFacts, type Situation, type Verdict } from "./account-decision.ts";

const stranger: Situation = {
  facts: { emailVerified: true },
  owner: null,
  accountWithSameEmail: null,
  connects: null,
  allowLinking: true,
  allowSignup: true,
};

const proved = { userId: "them", verified: true };
const unproved = { userId: "them", verified: false };
const unverified = { emailVerified: false };

const conflict: Verdict = { kind: "refuse", code: "user_conflict" };
const link = (userId: string): Verdict => ({ kind: "link", userId });
const signIn = (userId: string): Verdict => ({ kind: "sign_in", userId });

describe("whoever comes from a provider", () => {
  test.each<[string, Partial<Situation>, Verdict]>([
    ["is signed up when nobody knows them", {}, { kind: "sign_up" }],
    ["is signed up with an address that nobody vouches for", { facts: unverified }, { kind: "sign_up" }],
    [
      "is sent away where nobody may sign up",
      { allowSignup: false },
      { kind: "refuse", code: "signup_disabled" },
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
    expect(judgeFacts({ ...stranger, ...differences })).toEqual(verdict);
  });
});

describe("whoever is signed in and connects an identity", () => {
  test.each<[string, Partial<Situation>, Verdict]>([
    ["gets it", {}, link("me")],
    ["gets it without an address", { facts: unverified }, link("me")],
    ["gets it where the provider may not link by address", { allowLinking: false }, link("me")],
    ["gets it although another account has its address", { accountWithSameEmail: proved }, link("me")],
    ["gets it where nobody may sign up", { allowSignup: false }, link("me")],
    ["has it already", { owner: "me" }, signIn("me")],
    [
      "A44 does not get somebody else's",
      { owner: "them" },
      { kind: "refuse", code: "identity_already_linked" },
    ],
  ])("%s", (_, differences, verdict) => {
    expect(judgeFacts({ ...stranger, connects: "me", ...differences })).toEqual(verdict);
  });
});
