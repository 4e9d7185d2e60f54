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
    isEnabled: ({ phone }) => phone.enabled && phone.use_for_authentication,
    canUse: () => true,
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
    isAccepted: (mfa) => mfa.sms.enabled,
    canUse: () => true,
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
