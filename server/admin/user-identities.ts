import { endSignIns } from "../account/access-revocation.ts";
import { removeIdentity } from "../account/linked-identities.ts";
import { readUserObject } from "../objects/user-object.ts";
import type { RequestContext } from "../runtime.ts";
import { changeUser } from "./change-user.ts";
import { type AdminRejection, notFound } from "./rejections.ts";

/** Removes an identity from its user. Its next sign-in is a registration. */
export function removeUserIdentity(
  context: RequestContext,
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
