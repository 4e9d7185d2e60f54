import { parsePhoneNumber } from "../../identity/phone/phone-number.ts";
import { factsByPhone } from "../../identity/users.ts";
import { canEnrol, hasSecondFactor } from "../../methods/second-factors.ts";
import { sms } from "../../methods/sms/index.ts";
import { back } from "../actions/back.ts";
import { state } from "../define.ts";
import { go, reject } from "../outcome.ts";
import { numberVerification, phoneInput } from "../phone-input.ts";

/** The user enters the phone number whose codes are to be the second factor, and confirms it by one. */
export const mfaPhoneCreation = state({
  name: "mfa_phone_creation",
  needs: ["userId"],
  actions: (action) => ({
    phone_set: action({
      description: "Enter the phone number that codes are sent to.",
      costs: ["write", "mail"],
      input: phoneInput,
      // Another flow may have set up a factor concurrently, which is then required first.
      when: ({ data, facts, config }) =>
        canEnrol(sms, facts, data.capabilities, config) && !hasSecondFactor(facts, config),
      to: ["phone_confirmation"],
      errors: ["value_invalid_error", "phone_number_not_allowed", "phone_number_already_exists"],
      async run({ request, db, data, config }, { phone }) {
        const parsed = parsePhoneNumber(phone, config);
        if (!parsed.ok) return reject(parsed.reason, { input: "phone" });
        const { number } = parsed;
        const owner = await factsByPhone(db, request.tenant.id, number);
        const taken = owner !== null && owner.userId !== data.userId;
        if (taken && config.privacy.show_account_existence_hints)
          return reject("phone_number_already_exists", { input: "phone" });
        return go("phone_confirmation", {
          data: { sms: numberVerification(number, taken, { enrols: true }) },
        });
      },
    }),
    back,
  }),
});
