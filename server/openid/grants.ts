import type { Grant, KoaContextWithOIDC } from "oidc-provider";

/**
 * The grant of a client for the session: that of an earlier request, extended by what this one asks for, since the operator has
 * consented for its own clients. Each session has its own, so that a refresh token which was stolen from one device ends
 * nothing on the others.
 *
 * @returns undefined if no account is signed in
 */
export async function grantOfSession(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { provider, session, client, requestParamOIDCScopes, requestParamClaims, resourceServers } = ctx.oidc;
  const accountId = session?.accountId;
  if (!accountId || !client) return undefined;
  const known = session.grantIdFor(client.clientId);
  const found = known ? await provider.Grant.find(known) : undefined;
  const grant =
    found?.accountId === accountId ? found : new provider.Grant({ clientId: client.clientId, accountId });
  const before = JSON.stringify([grant.openid, grant.resources]);
  grant.addOIDCScope([...requestParamOIDCScopes].join(" "));
  grant.addOIDCClaims([...requestParamClaims]);
  for (const [indicator, { scope }] of Object.entries(resourceServers ?? {}))
    grant.addResourceScope(indicator, scope ?? "");
  const isUnchanged = grant === found && JSON.stringify([grant.openid, grant.resources]) === before;
  if (!isUnchanged) await grant.save();
  return grant;
}
