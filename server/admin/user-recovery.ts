import { all, any, type Condition, holds } from "../conditions/condition.ts";
import { configured } from "../conditions/leaves.ts";
import type { Config } from "../config/schema.ts";
import { factsById } from "../identity/facts.ts";
import type { Rates } from "../limits/rate-limits.ts";
import { accountLanguage } from "../mail/mail-language.ts";
import { passcode } from "../methods/passcode/index.ts";
import { type AdminContext, changeUser } from "./change-user.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

/** That a user can sign in by a mailed code, or set a new password by one. */
const leadsBack: Condition<{ config: Config }> = any(
  passcode.firstFactor.enabled,
  all(configured("password.enabled"), configured("password.recovery")),
);

/**
 * Mails a user where to sign in again: by a code, or with a new password. The mail carries neither a code nor a link: a code
 * belongs to the browser that asks for it, and a mail that was not expected is not one to press in.
 */
export async function offerRecovery(context: AdminContext<Rates>, userId: string): Promise<AdminVerdict> {
  const { runtime, tenant } = context;
  if (!holds(leadsBack, tenant))
    return rejectAdmin("conflict", "The settings let no user sign in or set a password by mailed codes.");
  const facts = await factsById(runtime.database.read, tenant.id, userId);
  if (!facts) return notFound;
  const { email } = facts;
  if (email === null || !facts.emailVerified)
    return rejectAdmin("conflict", "The user has no verified primary email.");
  if (facts.blocked) return rejectAdmin("conflict", "The user is blocked.");
  if (!(await runtime.rates.consume(tenant.id, "recovery_offer", userId)).ok)
    return rejectAdmin("limited", "The user has got too many such mails. Try again in an hour.");
  return changeUser(context, userId, async ({ user, jobs, record }) => {
    // The address of another moment may be a stranger's now.
    if (user.email !== email || !user.emailVerified || user.blocked)
      return rejectAdmin("conflict", "The user was changed concurrently.");
    await record("recovery_offered");
    jobs.push({
      name: "send_mail",
      tenantId: tenant.id,
      to: email,
      language: accountLanguage(user) ?? "en",
      mail: { type: "recovery_offered" },
    });
    return { ok: true };
  });
}
