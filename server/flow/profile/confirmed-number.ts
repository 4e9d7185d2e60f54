import type { Write } from "#db/write";
import { dropFactorRemains } from "../../account/access-revocation.ts";
import { requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { emit } from "../../events/emit.ts";
import { setPhone, setPhoneVerified } from "../../identity/phone/phone-numbers.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { acceptedFactors } from "../../methods/second-factors.ts";
import type { Context } from "../define.ts";
import type { Effects } from "../outcome.ts";
import { primaryAddressOf } from "./emails.ts";

/**
 * Effects of verifying a number in a profile flow: the number of the account is marked as verified, any other replaces it.
 * A replaced number ends what relies on it: sign-ins in progress, and trusted devices.
 *
 * @param number E.164
 */
export function confirmedNumber(
  { account, request, facts, config }: Pick<Context, "account" | "request" | "facts" | "config">,
  number: string,
): Effects {
  if (!account) return {};
  const { id: userId } = account.profile;
  const verified = { phone: number, phoneVerified: true };
  // Beside another second factor the number is none, and proves nothing of the session.
  const factors = acceptedFactors({ ...facts, ...verified }, config);
  const isEnrolment = !facts.phoneVerified && factors.some(({ name }) => name === "sms");
  const effects = { data: { sms: undefined, ...(isEnrolment ? { enrolled: true } : {}) }, facts: verified };
  const entry = audit(request, "phone_verified", { phone: number }, userId);
  if (facts.phone === number)
    return { ...effects, writes: [setPhoneVerified(request, userId, number), entry] };
  const previous = facts.phone;
  return {
    ...effects,
    writes: [
      requireAccount(request, userId, ({ profile }) => (profile.phone_number ?? null) === previous),
      setPhone(request, userId, { number, verified: true }),
      ...(previous === null ? [] : [(tx: Parameters<Write>[0]) => dropFactorRemains(tx, request, userId)]),
      audit(
        request,
        "phone_created",
        { phone: number, ...(previous === null ? {} : { previous_phone: previous }) },
        userId,
      ),
      emit(request, "user.update.phone.create", userId),
      entry,
    ],
    jobs: securityNotice(request, "phone_create", primaryAddressOf(account)),
  };
}
