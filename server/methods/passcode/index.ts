import { all, always } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import type { Method } from "../method.ts";

/** Codes that are mailed to an address of the account. They prove the address, which is an identifier. */
export const passcode = {
  name: "passcode",
  credentials: "mailed codes",
  tables: [],
  isSingle: false,
  has: ({ email }) => email !== null,
  fact: null,
  pending: null,
  moving: null,
  removal: null,
  amr: () => "otp",
  strength: { isMultiFactor: "never", resistsPhishing: false },
  firstFactor: {
    state: "passcode_confirmation",
    identifies: false,
    followsIdentifier: "always",
    enabled: all(configured("email.enabled"), configured("email.use_for_authentication")),
    usable: always,
    choice: {
      action: "continue_to_passcode_confirmation",
      description: "Sign in with a code sent by email.",
    },
    codeTo: "email",
  },
  secondFactor: null,
} as const satisfies Method;
