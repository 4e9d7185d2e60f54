import { z } from "zod";
import { endSignIns } from "../../account/access-revocation.ts";
import { type Account, requireAccount } from "../../account/account.ts";
import type { EmailProfile } from "../../account/profile.ts";
import { canStillSignIn } from "../../account/reachability.ts";
import { audit } from "../../audit/audit.ts";
import { all, circumstance, holds } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import type { Config } from "../../config/schema.ts";
import { emit } from "../../events/emit.ts";
import { createEmail, removeEmail, setPrimaryEmail } from "../../identity/email/emails.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { findOwner, identifierErrors, identifierInputs, readIdentifier } from "../entered-identifier.ts";
import { verificationCode } from "../expected-codes.ts";
import { STAY } from "../names.ts";
import { go, reject, stay } from "../outcome.ts";
import { type Choice, itemId, oneOf } from "./choice.ts";
import { type Owned, type ProfileView, profileAction, sensitiveAction } from "./profile-action.ts";

/** Whether an account may have one more address. */
export const mayAddEmail = all(
  configured("email.enabled"),
  circumstance<Owned>(
    "addresses",
    ({ account, config }) => addressesOf(account).length < config.email.limit,
    {
      holds: "the account has fewer addresses than `email.limit`",
      fails: "the account has as many addresses as `email.limit` allows",
    },
  ),
);

/** That the account has an address of a kind. @param what it is, after "the account has an" */
const hasAddress = (of: string, isOne: (address: EmailProfile) => boolean, what: string) =>
  circumstance<ProfileView>(of, ({ account }) => addressesOf(account).some(isOne), {
    holds: `the account has an ${what}`,
    fails: `the account has no ${what}`,
  });

const isSecondary = ({ is_primary }: EmailProfile) => !is_primary;
const isUnverified = ({ is_verified }: EmailProfile) => !is_verified;

/** Profile actions on email addresses. */
export const emailActions = {
  email_create: sensitiveAction({
    description: "Add an email address.",
    costs: ["write", "mail"],
    input: identifierInputs.email,
    when: mayAddEmail,
    to: ["passcode_confirmation", STAY],
    errors: identifierErrors("email"),
    async run({ request, db, account, data, config }, { email: typed }) {
      const read = readIdentifier("email", typed, config);
      if (!read.ok) return read.rejection;
      const { value: address } = read;
      const own = addressesOf(account);
      if (own.some((email) => email.address === address)) {
        return reject("email_already_exists", { input: "email" });
      }
      const owned = await findOwner({ request, db, data, config }, "email", address);
      if (!owned.ok) return owned.rejection;
      if (config.email.require_verification)
        return go("passcode_confirmation", { data: verificationCode("email", address, owned.taken) });
      const { id } = account.profile;
      return stay({
        writes: [
          requireAccount(request, id, (current) => holds(mayAddEmail, { account: current, config })),
          createEmail(request, id, { address, isPrimary: own.length === 0, verified: false }),
          audit(request, "email_created", { email: address }, id),
          emit(request, "user.update.email.create", id),
        ],
        jobs: securityNotice(request, "email_create", primaryAddressOf(account), { address }),
      });
    },
  }),

  // Offered even if nothing can be deleted: published clients read its list unconditionally.
  email_delete: sensitiveAction({
    description: "Remove an email address.",
    costs: ["write", "mail"],
    input: ({ account, config }) =>
      z.strictObject({ email_id: oneOf(account ? deletable(account, config) : []) }),
    to: [STAY],
    run({ request, account, config }, { email_id }) {
      const { id } = account.profile;
      const removed = addressesOf(account).find((email) => email.id === email_id);
      return stay({
        writes: [
          requireAccount(request, id, (current) =>
            deletable(current, config).some((choice) => choice.id === email_id),
          ),
          removeEmail(request, id, email_id),
          (tx) => endSignIns(tx, request.tenant.id, id),
          audit(request, "email_deleted", removed ? { email: removed.address } : {}, id),
          emit(request, "user.update.email.delete", id),
        ],
        jobs: removed
          ? securityNotice(request, "email_delete", primaryAddressOf(account), { address: removed.address })
          : [],
      });
    },
  }),

  email_set_primary: sensitiveAction({
    description: "Make an email address the main one.",
    costs: ["write", "mail"],
    input: z.strictObject({ email_id: itemId() }),
    when: all(
      configured("email.enabled"),
      hasAddress("secondary_address", isSecondary, "other address than the primary one"),
    ),
    to: [STAY],
    errors: ["not_found", "value_invalid_error"],
    run({ request, account }, { email_id }) {
      const { id } = account.profile;
      const email = addressesOf(account).find((email) => email.id === email_id);
      if (!email) return reject("not_found");
      if (email.is_primary) return stay();
      // Otherwise security notices would go to an unverified address.
      const primary = addressesOf(account).find(({ is_primary }) => is_primary);
      if (primary?.is_verified && !email.is_verified) {
        return reject("value_invalid_error", {
          input: "email_id",
          message: "Confirm this email address first.",
        });
      }
      const { address } = email;
      return stay({
        writes: [
          requireAccount(request, id, () => true),
          setPrimaryEmail(request, id, email_id),
          audit(
            request,
            "primary_email_changed",
            { email: address, ...(primary ? { previous_email: primary.address } : {}) },
            id,
          ),
          emit(request, "user.update.email.primary", id),
        ],
        jobs: [primary?.address ?? null, address].flatMap((to) =>
          securityNotice(request, "primary_email_update", to, {
            address,
            ...(primary ? { previous: primary.address } : {}),
          }),
        ),
      });
    },
  }),

  email_verify: profileAction({
    description: "Confirm an email address by a code that is sent to it.",
    costs: ["write", "mail"],
    input: z.strictObject({ email_id: itemId() }),
    when: all(
      configured("email.enabled"),
      hasAddress("unverified_address", isUnverified, "address that is not verified"),
    ),
    to: ["passcode_confirmation"],
    errors: ["not_found"],
    run({ account }, { email_id }) {
      const email = addressesOf(account)
        .filter(isUnverified)
        .find(({ id }) => id === email_id);
      if (!email) return reject("not_found");
      return go("passcode_confirmation", { data: verificationCode("email", email.address, false) });
    },
  }),
};

/** Lists the addresses of an account, the primary one first. */
export function addressesOf({ profile }: Account): EmailProfile[] {
  return profile.emails ?? [];
}

/** Returns the primary address of an account; null if it has none. */
export function primaryAddressOf(account: Account): string | null {
  return addressesOf(account).find(({ is_primary }) => is_primary)?.address ?? null;
}

/**
 * Lists the deletable addresses: not the last login method, and the primary address only if it is the last one and the
 * configuration requires none.
 */
function deletable(account: Account, config: Config): Choice[] {
  const addresses = addressesOf(account);
  return addresses
    .filter(({ is_primary }) => !is_primary || (addresses.length === 1 && config.email.optional))
    .filter(({ id }) => canStillSignIn(account, config, { email: id }))
    .map(({ id, address }) => ({ id, name: address }));
}
