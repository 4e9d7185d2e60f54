import { endSignIns } from "../account/access-revocation.ts";
import { removeIdentity } from "../account/linked-identities.ts";
import { type AdminContext, changeUser } from "./change-user.ts";
import { type AdminVerdict, notFound } from "./rejections.ts";

/** Removes an identity from its user. Its next sign-in is a registration. */
export function removeUserIdentity(context: AdminContext, userId: string, id: string): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, record, shown }) => {
    const { identities = [] } = await shown();
    if (!identities.some((identity) => identity.id === id)) return notFound;
    await removeIdentity(context, userId, id)(tx);
    await endSignIns(tx, context.tenant.id, userId);
    await record("thirdparty_unlinked");
    return { ok: true };
  });
}
