import { dropFactorRemains, endSignIns } from "../account/access-revocation.ts";
import { securityNotice } from "../mail/security-notices.ts";
import { deleteCredential, renameCredential } from "../methods/webauthn-credentials.ts";
import type { UserObject } from "../objects/user-object.ts";
import { type AdminContext, type ChangedUser, changeUser } from "./change-user.ts";
import { type AdminVerdict, notFound } from "./rejections.ts";

type Credential = NonNullable<UserObject["webauthn_credentials"]>[number];

/** Renames a passkey or a security key of a user. */
export function renameUserCredential(
  context: AdminContext,
  userId: string,
  credential: { id: string; name: string },
): Promise<AdminVerdict<{ credential: Credential }>> {
  return changeUser(context, userId, async (changed) => {
    const { tx, record } = changed;
    if (!(await credentialOf(changed, credential.id))) return notFound;
    await renameCredential(context, userId, credential)(tx);
    await record("passkey_renamed");
    const renamed = await credentialOf(changed, credential.id);
    return renamed ? { ok: true, credential: renamed } : notFound;
  });
}

/** Removes a passkey or a security key of a user. */
export function removeUserCredential(
  context: AdminContext,
  userId: string,
  id: string,
): Promise<AdminVerdict> {
  return changeUser(context, userId, async (changed) => {
    const { tx, user, jobs, owner, record } = changed;
    const credential = await credentialOf(changed, id);
    if (!credential) return notFound;
    const { mfa_only: mfaOnly } = credential;
    await deleteCredential(context, userId, { id, mfaOnly })(tx);
    if (mfaOnly) {
      await record("security_key_deleted");
      await dropFactorRemains(tx, context, userId);
      jobs.push(...securityNotice(owner, "mfa_delete", user.email, { factor: "security_key" }));
    } else {
      await record("passkey_deleted");
      await endSignIns(tx, context.tenant.id, userId);
      jobs.push(...securityNotice(owner, "passkey_delete", user.email));
    }
    return { ok: true };
  });
}

async function credentialOf({ shown }: ChangedUser, id: string): Promise<Credential | undefined> {
  const { webauthn_credentials: credentials = [] } = await shown();
  return credentials.find((credential) => credential.id === id);
}
