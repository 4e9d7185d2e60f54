import { requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { holds } from "../../conditions/condition.ts";
import { emit } from "../../events/emit.ts";
import { createEmail, setEmailVerified } from "../../identity/email/emails.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import type { Context } from "../define.ts";
import type { Effects } from "../outcome.ts";
import { addressesOf, mayAddEmail, primaryAddressOf } from "./emails.ts";

/**
 * Effects of verifying an address in a profile flow: an address of the account is marked as verified, any other is
 * added.
 *
 * @param address canonical
 */
export function confirmedAddress(
  { account, request, config }: Pick<Context, "account" | "request" | "config">,
  address: string,
): Effects {
  if (!account) return {};
  const { tenant, now } = request;
  const { id: userId } = account.profile;
  const own = addressesOf(account);
  const verified = audit(request, "email_verified", { email: address }, userId);
  if (own.some((email) => email.address === address)) {
    return {
      writes: [(tx) => setEmailVerified(tx, tenant.id, { userId, address, now }), verified],
    };
  }
  return {
    writes: [
      requireAccount(request, userId, (current) => holds(mayAddEmail, { account: current, config })),
      createEmail(request, userId, { address, isPrimary: own.length === 0, verified: true }),
      audit(request, "email_created", { email: address }, userId),
      emit(request, "user.update.email.create", userId),
      verified,
    ],
    jobs: securityNotice(request, "email_create", primaryAddressOf(account), { address }),
  };
}
