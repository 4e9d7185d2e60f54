import type { Databases } from "#db/client";
import { endSignIns } from "../account/access-revocation.ts";
import { removeIdentity } from "../account/linked-identities.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { RequestContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { Enqueuing } from "../jobs/jobs.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { MailJob } from "../mail/mail-job.ts";
import { readUserObject } from "../objects/user-object.ts";
import { changeUser } from "./change-user.ts";
import { type AdminRejection, notFound } from "./rejections.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & AuditOutputs & WakesWebhooks & Enqueuing<MailJob>;

/** Removes an identity from its user. Its next sign-in is a registration. */
export function removeUserIdentity(
  context: RequestContext<Process>,
  userId: string,
  id: string,
): Promise<{ ok: true } | AdminRejection> {
  const { tenant } = context;
  return changeUser(context, userId, async ({ tx, record }) => {
    const user = await readUserObject(tx, tenant, userId);
    if (!user?.identities?.some((identity) => identity.id === id)) return notFound;
    await removeIdentity(context, userId, id)(tx);
    await endSignIns(tx, tenant.id, userId);
    await record("thirdparty_unlinked");
    return { ok: true };
  });
}
