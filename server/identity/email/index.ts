import type { Identifier, ParsedIdentifier } from "../identifier.ts";
import { parseEmailAddress } from "./email-address.ts";
import { emailPart } from "./emails.ts";

/** Email addresses: an account may have several, of which one is the primary one. */
export const email = {
  kind: "email",
  table: "emails",
  column: "address",
  verified: "emailVerified",
  requiresVerification: ({ email }) => email.require_verification,
  field: ({ email }) => ({ type: "email", minLength: 3, maxLength: email.max_length }),
  parse(text, { email }): ParsedIdentifier<"value_invalid_error"> {
    const value = parseEmailAddress(text, email.max_length);
    return value === null ? { ok: false, reason: "value_invalid_error" } : { ok: true, value };
  },
  isLike: (text) => text.includes("@"),
  errors: {
    unknown: "unknown_email_error",
    taken: "email_already_exists",
    invalid: ["value_invalid_error"],
    atLogin: [],
  },
  constraints: { taken: "emails_address_unique", second: "emails_primary_unique", changed: "email" },
  askedIn: "onboarding_email",
  part: (tenantId, { value, ...email }, ifTaken) =>
    emailPart(tenantId, { ...email, address: value, isPrimary: true }, ifTaken),
} as const satisfies Identifier;
