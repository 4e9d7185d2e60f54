import { all, not } from "../../conditions/condition.ts";
import { canSetUp, hasAcceptedFactor } from "../../methods/second-factors.ts";
import { sms } from "../../methods/sms/index.ts";
import { back } from "../actions/back.ts";
import { state } from "../define.ts";
import { enteredIdentifier, identifierErrors, identifierInputs } from "../entered-identifier.ts";
import { verificationCode } from "../expected-codes.ts";
import { go } from "../outcome.ts";

/** The user enters the phone number whose codes are to be the second factor, and confirms it by one. */
export const mfaPhoneCreation = state({
  name: "mfa_phone_creation",
  needs: ["userId"],
  actions: (action) => ({
    phone_set: action({
      description: "Enter the phone number that codes are sent to.",
      costs: ["write", "mail"],
      input: identifierInputs.phone,
      // Another flow may have set up a factor concurrently, which is then required first.
      when: all(canSetUp(sms), not(hasAcceptedFactor)),
      to: ["phone_confirmation"],
      errors: identifierErrors("phone"),
      async run({ request, db, data, config }, { phone }) {
        const entered = await enteredIdentifier({ db, request, data, config }, "phone", phone);
        if (!entered.ok) return entered.rejection;
        const { value, taken } = entered;
        return go("phone_confirmation", { data: verificationCode("phone", value, taken, { enrols: true }) });
      },
    }),
    back,
  }),
});
