import { dropFactorRemains } from "../account/access-revocation.ts";
import { emit } from "../events/emit.ts";
import { parsePhoneNumber } from "../identity/phone/phone-number.ts";
import { removePhone, setPhone } from "../identity/phone/phone-numbers.ts";
import { securityNotice } from "../mail/security-notices.ts";
import { type AdminContext, changeUser } from "./change-user.ts";
import { type AdminVerdict, rejectAdmin } from "./rejections.ts";

/** The phone number of a user, as the administration interface names it. */
export interface UserPhone {
  phone_number: string;
  phone_number_verified: boolean;
}

/** Sets the phone number of a user, in place of a former one, whose sign-ins and trusted browsers end. */
export async function setUserPhone(
  context: AdminContext,
  userId: string,
  given: UserPhone,
): Promise<AdminVerdict<{ phone: UserPhone }>> {
  const parsed = parsePhoneNumber(given.phone_number, context.tenant.config);
  if (!parsed.ok)
    return rejectAdmin("invalid", "`phone_number` must be a mobile number of an allowed country, in E.164.");
  const phone = { phone_number: parsed.value, phone_number_verified: given.phone_number_verified };
  return changeUser(
    context,
    userId,
    async ({ tx, user, jobs, owner, record }) => {
      const { phone: previous } = user;
      const isSame = previous === phone.phone_number;
      if (isSame && user.phoneVerified === phone.phone_number_verified) return { ok: true, phone };
      const { phone_number: number, phone_number_verified: verified } = phone;
      await setPhone(context, userId, { number, verified })(tx);
      if (previous !== null) await dropFactorRemains(tx, context, userId);
      await record("phone_created", {
        phone: number,
        ...(previous === null ? {} : { previous_phone: previous }),
      });
      await emit(context, "user.update.phone.create", userId)(tx);
      if (!isSame) jobs.push(...securityNotice(owner, "phone_create", user.email));
      return { ok: true, phone };
    },
    { phone_numbers_number_unique: rejectAdmin("conflict", "A user of the tenant has this phone number.") },
  );
}

/** Removes the phone number of a user, with the sign-ins and trusted browsers that rely on it. */
export function deleteUserPhone(context: AdminContext, userId: string): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, user, jobs, owner, record }) => {
    if (user.phone === null) return { ok: true };
    await removePhone(context, userId, user.phone)(tx);
    await dropFactorRemains(tx, context, userId);
    await record("phone_deleted", { phone: user.phone });
    await emit(context, "user.update.phone.delete", userId)(tx);
    jobs.push(...securityNotice(owner, "phone_delete", user.email));
    return { ok: true };
  });
}
