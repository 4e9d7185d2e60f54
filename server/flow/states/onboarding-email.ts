import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { emit } from "../../events/emit.ts";
import { parseEmailAddress } from "../../identity/email/email-address.ts";
import { createEmail } from "../../identity/email/emails.ts";
import { factsByEmail } from "../../identity/users.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { byConfig } from "../inputs.ts";
import { NEXT } from "../names.ts";
import { go, next, reject } from "../outcome.ts";

const input = byConfig(({ email }) =>
  z.strictObject({
    email: z.string().trim().min(3).max(email.max_length).meta({ input: "email", preserve: true }),
  }),
);

/** The user of an account without an email address is asked for one. */
export const onboardingEmail = state({
  name: "onboarding_email",
  needs: ["userId"],
  // A new account has no address after a provider only if the provider gave none that can be used.
  shows: ({ data }) =>
    data.signedUp === "created" && data.factors[0]?.method === "third_party"
      ? { provider_gave_no_address: true }
      : {},
  actions: (action) => ({
    email_address_set: action({
      description: "Set the account's email address.",
      costs: ["write", "mail"],
      input,
      to: ["passcode_confirmation", NEXT],
      errors: ["value_invalid_error", "email_already_exists"],
      async run({ request, db, data, facts, config }, { email }) {
        const { tenant } = request;
        const { userId } = data;
        // Another flow of the user added one concurrently.
        if (facts.email !== null) return next();
        const address = parseEmailAddress(email, config.email.max_length);
        if (!address) return reject("value_invalid_error", { input: "email" });
        const taken = (await factsByEmail(db, tenant.id, address)) !== null;
        const { require_verification } = config.email;
        if (taken && (!require_verification || config.privacy.show_account_existence_hints)) {
          return reject("email_already_exists", { input: "email" });
        }
        if (require_verification)
          return go("passcode_confirmation", { data: { passcode: emailVerification(address, taken) } });
        return next({
          data: { email: address },
          facts: { email: address },
          writes: [
            createEmail(request, userId, { address, isPrimary: true, verified: false }),
            audit(request, "email_created", { email: address }, userId),
            emit(request, "user.update.email.create", userId),
          ],
        });
      },
    }),
    skip: skip(({ config }) => config.email.optional),
  }),
});

/** Returns the passcode that verifies an address. A taken address receives a notice, and no code is accepted. */
export function emailVerification(address: string, taken: boolean) {
  return {
    purpose: "email_verification" as const,
    recipient: address,
    decoy: taken,
    ...(taken ? { notice: "email_registration_attempted" as const } : {}),
  };
}
