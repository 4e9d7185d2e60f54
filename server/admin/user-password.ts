import { endSignIns } from "../account/access-revocation.ts";
import { factsById } from "../identity/facts.ts";
import type { Sealing } from "../keys/vault.ts";
import type { Rates } from "../limits/rate-limits.ts";
import { securityNotice } from "../mail/security-notices.ts";
import type { PasswordHashing } from "../methods/password/password-hasher.ts";
import { checkPasswordBounds } from "../methods/password/password-policy.ts";
import { createPassword, deletePassword, replacePassword } from "../methods/password/passwords.ts";
import type { UserObject } from "../objects/user-object.ts";
import type { Logs } from "../observability/logger.ts";
import { revokeDevices } from "../sessions/trusted-devices.ts";
import { type AdminContext, type ChangedUser, changeUser } from "./change-user.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

type PasswordContext = AdminContext<Logs & Sealing & PasswordHashing & Rates>;

type Password = NonNullable<UserObject["password"]>;

const hasPassword = rejectAdmin("conflict", "The user has a password.");

/**
 * Sets the password of a user, by no rule but the bounds of its length: operators carry passwords over.
 *
 * @param kind `first`: of a user without a password; `replacement`: of one with a password
 * @throws HashQueueFullError if too many passwords are waiting to be hashed
 */
export async function setUserPassword(
  context: PasswordContext,
  userId: string,
  { password, kind }: { password: string; kind: "first" | "replacement" },
): Promise<AdminVerdict<{ password: Password }>> {
  const { runtime, tenant, signal } = context;
  const checked = checkPasswordBounds(password, tenant.config);
  if (!checked.ok) return rejectAdmin("invalid", checked.message);
  const rejectionFor = (user: { hasPassword: boolean }) => {
    if (kind === "first") return user.hasPassword ? hasPassword : null;
    return user.hasPassword ? null : notFound;
  };
  // A hash is costly, and nothing is locked while it is made.
  const user = await factsById(runtime.database.read, tenant.id, userId);
  const rejection = user ? rejectionFor(user) : notFound;
  if (rejection) return rejection;
  const hash = await runtime.passwordHasher.hash(password, signal);
  const writePassword = kind === "first" ? createPassword : replacePassword;
  return changeUser(context, userId, async (changed) => {
    const { tx, record } = changed;
    const overtaken = rejectionFor(changed.user);
    if (overtaken) return overtaken;
    await writePassword(context, userId, hash)(tx);
    await record("password_changed");
    await revokeProofs(context, changed);
    changed.jobs.push(...securityNotice(changed.owner, "password_update", changed.user.email));
    const shown = await changed.shown();
    return shown.password ? { ok: true, password: shown.password } : notFound;
  });
}

/** Removes the password of a user. */
export function removeUserPassword(context: PasswordContext, userId: string): Promise<AdminVerdict> {
  return changeUser(context, userId, async (changed) => {
    const { tx, user, jobs, owner, record } = changed;
    if (!user.hasPassword) return notFound;
    await deletePassword(context, userId)(tx);
    await record("password_deleted");
    await revokeProofs(context, changed);
    jobs.push(...securityNotice(owner, "password_delete", user.email));
    return { ok: true };
  });
}

/** Ends what the old password has begun: unfinished sign-ins, and the trust of browsers. */
async function revokeProofs({ tenant }: PasswordContext, { tx, user }: ChangedUser): Promise<void> {
  await endSignIns(tx, tenant.id, user.userId);
  await revokeDevices(tx, tenant.id, user.userId);
}
