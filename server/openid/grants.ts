import { errors, type Grant, type KoaContextWithOIDC } from "oidc-provider";
import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { ACTOR_CLAIM, isOfSession } from "./asked-permissions.ts";
import { type Consent, findConsent, findSettledConsent } from "./consents.ts";
import { claimsOf } from "./scopes-of-users.ts";
import { scopesOfClient } from "./unlisted-clients.ts";
import type { Permissions } from "./waiting-authorization.ts";

/**
 * The grant of a client for the session: that of an earlier request, extended by what this one asks for and is allowed. The
 * operator has consented for its own clients; for the others their users do. Each session has its own, so that a refresh
 * token which was stolen from one device ends nothing on the others.
 *
 * @returns undefined if no account is signed in
 */
export async function grantOfSession(
  context: TenantContext<Databases & OnPlatform>,
  ctx: KoaContextWithOIDC,
): Promise<Grant | undefined> {
  const { provider, session, client, requestParamOIDCScopes, requestParamClaims, resourceServers } = ctx.oidc;
  const accountId = session?.accountId;
  if (!accountId || !client) return undefined;
  const known = session.grantIdFor(client.clientId);
  const isOfOperator = isOwn(context, client.clientId);
  const found = known ? await provider.Grant.find(known) : undefined;
  const consent = isOfOperator ? null : await consentOf(context, ctx);
  const allowed = isOfOperator ? null : (consent?.allowed ?? nothing);
  const isOfUser = found?.accountId === accountId && (!allowed || isWithin(found, allowed));
  const grant = isOfUser ? found : new provider.Grant({ clientId: client.clientId, accountId });
  const mayHave = (name: string, names: readonly string[] | undefined) => !allowed || names?.includes(name);
  const before = JSON.stringify(stored(grant));
  const scopes = [...requestParamOIDCScopes].filter((name) => mayHave(name, allowed?.scopes));
  if (scopes.length > 0) grant.addOIDCScope(scopes.join(" "));
  if (scopes.includes("offline_access")) outliveSession(grant);
  if (consent?.endsAt) endBy(grant, consent.endsAt);
  const claims = grantableClaims(context, client.clientId, requestParamClaims);
  grant.addOIDCClaims(claims.filter((name) => name === ACTOR_CLAIM || mayHave(name, allowed?.claims)));
  // Neither the operator nor the user can grant these. What an earlier request was refused may be granted by now.
  delete grant.rejected;
  const refused = [...requestParamClaims].filter((name) => !claims.includes(name) && !isOfSession(name));
  // Of the operator's own clients no one is asked: what is added for them by templates stays theirs, also where they name it.
  if (refused.length > 0 && !isOfOperator) grant.rejectOIDCClaims(refused);
  for (const [indicator, { scope = "" }] of Object.entries(resourceServers ?? {})) {
    const ofResource = scope.split(" ").filter((name) => mayHave(name, allowed?.resources[indicator]));
    if (!allowed || Object.hasOwn(allowed.resources, indicator))
      grant.addResourceScope(indicator, ofResource.join(" "));
  }
  const isUnchanged = JSON.stringify(stored(grant)) === before;
  // One of which nothing is allowed is not stored: its user is asked first.
  if ((isUnchanged && grant === found) || (allowed && !consent)) return grant;
  await grant.save();
  // The user may have ended the access meanwhile.
  const isEnded =
    consent !== null && (await findSettledConsent(context, accountId, client.clientId)) === null;
  if (!isEnded) return grant;
  await grant.destroy();
  throw new errors.AccessDenied("the user has ended the access of the client");
}

/** Whether a grant holds no more than the user has allowed: the client may have been the operator's own before. */
function isWithin({ openid, resources }: Grant, allowed: Permissions): boolean {
  const isAmong = (names: readonly string[], all: readonly string[] = []) =>
    names.every((name) => name === "" || all.includes(name));
  const claims = openid?.claims?.filter((name) => name !== ACTOR_CLAIM) ?? [];
  return (
    isAmong((openid?.scope ?? "").split(" "), allowed.scopes) &&
    isAmong(claims, allowed.claims) &&
    Object.entries(resources ?? {}).every(([api, scope]) => isAmong(scope.split(" "), allowed.resources[api]))
  );
}

const stored = ({ openid, resources, rejected, exp }: Grant) => [openid, resources, rejected, exp];

/** Nothing that a grant with `offline_access` has issued is renewed after a year. */
export const MAX_GRANT_SECONDS = 365 * 86_400;

/** A grant of the session has ended with it so far. */
function outliveSession(grant: Grant): void {
  const end = Math.floor(Date.now() / 1000) + MAX_GRANT_SECONDS;
  const endsWithSession = grant.exp !== undefined && end - grant.exp > MAX_GRANT_SECONDS / 2;
  if (endsWithSession) grant.exp = end;
}

/** What is granted ends with the consent. */
function endBy(grant: Grant, date: Date): void {
  const end = Math.floor(date.getTime() / 1000);
  if (grant.exp === undefined || grant.exp > end) grant.exp = end;
}

/** Of the claims that a request names, those of the scopes that its client may have, and those about the session or who acts in it. */
function grantableClaims(
  { tenant }: Pick<TenantContext<unknown>, "tenant">,
  clientId: string,
  requested: Iterable<string>,
): string[] {
  const may = claimsOf(tenant.config, scopesOfClient(tenant.config, clientId));
  return [...requested].filter((name) => may.has(name) || isOfSession(name) || name === ACTOR_CLAIM);
}

/** Whether a client is the operator's own, who has consented for the users. */
export function isOwn({ tenant }: Pick<TenantContext<unknown>, "tenant">, clientId: string): boolean {
  const { clients } = tenant.config.openid;
  return Object.hasOwn(clients, clientId) && clients[clientId]?.first_party === true;
}

const nothing: Permissions = { scopes: [], claims: [], resources: {} };

/** By request of the library: it is asked for by several of its checks. */
const consents = new WeakMap<KoaContextWithOIDC, Promise<Consent | null>>();

/** What the user of a request has allowed its client; null: nothing. */
export function consentOf(
  context: TenantContext<Databases & OnPlatform>,
  ctx: KoaContextWithOIDC,
): Promise<Consent | null> {
  const { session, client } = ctx.oidc;
  if (!session?.accountId || !client) return Promise.resolve(null);
  const known = consents.get(ctx);
  if (known) return known;
  const found = findConsent(context, session.accountId, client.clientId);
  consents.set(ctx, found);
  return found;
}
