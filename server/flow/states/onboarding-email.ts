import { audit } from "../../audit/audit.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { createEmail } from "../../identity/email/emails.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { enteredIdentifier, identifierErrors, identifierInputs } from "../entered-identifier.ts";
import { verificationCode } from "../expected-codes.ts";
import { NEXT } from "../names.ts";
import { go, next } from "../outcome.ts";

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
      input: identifierInputs.email,
      to: ["passcode_confirmation", NEXT],
      errors: identifierErrors("email"),
      async run({ request, db, data, facts, config }, { email }) {
        const { userId } = data;
        // Another flow of the user added one concurrently.
        if (facts.email !== null) return next();
        const entered = await enteredIdentifier({ db, request, data, config }, "email", email);
        if (!entered.ok) return entered.rejection;
        const { value: address, taken } = entered;
        if (config.email.require_verification)
          return go("passcode_confirmation", { data: verificationCode("email", address, taken) });
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
    skip: skip(configured("email.optional")),
  }),
});
