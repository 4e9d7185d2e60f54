import type { Identifier } from "../identifier.ts";
import { MAX_INPUT_CHARACTERS, parsePhoneNumber } from "./phone-number.ts";
import { phonePart } from "./phone-numbers.ts";

/** Phone numbers: an account has at most one. */
export const phone = {
  kind: "phone",
  table: "phoneNumbers",
  column: "number",
  verified: "phoneVerified",
  requiresVerification: () => true,
  field: () => ({ type: "tel", minLength: 3, maxLength: MAX_INPUT_CHARACTERS }),
  parse: parsePhoneNumber,
  isLike: (text, config) => text.startsWith("+") || parsePhoneNumber(text, config).ok,
  errors: {
    unknown: "unknown_phone_number_error",
    taken: "phone_number_already_exists",
    invalid: ["value_invalid_error", "phone_number_not_allowed"],
    atLogin: ["phone_number_not_allowed"],
  },
  constraints: {
    taken: "phone_numbers_number_unique",
    second: "phone_numbers_user_unique",
    changed: "phone",
  },
  askedIn: "mfa_phone_creation",
  part: (tenantId, { value, ...phone }) => phonePart(tenantId, { ...phone, number: value }),
} as const satisfies Identifier;
