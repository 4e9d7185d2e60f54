import { dropFactorRemains } from "../../account/access-revocation.ts";
import { requireAccount } from "../../account/account.ts";
import { canStillSignIn } from "../../account/reachability.ts";
import { audit } from "../../audit/audit.ts";
import { emit } from "../../events/emit.ts";
import { removePhone } from "../../identity/phone/phone-numbers.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { canEnrol, isAccepted } from "../../methods/second-factors.ts";
import { sms } from "../../methods/sms/index.ts";
import { findOwner, identifierErrors, identifierInputs, readIdentifier } from "../entered-identifier.ts";
import { verificationCode } from "../expected-codes.ts";
import { STAY } from "../names.ts";
import { go, stay } from "../outcome.ts";
import { primaryAddressOf } from "./emails.ts";
import { type ProfileView, sensitiveAction } from "./profile-action.ts";
import { hasOthers, needsFactor } from "./second-factors.ts";

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
    when: mayDelete,
    to: [STAY],
    run(context) {
      const { request, account, facts } = context;
      const { id } = account.profile;
      const { phone } = facts;
      if (phone === null) return stay();
      return stay({
        facts: { phone: null, phoneVerified: false },
        writes: [
          requireAccount(request, id, (current) => mayDelete({ ...context, account: current })),
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

/** Whether a number may be set: where it is a second factor, only if it may be set up as one. */
export function maySetPhone({
  facts,
  data,
  config,
}: Pick<ProfileView, "facts" | "data" | "config">): boolean {
  if (!config.phone.enabled) return false;
  if (facts.phoneVerified || !isAccepted(sms, config)) return true;
  return canEnrol(sms, facts, data.capabilities, config);
}

/** Whether the number may be removed: it is neither the last way to sign in nor the last required second factor. */
function mayDelete({ account, config }: Pick<ProfileView, "account" | "config">): boolean {
  return (
    config.phone.optional &&
    account.profile.phone_number !== undefined &&
    canStillSignIn(account, config, { phone: true }) &&
    (!needsFactor(config) || !isAccepted(sms, config) || hasOthers(account, config, "sms"))
  );
}
