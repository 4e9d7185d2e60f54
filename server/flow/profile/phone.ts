import { dropFactorRemains } from "../../account/access-revocation.ts";
import { requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { all, any, type Condition, circumstance, holds, not } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { removePhone } from "../../identity/phone/phone-numbers.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { acceptsFactor, canSetUp } from "../../methods/second-factors.ts";
import { sms } from "../../methods/sms/index.ts";
import { findOwner, identifierErrors, identifierInputs, readIdentifier } from "../entered-identifier.ts";
import { verificationCode } from "../expected-codes.ts";
import { STAY } from "../names.ts";
import { go, stay } from "../outcome.ts";
import { primaryAddressOf } from "./emails.ts";
import { hasOtherFactors, needsFactor } from "./owned-factors.ts";
import { canDoWithout, type Owned, type ProfileView, sensitiveAction } from "./profile-action.ts";

const hasVerifiedNumber = circumstance<Pick<ProfileView, "facts">>(
  "verified_number",
  ({ facts }) => facts.phoneVerified,
  { holds: "the number of the account is verified", fails: "the account has no verified number" },
);

/** Whether a number may be set: where it is a second factor, only if it may be set up as one. */
export const maySetPhone: Condition<Pick<ProfileView, "facts" | "data" | "config">> = all(
  configured("phone.enabled"),
  any(hasVerifiedNumber, not(acceptsFactor(sms)), canSetUp(sms)),
);

/** The number may be removed: it is neither the last way to sign in nor the last required second factor. */
const mayRemove = all(
  configured("phone.optional"),
  circumstance<Owned>("number", ({ account }) => account.profile.phone_number !== undefined, {
    holds: "the account has a phone number",
    fails: "the account has no phone number",
  }),
  canDoWithout({ phone: true }, "the phone number"),
  any(not(needsFactor), not(acceptsFactor(sms)), hasOtherFactors("sms")),
);

/** Profile actions on the phone number. */
export const phoneActions = {
  // Sensitive, the first number too: it may become a way to sign in, or the second factor.
  phone_set: sensitiveAction({
    description: "Set the phone number, which a code by SMS confirms.",
    costs: ["write", "mail"],
    input: identifierInputs.phone,
    when: maySetPhone,
    to: ["phone_confirmation", STAY],
    errors: identifierErrors("phone"),
    async run({ request, db, facts, data, config }, { phone }) {
      const read = readIdentifier("phone", phone, config);
      if (!read.ok) return read.rejection;
      if (read.value === facts.phone && facts.phoneVerified) return stay();
      const owned = await findOwner({ request, db, data, config }, "phone", read.value);
      if (!owned.ok) return owned.rejection;
      return go("phone_confirmation", { data: verificationCode("phone", read.value, owned.taken) });
    },
  }),

  phone_delete: sensitiveAction({
    description: "Remove the phone number.",
    costs: ["write", "mail"],
    when: mayRemove,
    to: [STAY],
    run(context) {
      const { request, account, facts } = context;
      const { id } = account.profile;
      const { phone } = facts;
      if (phone === null) return stay();
      return stay({
        facts: { phone: null, phoneVerified: false },
        writes: [
          requireAccount(request, id, (current) => holds(mayRemove, { ...context, account: current })),
          removePhone(request, id, phone),
          (tx) => dropFactorRemains(tx, request, id),
          audit(request, "phone_deleted", { phone }, id),
          emit(request, "user.update.phone.delete", id),
        ],
        jobs: securityNotice(request, "phone_delete", primaryAddressOf(account)),
      });
    },
  }),
};
