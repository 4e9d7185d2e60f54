import type { Databases } from "#db/client";
import { dropFactorRemains, endSignIns } from "../account/access-revocation.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { RequestContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { securityNotice } from "../mail/security-notices.ts";
import { deleteCredential, renameCredential } from "../methods/webauthn-credentials.ts";
import { readUserObject, type UserObject } from "../objects/user-object.ts";
import { type ChangedUser, changeUser } from "./change-user.ts";
import { type AdminRejection, notFound } from "./rejections.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & AuditOutputs & WakesWebhooks & Enqueuing<MailJob>;

type Credential = NonNullable<UserObject["webauthn_credentials"]>[number];

/** Renames a passkey or a security key of a user. */
export function renameUserCredential(
  context: RequestContext<Process>,
  userId: string,
  credential: { id: string; name: string },
): Promise<{ ok: true; credential: Credential } | AdminRejection> {
  return changeUser(context, userId, async (changed) => {
    const { tx, record } = changed;
    if (!(await credentialOf(context, changed, credential.id))) return notFound;
    await renameCredential(context, userId, credential)(tx);
    await record("passkey_renamed");
    const renamed = await credentialOf(context, changed, credential.id);
    return renamed ? { ok: true, credential: renamed } : notFound;
  });
}

/** Removes a passkey or a security key of a user. */
export function removeUserCredential(
  context: RequestContext<Process>,
  userId: string,
  id: string,
): Promise<{ ok: true } | AdminRejection> {
  return changeUser(context, userId, async (changed) => {
    const { tx, user, jobs, owner, record } = changed;
    const credential = await credentialOf(context, changed, id);
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

async function credentialOf(
  { tenant }: RequestContext<Process>,
  { tx, user }: ChangedUser,
  id: string,
): Promise<Credential | undefined> {
  const found = await readUserObject(tx, tenant, user.userId);
  return found?.webauthn_credentials?.find((credential) => credential.id === id);
}
