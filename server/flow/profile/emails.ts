import { z } from "zod";
import { type Account, whileAccount } from "../../account/account.ts";
import { endSignIns } from "../../account/first-proof.ts";
import type { EmailProfile } from "../../account/profile.ts";
import { remainsReachable } from "../../account/reachability.ts";
import { securityNotice } from "../../account/security-notices.ts";
import { audit } from "../../audit/audit.ts";
import type { Config } from "../../config/schema.ts";
import { parseEmailAddress } from "../../identity/email-address.ts";
import { createEmail, removeEmail, setPrimaryEmail } from "../../identity/emails.ts";
import { factsByEmail } from "../../identity/users.ts";
import { byConfig } from "../inputs.ts";
import { STAY } from "../names.ts";
import { go, refuse, stay } from "../outcome.ts";
import { emailVerification } from "../states/onboarding-email.ts";
import { type Choice, oneOf, ownId } from "./choice.ts";
import { ownAction, sensitiveAction } from "./profile-action.ts";

const addressInput = byConfig(({ email }) =>
  z.strictObject({
    email: z.string().trim().min(3).max(email.max_length).meta({ input: "email", preserve: true }),
  }),
);

/** What people do with the addresses of their account. */
export const emailActions = {
  email_create: sensitiveAction({
    description: "Add an e-mail address.",
    input: addressInput,
    when: ({ account, config }) => mayAdd(account, config),
    to: ["passcode_confirmation", STAY],
    errors: ["value_invalid_error", "email_already_exists"],
    async run({ request, db, account, config }, given) {
      const address = parseEmailAddress(given.email, config.email.max_length);
      if (!address) return refuse("value_invalid_error", { input: "email" });
      const own = addressesOf(account);
      if (own.some((email) => email.address === address)) {
        return refuse("email_already_exists", { input: "email" });
      }
      const taken = (await factsByEmail(db, request.tenant.id, address)) !== null;
      const { require_verification } = config.email;
      if (taken && (!require_verification || config.privacy.show_account_existence_hints)) {
        return refuse("email_already_exists", { input: "email" });
      }
      if (require_verification) {
        return go("passcode_confirmation", { data: { passcode: emailVerification(address, taken) } });
      }
      const { id } = account.profile;
      return stay({
        writes: [
          whileAccount(request, id, (current) => mayAdd(current, config)),
          createEmail(request, id, { address, isPrimary: own.length === 0, verified: false }),
          audit(request, "email_created", {}, id),
        ],
        jobs: securityNotice(request, "email_create", primaryOf(account), { address }),
      });
    },
  }),

  // Offered even where nothing can be deleted: published clients read its list unasked.
  email_delete: sensitiveAction({
    description: "Remove an e-mail address.",
    input: ({ account, config }) =>
      z.strictObject({ email_id: oneOf(account ? deletable(account, config) : []) }),
    to: [STAY],
    run({ request, account, config }, { email_id }) {
      const { id } = account.profile;
      const removed = addressesOf(account).find((email) => email.id === email_id);
      return stay({
        writes: [
          whileAccount(request, id, (current) =>
            deletable(current, config).some((one) => one.id === email_id),
          ),
          removeEmail(request, id, email_id),
          (tx) => endSignIns(tx, request.tenant.id, id),
          audit(request, "email_deleted", {}, id),
        ],
        jobs: removed
          ? securityNotice(request, "email_delete", primaryOf(account), { address: removed.address })
          : [],
      });
    },
  }),

  email_set_primary: sensitiveAction({
    description: "Make an e-mail address the main one.",
    input: z.strictObject({ email_id: ownId() }),
    when: ({ account, config }) => config.email.enabled && addressesOf(account).some(isSecondary),
    to: [STAY],
    errors: ["not_found", "value_invalid_error"],
    run({ request, account }, { email_id }) {
      const { id } = account.profile;
      const email = addressesOf(account).find((one) => one.id === email_id);
      if (!email) return refuse("not_found");
      if (email.is_primary) return stay();
      // Messages about the account would go to somebody who was never shown to be its owner.
      const primary = addressesOf(account).find(({ is_primary }) => is_primary);
      if (primary?.is_verified && !email.is_verified) {
        return refuse("value_invalid_error", {
          input: "email_id",
          message: "Confirm this e-mail address first.",
        });
      }
      const { address } = email;
      return stay({
        writes: [
          whileAccount(request, id, () => true),
          setPrimaryEmail(request, id, email_id),
          audit(request, "primary_email_changed", {}, id),
        ],
        jobs: [primary?.address ?? null, address].flatMap((to) =>
          securityNotice(request, "primary_email_update", to, { address }),
        ),
      });
    },
  }),

  email_verify: ownAction({
    description: "Confirm an e-mail address by a code that is sent to it.",
    input: z.strictObject({ email_id: ownId() }),
    when: ({ account, config }) => config.email.enabled && addressesOf(account).some(isUnverified),
    to: ["passcode_confirmation"],
    errors: ["not_found"],
    run({ account }, { email_id }) {
      const email = addressesOf(account)
        .filter(isUnverified)
        .find(({ id }) => id === email_id);
      if (!email) return refuse("not_found");
      return go("passcode_confirmation", { data: { passcode: emailVerification(email.address, false) } });
    },
  }),
};

/** Every address of an account, the primary one first. */
export function addressesOf({ profile }: Account): EmailProfile[] {
  return profile.emails ?? [];
}

/** Where the owner of an account is written to; null where it has no address. */
export function primaryOf(account: Account): string | null {
  return addressesOf(account).find(({ is_primary }) => is_primary)?.address ?? null;
}

/** Whether an account may have one more address. */
export function mayAdd(account: Account, { email }: Config): boolean {
  return email.enabled && addressesOf(account).length < email.limit;
}

/** What may go: not the last way in, and the primary address only as the last, where none is needed. */
function deletable(account: Account, config: Config): Choice[] {
  const addresses = addressesOf(account);
  return addresses
    .filter(({ is_primary }) => !is_primary || (addresses.length === 1 && config.email.optional))
    .filter(({ id }) => remainsReachable(account, config, { email: id }))
    .map(({ id, address }) => ({ id, name: address }));
}

const isSecondary = ({ is_primary }: EmailProfile) => !is_primary;
const isUnverified = ({ is_verified }: EmailProfile) => !is_verified;
