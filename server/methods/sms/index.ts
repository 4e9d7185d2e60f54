import { all, always } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import type { Method } from "../method.ts";
import { smsMoving } from "./moving.ts";

/**
 * Codes by SMS to the phone number of an account, which is an identifier. They are a restricted authenticator (NIST SP
 * 800-63B-4, 3.1.3.3): the holder of the number may change without the account's knowledge. One number cannot prove both
 * factors, so the configuration makes it the first or the second one.
 */
export const sms = {
  name: "sms",
  credentials: "codes by SMS",
  tables: [],
  isSingle: false,
  has: ({ phone }) => phone !== null,
  fact: null,
  pending: null,
  moving: smsMoving,
  removal: null,
  amr: () => "sms",
  strength: { isMultiFactor: "never", resistsPhishing: false },
  firstFactor: {
    state: "phone_confirmation",
    identifies: false,
    followsIdentifier: "always",
    enabled: all(configured("phone.enabled"), configured("phone.use_for_authentication")),
    usable: always,
    choice: { action: "continue_to_phone_confirmation", description: "Sign in with a code sent by SMS." },
    codeTo: "phone",
  },
  secondFactor: {
    kind: "own",
    rank: 4,
    state: "login_sms",
    // Asked for only where the account has no other one, so that there is none to switch from.
    switch: null,
    isSetUp: ({ phoneVerified }) => phoneVerified,
    accepted: configured("mfa.sms.enabled"),
    usable: always,
    enrolment: {
      state: "mfa_phone_creation",
      action: "continue_to_phone_creation",
      description: "Set up codes by SMS.",
      audit: "phone_created",
    },
    notice: null,
    outlastsSettings: false,
    isLastResort: true,
  },
} as const satisfies Method;
