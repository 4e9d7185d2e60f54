import { endSignIns } from "../account/access-revocation.ts";
import type { Config } from "../config/schema.ts";
import { emit } from "../events/emit.ts";
import { parseEmailAddress } from "../identity/email/email-address.ts";
import { createEmail, removeEmail, setEmailVerified, setPrimaryEmail } from "../identity/email/emails.ts";
import { securityNotice } from "../mail/security-notices.ts";
import type { UserObject } from "../objects/user-object.ts";
import { type AdminContext, type ChangedUser, changeUser } from "./change-user.ts";
import { type AdminRejection, type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

type Email = NonNullable<UserObject["emails"]>[number];

/** Rejects what is no address. */
export function invalidAddress({ email }: Config): AdminRejection {
  return rejectAdmin(
    "invalid",
    `An address must be an email address of at most ${email.max_length} characters.`,
  );
}

/**
 * Adds an email to a user. The first one becomes the primary one.
 *
 * @param email `address` as the operator wrote it
 */
export async function addUserEmail(
  context: AdminContext,
  userId: string,
  email: { address: string; verified: boolean },
): Promise<AdminVerdict<{ email: Email }>> {
  const { config } = context.tenant;
  const address = parseEmailAddress(email.address, config.email.max_length);
  if (!address) return invalidAddress(config);
  return changeUser(
    context,
    userId,
    async ({ tx, user, jobs, owner, record, shown }) => {
      const { emails = [] } = await shown();
      if (emails.length >= config.email.limit) {
        return rejectAdmin("conflict", `A user has at most ${config.email.limit} emails.`);
      }
      const isPrimary = !emails.some(({ is_primary }) => is_primary);
      await createEmail(context, userId, { address, isPrimary, verified: email.verified })(tx);
      await record("email_created");
      if (email.verified) await record("email_verified");
      await emit(context, "user.update.email.create", userId)(tx);
      jobs.push(...securityNotice(owner, "email_create", user.email, { address }));
      const changed = await shown();
      const added = changed.emails?.find((one) => one.address === address);
      return added ? { ok: true, email: added } : notFound;
    },
    { emails_address_unique: rejectAdmin("invalid", "A user of the tenant has this email.") },
  );
}

/** Removes an email that is not the primary one. */
export function removeUserEmail(
  context: AdminContext,
  userId: string,
  emailId: string,
): Promise<AdminVerdict> {
  return changeEmail(context, { userId, emailId }, async ({ tx, user, jobs, owner, record }, removed) => {
    if (removed.is_primary) {
      return rejectAdmin("conflict", "The primary email cannot be removed. Make another one primary first.");
    }
    await removeEmail(context, userId, emailId)(tx);
    await endSignIns(tx, context.tenant.id, userId);
    await record("email_deleted");
    await emit(context, "user.update.email.delete", userId)(tx);
    jobs.push(...securityNotice(owner, "email_delete", user.email, { address: removed.address }));
    return { ok: true };
  });
}

/** Makes an email the primary one; changes nothing if it is. */
export function setPrimaryUserEmail(
  context: AdminContext,
  userId: string,
  emailId: string,
): Promise<AdminVerdict> {
  return changeEmail(context, { userId, emailId }, async ({ tx, user, jobs, owner, record }, chosen) => {
    if (chosen.is_primary) return { ok: true };
    const { address } = chosen;
    await setPrimaryEmail(context, userId, emailId)(tx);
    await record("primary_email_changed");
    await emit(context, "user.update.email.primary", userId)(tx);
    const details = { address, ...(user.email ? { previous: user.email } : {}) };
    for (const to of [user.email, address])
      jobs.push(...securityNotice(owner, "primary_email_update", to, details));
    return { ok: true };
  });
}

/** Marks an email as verified, as if its owner had entered a code that was sent to it; changes nothing if it is. */
export function verifyUserEmail(
  context: AdminContext,
  userId: string,
  emailId: string,
): Promise<AdminVerdict> {
  return changeEmail(context, { userId, emailId }, async ({ tx, record }, { address, is_verified }) => {
    if (is_verified) return { ok: true };
    await setEmailVerified(tx, context.tenant.id, { userId, address, now: context.now });
    await record("email_verified", { email: address });
    return { ok: true };
  });
}

/** Changes an email that the user has; not found otherwise. */
const changeEmail = (
  context: AdminContext,
  { userId, emailId }: { userId: string; emailId: string },
  change: (changing: ChangedUser, email: Email) => Promise<AdminVerdict>,
): Promise<AdminVerdict> =>
  changeUser(context, userId, async (changing) => {
    const { emails = [] } = await changing.shown();
    const email = emails.find(({ id }) => id === emailId);
    return email ? change(changing, email) : notFound;
  });
